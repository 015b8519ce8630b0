// SPDX-License-Identifier: LGPL-2.1-or-later
/// Canonical labels of the components that begin in a tile.
///
/// A label is the number of components that begin before: in strips above, in rows above of this strip, in
/// the same row of tiles to the left, and in the same row of the tile. All but the last were counted before;
/// that one is made here, from a bit per run.
#pragma once

#include "device/runs.h"
#include "device/runs_sums.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kRowsPerWord = 4;  // of row counts
inline constexpr uint32_t kMaxCountWords = kMaxRows / kRowsPerWord;

/// What a thread knows of its block's tile.
struct TilePlace {
  uint32_t index, x0, y0;
  TileHead head;
  const TileRun* runs;
};

__device__ inline TilePlace place_of_block(const Tiles& tiles) {
  const uint32_t index = blockIdx.y * tiles.columns + blockIdx.x;
  return {index, blockIdx.x * kTileWidth, blockIdx.y * tiles.rows, tiles.head[index],
          tiles.run + size_t{index} * tiles.max_runs};
}

/// What a block knows of its tile. Components are measured a window of them at a time; most tiles have no
/// more than one window.
template <uint32_t kWords>
struct MeasuredTile {
  static constexpr uint32_t kWindow = kWords == TileSums::kBasicWords ? 1024 : 512;

  uint32_t sums[kWindow][kWords];  ///< per component of the window
  uint32_t ink[kMaxRuns];          ///< per component; of shared ones the slot
  // Row counts of the strip, two rows to a word: [0] even and [1] odd ones of each word of four.
  uint32_t in_strip[2][kMaxCountWords];
  uint32_t to_the_left[2][kMaxCountWords];
  uint32_t in_tile[2][kMaxCountWords];
  uint32_t strip_base;          ///< components that begin in the strips above
  uint32_t row_base[kMaxRows];  ///< a label is row_base + the tile's components up to this one
  uint32_t is_first[kMaxRunWords];
  uint16_t first_base[kMaxRunWords];  ///< bits before the word
  uint16_t first_run[kMaxRuns];       ///< the runs of these bits
  uint32_t n_first_runs;
  uint32_t is_shared[kMaxRunWords];  ///< a bit per component

  __device__ bool is_component_shared(uint32_t component) const {
    return (is_shared[component / kWordBits] >> component % kWordBits & 1) != 0;
  }
  __device__ bool is_first_run(uint32_t run) const {
    return (is_first[run / kWordBits] >> run % kWordBits & 1) != 0;
  }
  /// The canonical label of the component whose first run this is.
  __device__ uint32_t label_of(uint32_t run, uint32_t row) const {
    const uint32_t word = run / kWordBits;
    return row_base[row] + first_base[word] + __popc(is_first[word] & bits_up_to(run % kWordBits));
  }
};

/// A warp to each word of row counts: adds up those of the strip's tiles. A word's four bytes become two
/// words of two halves, which hold the sum over any row of tiles.
template <uint32_t kWords>
__device__ void add_row_counts(const Tiles& tiles, MeasuredTile<kWords>& tile) {
  constexpr uint32_t kHalves = 0x00ff00ff;
  const uint32_t n_words = tiles.rows / kRowsPerWord;
  const uint32_t word = threadIdx.x / kWarpSize;
  const uint32_t lane = threadIdx.x % kWarpSize;
  if (word >= kMaxCountWords) {
    return;
  }
  const auto* counts = reinterpret_cast<const uint32_t*>(tiles.row_counts);
  for (uint32_t odd = 0; odd < 2; ++odd) {
    uint32_t total = 0;
    uint32_t left = 0;
    uint32_t own = 0;
    for (uint32_t column = lane; column < tiles.columns && word < n_words; column += kWarpSize) {
      const uint32_t rows = counts[(blockIdx.y * tiles.columns + column) * n_words + word];
      const uint32_t halves = rows >> (8 * odd) & kHalves;
      total += halves;
      left += column < blockIdx.x ? halves : 0;
      own += column == blockIdx.x ? halves : 0;
    }
    total = warp_sum(kAllLanes, total);
    left = warp_sum(kAllLanes, left);
    own = warp_sum(kAllLanes, own);
    if (lane == 0) {
      tile.in_strip[odd][word] = total;
      tile.to_the_left[odd][word] = left;
      tile.in_tile[odd][word] = own;
    }
  }
}

