// SPDX-License-Identifier: LGPL-2.1-or-later
/// The property `regions`: JSON text or a file of it, see docs/regions.md.
#pragma once

#include <memory>
#include <string>

#include "ccl/regions.h"

namespace cudaccl {

/// A value of the property, immutable.
struct RegionSetting {
  std::string text;  ///< as it was set: the JSON text, or the path of a file
  ccl::Regions regions;

  /// False if the whole frame counts.
  bool has_polygons() const { return !regions.include.empty() || !regions.exclude.empty(); }
};

/// Parses JSON text, which begins with a brace, or the file with this path. Null if it cannot be used, and
/// *reason then says why, with the line where that is known.
std::shared_ptr<const RegionSetting> read_regions(const std::string& text, std::string* reason);

}  // namespace cudaccl
