// SPDX-License-Identifier: LGPL-2.1-or-later
/// From start bits to run numbers.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ccl::host {

/// For eight pixels, a byte each, the first pixel's lowest: how many runs start after the first pixel and
/// no later than this one. Indexed by the start bits of the last seven pixels. The first pixel is apart, so
/// that even eight starts need no more than the eight lanes that a permutation chooses from.
inline constexpr std::array<uint64_t, 128> kRanksOfEight = [] {
  std::array<uint64_t, 128> table{};
  for (uint32_t starts = 0; starts < table.size(); ++starts) {
    for (uint32_t i = 0; i < 8; ++i) {
      const uint32_t until = starts & ((1u << i) - 1);
      table[starts] |= static_cast<uint64_t>(std::popcount(until)) << (8 * i);
    }
  }
  return table;
}();

}  // namespace ccl::host