__device__ inline uint32_t count_of_row(const uint32_t (&counts)[2][kMaxCountWords], uint32_t row) {
  return counts[row % 2][row / kRowsPerWord] >> (row / 2 % 2 * 16) & 0xffff;
}

/// One warp: the components that begin in strips above, and in the frame.
template <uint32_t kWords>
__device__ void add_strip_counts(const Tiles& tiles, const Emitter& emitter, MeasuredTile<kWords>& tile) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  uint32_t above = 0;
  uint32_t all = 0;
  for (uint32_t strip = lane; strip < tiles.strips; strip += kWarpSize) {
    const uint32_t n = tiles.strip_counts[strip];
    above += strip < blockIdx.y ? n : 0;
    all += n;
  }
  above = warp_sum(kAllLanes, above);
  all = warp_sum(kAllLanes, all);
  if (lane != 0) {
    return;
  }
  tile.strip_base = above;
  if (blockIdx.x == 0 && blockIdx.y == 0 && emitter.emission != Emission::kNone) {
    emitter.counts->n_labels = all;
    if (emitter.emission == Emission::kByLabel) {
      emitter.counts->n_components = all;
    }
  }
}

/// One warp, two rows to a lane: what a row's labels begin with. The tile's own components are left out,
/// because its runs are counted from the tile's first one on.
template <uint32_t kWords>
__device__ void number_rows(MeasuredTile<kWords>& tile) {
  const uint32_t row = 2 * threadIdx.x;
  uint32_t others[2];
  for (uint32_t i = 0; i < 2; ++i) {
    others[i] = count_of_row(tile.in_strip, row + i) - count_of_row(tile.in_tile, row + i);
  }
  const uint32_t above = tile.strip_base + warp_exclusive_sum(others[0] + others[1]);
  tile.row_base[row] = above + count_of_row(tile.to_the_left, row);
  tile.row_base[row + 1] = above + others[0] + count_of_row(tile.to_the_left, row + 1);
}

/// One warp: the runs that begin a component of the frame, and the sums of them before each word.
template <uint32_t kWords>
__device__ void rank_first_runs(const Tiles& tiles, const TilePlace& place, MeasuredTile<kWords>& tile) {
  constexpr uint32_t kShare = kMaxRunWords / kWarpSize;
  const uint32_t first = threadIdx.x % kWarpSize * kShare;
  uint32_t bits[kShare];
  uint32_t n = 0;
  for (uint32_t i = 0; i < kShare; ++i) {
    const bool has_runs = (first + i) * kWordBits < place.head.n_runs;
    bits[i] = has_runs ? tiles.is_first[tiles.run_words(place.index) + first + i] : 0;
    n += __popc(bits[i]);
  }
  uint32_t base = warp_exclusive_sum(n);
  for (uint32_t i = 0; i < kShare; ++i) {
    tile.is_first[first + i] = bits[i];
    tile.first_base[first + i] = static_cast<uint16_t>(base);
    base += __popc(bits[i]);
  }
  if (threadIdx.x % kWarpSize == kWarpSize - 1) {
    tile.n_first_runs = base;
  }
}

/// Lists them, by the block's `n_threads`.
template <uint32_t kWords>
__device__ void list_first_runs(uint32_t n_threads, MeasuredTile<kWords>& tile) {
  for (uint32_t word = threadIdx.x; word < kMaxRunWords; word += n_threads) {
    uint32_t i = tile.first_base[word];
    for (uint32_t rest = tile.is_first[word]; rest != 0; rest &= rest - 1) {
      tile.first_run[i++] = static_cast<uint16_t>(word * kWordBits + __ffs(static_cast<int>(rest)) - 1);
    }
  }
}

}  // namespace ccl::device::runs
