// SPDX-License-Identifier: LGPL-2.1-or-later
/// Look-up tables for eight bits.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace ccl::host {

/// One byte for each of eight pixels, the first pixel in the lowest byte: how many runs start after the first
/// pixel and not after this one. Indexed by the start bits of the last seven pixels. The first pixel's start
/// is not counted, so that even eight starts need only the eight lanes of a permutation.
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

/// The sum of the places of the bits that are set.
inline constexpr std::array<uint8_t, 256> kPlacesOfEight = [] {
  std::array<uint8_t, 256> table{};
  for (uint32_t bits = 0; bits < table.size(); ++bits) {
    for (uint32_t i = 0; i < 8; ++i) {
      table[bits] = static_cast<uint8_t>(table[bits] + (bits >> i & 1) * i);
    }
  }
  return table;
}();

}  // namespace ccl::host
