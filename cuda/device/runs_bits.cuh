// SPDX-License-Identifier: LGPL-2.1-or-later
/// The foreground bits that publish_tile() leaves, by frame coordinates.
#pragma once

#include "device/runs.h"

namespace ccl::device::runs {

/// 32 bits of row y from column kWordBits × `word` on; none outside the frame. −1, wrapping around, is far
/// outside.
__device__ inline uint32_t frame_word(const Tiles& tiles, uint32_t word, uint32_t y) {
  if (word >= tiles.columns * kRowWords || y >= tiles.strips * tiles.rows) {
    return 0;
  }
  const uint32_t tile = tiles.tile_at(word * kWordBits, y);
  return tiles.bits[(tile * tiles.rows + tiles.row_in_tile(y)) * kRowWords + word % kRowWords];
}

__device__ inline bool frame_bit(const Tiles& tiles, uint32_t x, uint32_t y) {
  return (frame_word(tiles, x / kWordBits, y) >> x % kWordBits & 1) != 0;
}

}  // namespace ccl::device::runs
