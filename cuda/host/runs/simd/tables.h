// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is looked up for eight bits.
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

/// The places of the bits that are set, added up.
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
