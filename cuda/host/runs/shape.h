// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a run and its links add to a component's perimeter and Euler number, packed into one number.
#pragma once

#include <cstdint>

namespace ccl::host {

/// Upper half: the number of runs in the row above that a run is linked with. Lower half: how many of its
/// pixels lie below a pixel of such a run. Rows are too short for either number to reach 2¹⁶.
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
