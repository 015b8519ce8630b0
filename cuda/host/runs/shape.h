// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a run and its links add to a component's perimeter and Euler number, in one number per run.
#pragma once

#include <cstdint>

namespace ccl::host {

/// How many runs of the row above are linked with a run, in the upper half, and how many of its pixels lie
/// below a pixel of such a run, in the lower half. No row is long enough for either to reach 2¹⁶.
constexpr uint32_t shape_of_link(uint32_t overlap) {
  return 1u << 16 | overlap;
}

constexpr uint32_t links_of_shape(uint32_t shape) {
  return shape >> 16;
}

constexpr uint32_t overlap_of_shape(uint32_t shape) {
  return shape & 0xffff;
}

}  // namespace ccl::host
