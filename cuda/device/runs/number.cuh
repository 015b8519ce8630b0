// SPDX-License-Identifier: LGPL-2.1-or-later
/// Canonical labels of the components that begin in a tile.
///
/// A label is 1 + the number of components that begin before: in strips above, in rows above of this strip,
/// in the same row of tiles to the left, and in the same row of the tile. All but the last were counted
/// before; that one is made here, from a bit per run.
#pragma once

#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kRowsPerWord = 4;  // of row counts

/// Makes ready what is counted in and marked off later.
template <typename Tile>
__device__ void prepare_numbers(Tile& tile) {
  auto& tables = tile.tables;
  for (uint32_t i = threadIdx.x; i < 2 * kMaxRows / kRowsPerWord; i += blockDim.x) {
    tables.in_strip[0][i] = 0;
    tables.to_the_left[0][i] = 0;
  }
  for (uint32_t word = threadIdx.x; word < Tile::kMaxRunWords; word += blockDim.x) {
    tables.is_first[word] = tile.is_root[word];
  }
  if (threadIdx.x == 0) {
    tables.strip_base = 0;
    tables.n_labels = 0;
  }
}

/// Adds up the row counts of the strip's tiles, a thread the same word of some of them. A word's four bytes
/// become two words of two halves, which hold the sum over any row of tiles. This is thread `thread` of
/// `n_threads`, a multiple of a tile's words.
template <typename Tables>
__device__ void add_row_counts(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                               Tables& tables) {
  constexpr uint32_t kHalves = 0x00ff00ff;
  const uint32_t n_words = tiles.rows / kRowsPerWord;
  const uint32_t word = thread % n_words;
  const auto* counts = reinterpret_cast<const uint32_t*>(tiles.row_counts);
  uint32_t total[2] = {0, 0};
  uint32_t left[2] = {0, 0};
#pragma unroll 2
  for (uint32_t column = thread / n_words; column < tiles.columns; column += n_threads / n_words) {
    const uint32_t rows = counts[(place.strip * tiles.columns + column) * n_words + word];
    for (uint32_t odd = 0; odd < 2; ++odd) {
      const uint32_t halves = rows >> (8 * odd) & kHalves;
      total[odd] += halves;
      left[odd] += column < place.column ? halves : 0;
      if (column == place.column) {
        tables.in_tile[odd][word] = halves;
      }
    }
  }
  for (uint32_t odd = 0; odd < 2; ++odd) {
    atomicAdd(&tables.in_strip[odd][word], total[odd]);
    atomicAdd(&tables.to_the_left[odd][word], left[odd]);
  }
}

__device__ inline uint32_t count_of_row(const RowCounts& counts, uint32_t row) {
  return counts[row % 2][row / kRowsPerWord] >> (row / 2 % 2 * 16) & 0xffff;
}

/// Adds up the components that begin in `n_tiles` tiles. This is thread `thread` of `n_threads`, which are
/// whole warps.
__device__ inline void add_tile_counts(const Tiles& tiles, uint32_t n_tiles, uint32_t thread,
                                       uint32_t n_threads, uint32_t* sum) {
  uint32_t n = 0;
#pragma unroll 2
  for (uint32_t tile = thread; tile < n_tiles; tile += n_threads) {
    n += tiles.tile_counts[tile];
  }
  n = warp_sum(kAllLanes, n);
  if (n != 0 && threadIdx.x % kWarpSize == 0) {
    atomicAdd(sum, n);
  }
}

/// How many components the frame has.
__device__ inline void tell_counts(const Emitter& emitter, uint32_t n_labels) {
  if (threadIdx.x == 0 && emitter.emission != Emission::kNone) {
    emitter.counts->n_labels = n_labels;
    if (emitter.emission == Emission::kByLabel) {
      emitter.counts->n_components = n_labels;
    }
  }
}

/// One warp, some rows to a lane: what a row's labels begin with. The tile's own components are left out,
/// because its runs are counted from the tile's first one on.
template <typename Tables>
__device__ void number_rows(uint32_t n_rows, Tables& tables) {
  constexpr uint32_t kShare = kMaxRows / kWarpSize;
  const uint32_t first = threadIdx.x % kWarpSize * kShare;
  uint32_t others[kShare];
  uint32_t n = 0;
  for (uint32_t i = 0; i < kShare; ++i) {
    const bool has_row = first + i < n_rows;
    others[i] =
        has_row ? count_of_row(tables.in_strip, first + i) - count_of_row(tables.in_tile, first + i) : 0;
    n += others[i];
  }
  uint32_t above = tables.strip_base + warp_exclusive_sum(n);
  for (uint32_t i = 0; i < kShare && first + i < n_rows; ++i) {
    tables.row_base[first + i] = above + count_of_row(tables.to_the_left, first + i);
    above += others[i];
  }
}

/// One warp: the sums, before each word, of runs that begin a component of the frame.
template <typename Tile>
__device__ void rank_first_runs(Tile& tile) {
  static_assert(Tile::kMaxRunWords % kWarpSize == 0);
  auto& tables = tile.tables;
  uint32_t base = 0;
  for (uint32_t first = 0; first * kWordBits < tile.n_runs; first += kWarpSize) {
    const uint32_t word = first + threadIdx.x % kWarpSize;
    const uint32_t n = __popc(tables.is_first[word]);
    tables.first_base[word] = static_cast<uint16_t>(base + warp_exclusive_sum(n));
    base += warp_sum(kAllLanes, n);
  }
}

/// The canonical label of the component whose first run this is.
template <typename Tables>
__device__ uint32_t label_of(const Tables& tables, uint32_t run, uint32_t row) {
  const uint32_t word = run / kWordBits;
  return tables.row_base[row] + tables.first_base[word] +
         __popc(tables.is_first[word] & bits_up_to(run % kWordBits));
}

}  // namespace ccl::device::runs
