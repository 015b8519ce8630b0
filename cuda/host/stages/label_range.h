// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace ccl::host {

/// Entries first..end − 1 of arrays that know components, whose canonical labels follow each other from
/// `label` on.
struct LabelRange {
  uint32_t first;
  uint32_t end;
  uint32_t label;
};

}  // namespace ccl::host
