// SPDX-License-Identifier: LGPL-2.1-or-later
/// The property `regions`: JSON text or a file of it, see docs/regions.md.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "ccl/regions.h"

namespace cudaccl {

/// A value of the property, immutable.
struct RegionSetting {
  std::string text;  ///< as it was set: the JSON text, or the path of a file
  ccl::Regions regions;
  std::string doubt;  ///< what was probably not meant; empty if there is nothing
};

/// Reads the text: see ccl::read_regions(). Null if it cannot be used, and *reason then says why.
std::shared_ptr<const RegionSetting> read_regions(const std::string& text, std::string* reason);

/// The first polygon or line of which nothing is in a frame of this size, such as "zones[0]"; empty if there
/// is none.
std::string outside_of_frame(const ccl::Regions& regions, uint32_t width, uint32_t height);

}  // namespace cudaccl
