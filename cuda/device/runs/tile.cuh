// SPDX-License-Identifier: LGPL-2.1-or-later
/// A tile in the shared memory of its block, and where it lies in the frame.
#pragma once

#include <cstddef>

#include "device/runs/tiles.h"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// Where a tile lies.
struct Place {
  uint32_t index;          ///< in raster order
  uint32_t column, strip;  ///< in tiles
  uint32_t x, y;           ///< its first pixel
};

__device__ inline Place place_of(const Tiles& tiles, uint32_t index) {
  const uint32_t strip = index / tiles.columns;
  const uint32_t column = index - strip * tiles.columns;
  return {index, column, strip, column * tiles.tile_width, strip * tiles.rows};
}

/// Calls visit(row, column, node) for the pixels of the tile along borders that it shares with other tiles;
/// `node` is where the pixel's node is stored. A thread visits the same pixels in each call, at most
/// kMostBorderPixels, in the same order.
template <typename Tile, typename Visit>
__device__ void for_each_border_pixel(const Tiles& tiles, const Place& place, Visit visit) {
  const size_t along_strip = size_t{place.strip} * tiles.columns * Tile::kWidth + place.x;
  const size_t along_column = size_t{place.column} * tiles.strips * tiles.rows + place.y;
  for (uint32_t i = threadIdx.x; i < 2 * (Tile::kWidth + tiles.rows); i += blockDim.x) {
    if (i < Tile::kWidth) {
      if (place.strip > 0) {
        visit(0, i, tiles.top + along_strip + i);
      }
    } else if (const uint32_t x = i - Tile::kWidth; x < Tile::kWidth) {
      if (place.strip + 1 < tiles.strips) {
        visit(tiles.rows - 1, x, tiles.bottom + along_strip + x);
      }
    } else if (const uint32_t row = x - Tile::kWidth; row < tiles.rows) {
      if (place.column > 0) {
        visit(row, 0, tiles.left + along_column + row);
      }
    } else if (place.column + 1 < tiles.columns) {
      visit(row - tiles.rows, Tile::kWidth - 1, tiles.right + along_column + row - tiles.rows);
    }
  }
}

template <typename Tile>
inline constexpr uint32_t kMostBorderPixels = (2 * (Tile::kWidth + kMaxRows) + threads_for(Tile::kWidth) -
                                               1) /
                                              threads_for(Tile::kWidth);

/// The root of the component of each border pixel that a thread visits; kNoRoot for background.
template <typename Tile>
using BorderRoots = uint32_t[kMostBorderPixels<Tile>];
inline constexpr uint32_t kNoRoot = 0xffff;

/// A run and the root of its component, as one word.
struct TileRun {
  uint32_t word;

  static constexpr uint32_t kBeginBits = 15;
  static_assert(kWide * kMaxRows == 1u << kBeginBits);

  /// `row` is the row of the run's first pixel, `first` its first column.
  static constexpr TileRun make(uint32_t row, uint32_t first, uint32_t root) {
    return {root << kBeginBits | row * kWide | first};
  }
  constexpr uint32_t root() const { return word >> kBeginBits; }
  constexpr uint32_t row() const { return word % (1u << kBeginBits) / kWide; }
  constexpr uint32_t first() const { return word % kWide; }
};

/// The first node that a thread handles, from number_tile() on. One thread does everything with a node: it
/// publishes the label, sets the paint value and writes the record, so that no barrier is needed between
/// these. The last threads take the first nodes, because the first threads take the tile's other components.
__device__ inline uint32_t first_node_of_thread() {
  return blockDim.x - 1 - threadIdx.x;
}

/// Counts of rows, two 16-bit counts in a word: [0] even rows and [1] odd rows of each group of four.
using RowCounts = uint32_t[2][kMaxRows / 4];

