// SPDX-License-Identifier: LGPL-2.1-or-later
/// Pairs of a component of the frame before and one of this frame, with the number of pixels that they have
/// in common: a hash table with linear probing, and a list of its cells in use.
#pragma once

#include <bit>
#include <cstdint>

namespace ccl::device {

/// A pair as one number, never 0: both are record indices plus 1.
using PairKey = unsigned long long;

struct PairCell {
  PairKey pair;  ///< 0: free
  uint32_t pixels;
  uint32_t padding;
};

/// In device memory. All cells are free between frames.
struct PairTable {
  PairCell* cells;
  uint32_t log2_capacity;
  uint32_t max_pairs;  ///< that a frame may have
  uint32_t* used;      ///< indices of cells, max_pairs
  uint32_t* n_pairs;   ///< pairs of the frame; more than max_pairs if it has too many, whose pixels are lost

  /// Half of the cells stay free.
  static constexpr uint32_t log2_capacity_for(uint32_t max_pairs) {
    return static_cast<uint32_t>(std::bit_width(2 * uint64_t{max_pairs} - 1));
  }
};

}  // namespace ccl::device
