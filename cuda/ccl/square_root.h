// SPDX-License-Identifier: LGPL-2.1-or-later
/// The exact square root of integers, the same on both backends.
#pragma once

#include <cmath>
#include <cstdint>
#include <type_traits>

namespace ccl {

/// ⌊√v⌋ for v < 2⁴⁶. The root as a float is less than 1 off, whichever way it was rounded, so that one step
/// up or down makes it exact.
constexpr uint32_t square_root(uint64_t v) {
  uint32_t root = 0;
  if (std::is_constant_evaluated()) {
    for (uint32_t bit = 1u << 23; bit != 0; bit >>= 1) {
      root |= uint64_t{root | bit} * (root | bit) <= v ? bit : 0;
    }
  } else {
    root = static_cast<uint32_t>(std::sqrt(static_cast<float>(v)));
    root -= uint64_t{root} * root > v ? 1 : 0;
    root += uint64_t{root + 1} * (root + 1) <= v ? 1 : 0;
  }
  return root;
}

}  // namespace ccl
