// SPDX-License-Identifier: LGPL-2.1-or-later
/// Packs pixels to bits; a thread packs kChunk pixels. Or loads the words of a bit image.
#pragma once

#include "ccl/segment.h"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// One bit for each of eight bytes, which are 0 or 255; the first byte's bit is the lowest.
__device__ inline uint32_t gather_bytes(uint32_t low, uint32_t high) {
  constexpr uint32_t kOnes = 0x01010101;
  return __dp4a(high & kOnes, 0x80402010u, __dp4a(low & kOnes, 0x08040201u, 0u));
}

/// One bit for each byte that is the same in both.
__device__ inline uint32_t equal_bytes(const uint4& a, const uint4& b) {
  return gather_bytes(__vcmpeq4(a.x, b.x), __vcmpeq4(a.y, b.y)) |
         gather_bytes(__vcmpeq4(a.z, b.z), __vcmpeq4(a.w, b.w)) << 8;
}

/// The bytes shifted by one to later places; `before` becomes the first byte.
__device__ inline uint4 shift_up(const uint4& v, uint32_t before) {
  return make_uint4(v.x << 8 | before, __funnelshift_l(v.x, v.y, 8), __funnelshift_l(v.y, v.z, 8),
                    __funnelshift_l(v.z, v.w, 8));
}

/// The bytes shifted by one to earlier places; `after` becomes the last byte.
__device__ inline uint4 shift_down(const uint4& v, uint32_t after) {
  return make_uint4(__funnelshift_r(v.x, v.y, 8), __funnelshift_r(v.y, v.z, 8), __funnelshift_r(v.z, v.w, 8),
                    v.w >> 8 | after << 24);
}

/// kChunk pixels from (x, y) on; 0 outside the frame.
__device__ inline uint4 load_pixels(const Tiles& tiles, uint32_t x, uint32_t y) {
  const SegmentSource& frame = tiles.frame;
  uint4 pixels = make_uint4(0, 0, 0, 0);
  if (y >= frame.height || x >= frame.width) {
    return pixels;
  }
  const uint8_t* from = frame.pixels + y * frame.pitch + x;
  if (tiles.is_aligned && (tiles.has_whole_chunks || x + kChunk <= frame.width)) {
    return __ldg(reinterpret_cast<const uint4*>(from));
  }
  auto* bytes = reinterpret_cast<uint8_t*>(&pixels);
  for (uint32_t i = 0; i < min(kChunk, frame.width - x); ++i) {
    bytes[i] = from[i];
  }
  return pixels;
}

/// A word of the frame's bit image; 0 outside the frame. A word or row of −1 wraps around to outside.
__device__ inline uint32_t load_word(const Tiles& tiles, const uint32_t* frame_bits, uint32_t word,
                                     uint32_t y) {
  const uint32_t row_words = bit_row_words(tiles.frame.width);
  return y < tiles.frame.height && word < row_words ? __ldg(frame_bits + size_t{y} * row_words + word) : 0;
}

/// A chunk's foreground, and the pixels that continue the run of the pixel before them (not for runs of
/// pairs).
struct Chunk {
  uint32_t bits;
  uint32_t joins;
};

/// The chunk that begins at (x, y). All lanes of the warp must call it; neighbouring lanes have neighbouring
/// chunks of a row.
template <typename Tile>
__device__ Chunk pack_chunk(const Tiles& tiles, uint32_t x, uint32_t y) {
  const uint4 v = load_pixels(tiles, x, y);
  const bool is_row_start = x % Tile::kWidth == 0;
  Chunk chunk{};
  if constexpr (Tile::kKind == RunKind::kValue) {
    const uint32_t before = __shfl_up_sync(kAllLanes, v.w, 1) >> 24;
    chunk.bits = bits_up_to(kChunk - 1) & ~equal_bytes(v, make_uint4(0, 0, 0, 0));
    const uint32_t equal = equal_bytes(v, shift_up(v, before));
    chunk.joins = chunk.bits & (is_row_start ? equal & ~1u : equal);
  } else {
    const ForegroundRule& rule = tiles.frame.rule;
    const uint32_t threshold = rule.threshold * 0x01010101u;
    chunk.bits = gather_bytes(__vcmpgeu4(v.x, threshold), __vcmpgeu4(v.y, threshold)) |
                 gather_bytes(__vcmpgeu4(v.z, threshold), __vcmpgeu4(v.w, threshold)) << 8;
    const uint32_t width = y < tiles.frame.height && x < tiles.frame.width ? tiles.frame.width - x : 0;
    chunk.bits = (rule.invert ? ~chunk.bits : chunk.bits) & bits_below(min(width, kChunk));
    if constexpr (Tile::kKind == RunKind::kRow) {
      const uint32_t before = __shfl_up_sync(kAllLanes, chunk.bits, 1) >> (kChunk - 1);
      chunk.joins = chunk.bits & (chunk.bits << 1 | (is_row_start ? 0 : before));
    }
  }
  return chunk;
}

/// Loads the pixels around the tile from the bit image. Whole warps must call it.
template <typename Tile>
__device__ void load_halo(const Tiles& tiles, const uint32_t* frame_bits, const Place& place, Tile& tile) {
  auto& halo = tile.halo;
  const uint32_t first_word = place.x / kWordBits;
  const uint32_t n_side = tiles.rows + kWordBits;  // the row above and the tile's, in whole words
  for (uint32_t i = threadIdx.x; i < kWarpSize + 2 * n_side; i += blockDim.x) {
    if (i < kWarpSize) {
      if (i < Tile::kRowWords) {
        halo.above[i] = load_word(tiles, frame_bits, first_word + i, place.y - 1);
      }
      continue;
    }
    const bool is_right = i >= kWarpSize + n_side;
    const uint32_t row = i - kWarpSize - (is_right ? n_side : 0);
    const uint32_t word = load_word(
        tiles, frame_bits, is_right ? first_word + Tile::kRowWords : first_word - 1, place.y + row - 1);
    const uint32_t bits = __ballot_sync(kAllLanes, (word >> (is_right ? 0 : kWordBits - 1) & 1) != 0);
    if (i % kWordBits == 0) {
      (is_right ? halo.right : halo.left)[row / kWordBits] = bits;
    }
  }
}

/// Packs the pixels around the tile. Whole warps must call it.
template <typename Tile>
__device__ void pack_halo(const Tiles& tiles, const Place& place, Tile& tile) {
  auto& halo = tile.halo;
  const uint32_t n_side = tiles.rows + kWordBits;  // the row above and the tile's, in whole words
  for (uint32_t i = threadIdx.x; i < Tile::kWidth + 2 * n_side; i += blockDim.x) {
    uint32_t x = place.x + i;
    uint32_t y = place.y - 1;
    uint32_t* word = halo.above + i / kWordBits;
    if (i >= Tile::kWidth) {
      const bool is_right = i >= Tile::kWidth + n_side;
      const uint32_t row = i - Tile::kWidth - (is_right ? n_side : 0);
      x = is_right ? place.x + Tile::kWidth : place.x - 1;
      y = place.y + row - 1;
      word = (is_right ? halo.right : halo.left) + row / kWordBits;
    }
    const uint32_t bits = __ballot_sync(kAllLanes, tiles.frame.segment_or_background(x, y) != 0);
    if (i % kWordBits == 0) {
      *word = bits;
    }
  }
}

}  // namespace ccl::device::runs
