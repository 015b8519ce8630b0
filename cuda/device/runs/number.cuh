// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 5: canonical labels of the components that begin in a tile.
///
/// A label is 1 + the number of components that begin before it: in the strips above, in the rows above of
/// this strip, in the same row of the tiles to the left, and in the same row of this tile. The first three
/// follow from published counts; the last one is counted here, from a bit per run.
#pragma once

#include "device/runs/emission.h"
#include "device/runs/forest.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kRowsPerWord = 4;  // of row counts

/// Initializes the counters, and the bits from which find_node_roots() removes nodes that are not root nodes.
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

/// Adds up the row counts of the strip's tiles; a thread adds the same word of some of the tiles. The four
/// bytes of a word become two words of two 16-bit sums, which the sum over any row of tiles fits. This is
/// thread `thread` of `n_threads`, a multiple of the words of a tile.
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

/// Writes how many components the frame has.
__device__ inline void write_counts(const Emitter& emitter, uint32_t n_labels) {
  if (threadIdx.x == 0 && counts_labels(emitter.emission)) {
    emitter.counts->n_labels = n_labels;
    if (counts_all_as_kept(emitter.emission)) {
      emitter.counts->n_components = n_labels;
    }
  }
}

/// One warp, some rows to a lane: how many components come before each row. Those of the tile itself are not
/// counted, because rank_first_runs() counts from the first run of the tile on.
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

/// One warp: how many runs before each word begin a component of the frame.
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

/// An empty tile numbers nothing; but the first tile counts the components of the frame.
template <typename Tile>
__device__ bool has_nothing_to_count(const Place& place, const Tile& tile) {
  return tile.n_runs == 0 && place.index != 0;
}

/// Numbers the components that begin in the tile and, if `publishes_labels`, publishes the labels of its root
/// nodes to the other blocks.
template <typename Tile>
__device__ void number_tile(const Tiles& tiles, const Emitter& emitter, const Place& place,
                            bool publishes_labels, Tile& tile) {
  if (has_nothing_to_count(place, tile)) {
    return;
  }
  auto& tables = tile.tables;
  if (threadIdx.x < kWarpSize) {
    number_rows(tiles.rows, tables);
  } else if (threadIdx.x < 2 * kWarpSize) {
    rank_first_runs(tile);
  }
  if (place.index == 0) {
    write_counts(emitter, tables.n_labels);
  }
  __syncthreads();
  if (!publishes_labels) {
    return;
  }
  for (uint32_t i = first_node_of_thread(); i < tile.n_nodes; i += blockDim.x) {
    const uint32_t node = place.index * tiles.max_nodes + i;
    if (tables.node_root[i] == node) {
      const uint32_t run = tables.node_run[i];
      publish_label(tiles.node_label + node, label_of(tables, run, tile.run[run].row()));
    }
  }
}

}  // namespace ccl::device::runs