template <RunKind kKindOf, uint32_t kWidthOf>
struct alignas(16) TileOf {
  static constexpr RunKind kKind = kKindOf;
  static constexpr uint32_t kWidth = kWidthOf;
  static constexpr uint32_t kBandRows = band_rows(kKind);
  static constexpr bool kHasTops = kKind == RunKind::kPair;
  static constexpr uint32_t kRowWords = kWidth / kWordBits;
  static constexpr uint32_t kRowChunks = kWidth / kChunk;
  static constexpr uint32_t kMaxWords = kMaxRows * kRowWords;
  static constexpr uint32_t kMaxBandWords = kMaxWords / kBandRows;
  static constexpr uint32_t kMaxRuns = kWidth * kMaxRows / 2;
  static constexpr uint32_t kMaxRunWords = kMaxRuns / kWordBits;
  static constexpr uint32_t kAfterRunsWords = kMaxRuns / 2;
  /// The pixels around a tile can all differ in value, or every other one be foreground.
  static constexpr uint32_t kMaxNodes = 2 * (kWidth + kMaxValueRows);
  static_assert(kWidth + kMaxRows <= kMaxNodes);

  /// Written once the components of the tile are found.
  struct Tables {
    uint16_t node_base[kMaxRunWords];   ///< per word of runs: nodes whose roots come before it
    uint16_t node_run[kMaxNodes];       ///< per node: its component's root
    uint32_t node_root[kMaxNodes];      ///< per node: the root node of its tree, or an ancestor on the way
    uint32_t is_first[kMaxRunWords];    ///< a bit per run that begins one of the frame's components
    uint16_t first_base[kMaxRunWords];  ///< per word of is_first: set bits before it
    RowCounts in_strip, to_the_left, in_tile;
    uint32_t strip_base;          ///< components that begin in the strips above
    uint32_t n_labels;            ///< in the frame; in its first tile only
    uint32_t row_base[kMaxRows];  ///< a label is row_base + the tile's components up to this one
  };

  /// The foreground above the tile and beside it.
  struct Halo {
    uint32_t above[kRowWords];
    uint32_t left[kMaxRows / kWordBits + 1];  ///< a bit per row, beginning with the row above the tile
    uint32_t right[kMaxRows / kWordBits + 1];
  };

  uint32_t n_runs;
  uint32_t n_links;  ///< between runs of neighbouring rows, except the first link of each run
  uint32_t n_components;
  uint32_t n_nodes;
  Halo halo;  ///< if a feature needs it

  uint32_t bits[kMaxWords];        ///< a bit per foreground pixel, the first one lowest
  uint32_t starts[kMaxBandWords];  ///< per band: the columns that begin a run
  uint16_t base[kMaxBandWords];    ///< per band word: the id of the first run that begins in it; of a pair,
                                   ///< of runs with a pixel in the upper row
  uint32_t tops[kHasTops ? kMaxBandWords : 1];        ///< the columns of runs with a pixel in the upper row
  uint16_t lower_base[kHasTops ? kMaxBandWords : 1];  ///< as base, of runs without such a pixel
  uint32_t is_root[kMaxRunWords];                     ///< a bit per run
  uint16_t root_base[kMaxRunWords];                   ///< roots before the word
  uint32_t is_shared[kMaxRunWords];                   ///< a bit per root of a component that has a node
  uint32_t warp_sums[kWarpSize];
  /// At first the parents of runs. Once records are written, the roots of components without a node become
  /// paint values, then the other roots, and then all runs.
  alignas(16) TileRun run[kMaxRuns];
  union {
    uint32_t after_runs[kAfterRunsWords];  ///< at first the list of further links, behind the last run
    struct {  ///< then tables, and before them room for sums, behind the last run
      uint32_t room[kAfterRunsWords - sizeof(Tables) / sizeof(uint32_t)];
      Tables tables;
    };
  };

  __device__ uint32_t* parent() { return &run[0].word; }

  /// The run that has this column of a band.
  __device__ uint32_t run_at(uint32_t band, uint32_t column) const {
    const uint32_t word = band * kRowWords + column / kWordBits;
    const uint32_t up_to = starts[word] & bits_up_to(column % kWordBits);
    if constexpr (kHasTops) {
      const bool is_top = (tops[word] >> column % kWordBits & 1) != 0;
      return is_top ? base[word] + __popc(up_to & tops[word]) - 1
                    : lower_base[word] + __popc(up_to & ~tops[word]) - 1;
    }
    return base[word] + __popc(up_to) - 1;
  }
  /// The root of the component that a foreground pixel belongs to, while runs know theirs.
  __device__ uint32_t root_at(uint32_t row, uint32_t column) const {
    return run[run_at(row / kBandRows, column)].root();
  }
  /// The first run whose first pixel lies in this row of the tile or a later one.
  __device__ uint32_t first_run(uint32_t row) const {
    const uint32_t word = row / kBandRows * kRowWords;
    return kHasTops && row % 2 != 0 ? lower_base[word] : base[word];
  }
  /// The columns of a band's word that have foreground.
  __device__ uint32_t columns_of(uint32_t band, uint32_t word) const {
    const uint32_t first = bits[band * kBandRows * kRowWords + word];
    return kHasTops ? first | bits[(band * kBandRows + 1) * kRowWords + word] : first;
  }
  __device__ bool is_foreground(uint32_t row, uint32_t column) const {
    return (bits[row * kRowWords + column / kWordBits] >> column % kWordBits & 1) != 0;
  }
  /// The bits of a word of the tile, or of the halo if the row or the word lies one outside the tile; −1
  /// wraps around.
  __device__ uint32_t word_around(uint32_t row, uint32_t word) const {
    const uint32_t side = row + 1;
    if (word > kRowWords) {
      return halo.left[side / kWordBits] >> side % kWordBits << (kWordBits - 1);
    }
    if (word == kRowWords) {
      return halo.right[side / kWordBits] >> side % kWordBits & 1;
    }
    return side == 0 ? halo.above[word] : bits[row * kRowWords + word];
  }
  /// Whether a foreground pixel continues the run of the pixel before it.
  __device__ bool joins_before(uint32_t row, uint32_t column) const {
    if constexpr (kKind == RunKind::kValue) {
      return (starts[row * kRowWords + column / kWordBits] >> column % kWordBits & 1) == 0;
    }
    return column > 0 && is_foreground(row, column - 1);
  }
  /// The columns that do not continue the run of the column before.
  __device__ uint32_t stops_in(uint32_t band, uint32_t word) const {
    const uint32_t stops = ~columns_of(band, word);
    return kKind == RunKind::kValue ? stops | starts[band * kRowWords + word] : stops;
  }
  /// The column of a run's first pixel.
  __device__ uint32_t first_pixel_column(TileRun of) const {
    if constexpr (kHasTops) {
      uint32_t word = of.first() / kWordBits;
      uint32_t pixels = bits[of.row() * kRowWords + word] & ~bits_below(of.first() % kWordBits);
      while (pixels == 0) {
        ++word;
        pixels = bits[of.row() * kRowWords + word];
      }
      return word * kWordBits + __ffs(static_cast<int>(pixels)) - 1;
    }
    return of.first();
  }
  __device__ bool is_root_run(uint32_t i) const { return (is_root[i / kWordBits] >> i % kWordBits & 1) != 0; }
  __device__ bool is_root_shared(uint32_t root) const {
    return (is_shared[root / kWordBits] >> root % kWordBits & 1) != 0;
  }
  /// The root of a run, also after roots became paint values.
  __device__ uint32_t root_of(uint32_t i) const { return is_root_run(i) ? i : run[i].root(); }
  /// Components whose roots come before `i`.
  __device__ uint32_t components_before(uint32_t i) const {
    const uint32_t word = i / kWordBits;
    return i < n_runs ? root_base[word] + __popc(is_root[word] & bits_below(i % kWordBits)) : n_components;
  }
  __device__ uint32_t node_of_root(uint32_t root) const {
    const uint32_t word = root / kWordBits;
    return tables.node_base[word] + __popc(is_shared[word] & bits_below(root % kWordBits));
  }
};

static_assert(sizeof(TileOf<RunKind::kRow, kWide>) <= 113 * 1024, "a multiprocessor of 228 KiB holds two");

}  // namespace ccl::device::runs
