// SPDX-License-Identifier: LGPL-2.1-or-later
/// How a frame is divided into tiles, and what tiles leave in device memory for each other.
///
/// A tile is Tiles::tile_width pixels wide and Tiles::rows high. Its *runs*, stretches of one segment in a
/// row of the tile or in two rows (see RunKind), have ids in raster order of their first pixels. The *root*
/// of a component of the tile is its first run. A component that touches a border shared with another tile
/// has a *node*; nodes are numbered in the order of their roots, and only they take part in merging tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/runs/policy.h"
#include "device/segment_source.h"

namespace ccl::device::runs {

enum class RunKind : uint8_t {
  kRow,    ///< a stretch of foreground in a row
  kPair,   ///< a stretch of columns with foreground in either of two rows, which 8-connectivity joins
  kValue,  ///< a stretch of one value in a row
};

/// The rows that share their runs are a *band*.
constexpr uint32_t band_rows(RunKind kind) {
  return kind == RunKind::kPair ? 2 : 1;
}

inline constexpr uint16_t kNoNode = 0xffff;
inline constexpr uint32_t kMaxSumWords = 10;  ///< of a component; see TileSums

/// The parent of a node in the forest that joins tiles. The upper half is the raster index of the first pixel
/// of the parent's component, so that the smallest parent is the earliest component; the lower half is the
/// parent's node.
using Parent = unsigned long long;

constexpr Parent make_parent(uint32_t first_pixel, uint32_t node) {
  return static_cast<Parent>(first_pixel) << 32 | node;
}
constexpr uint32_t node_of(Parent parent) {
  return static_cast<uint32_t>(parent);
}
constexpr uint32_t first_pixel_of(Parent parent) {
  return static_cast<uint32_t>(parent >> 32);
}

/// A frame's tiles, and the device memory that they share. Arrays are dense: a tile's part of an array of
/// max_nodes, for example, begins at tile × max_nodes.
struct Tiles {
  SegmentSource frame;
  uint32_t tile_width;    ///< kNarrow or kWide
  uint32_t columns;       ///< of tiles
  uint32_t strips;        ///< rows of tiles
  uint32_t rows;          ///< pixel rows of a tile: a power of two from kMinRows to kMaxRows
  uint32_t max_runs;      ///< of a tile
  uint32_t max_nodes;     ///< of a tile
  bool is_aligned;        ///< the frame's rows start where 16-byte loads may
  bool has_whole_chunks;  ///< rows end where a chunk does

  uint16_t* top;     ///< per strip and frame column: node, within its tile, of the pixel in the first row,
                     ///< or kNoNode
  uint16_t* bottom;  ///< of the last row
  uint16_t* left;    ///< per tile column and frame row: of the first column
  uint16_t* right;   ///< of the last column

  Parent* parent;        ///< per node, max_nodes to a tile
  uint64_t* node_sums;   ///< per word of TileSums and node, in the frame's coordinates; those of root nodes
                         ///< are complete once measured
  uint32_t* node_label;  ///< per node: the label of root nodes once it is known, 0 before

  uint8_t* row_counts;    ///< per tile `rows`: the frame's components that begin in each row
  uint32_t* tile_counts;  ///< per tile: the sum over its rows

  uint32_t* arrivals;  ///< one: the blocks that arrived at a barrier; see GridBarrier

  uint4* parked;  ///< per tile parked_vectors: its state while its block processes another tile; else null
  uint32_t parked_vectors;

  constexpr uint32_t count() const { return columns * strips; }
  /// A word of a node's sums. The words of a node lie far apart, because a component may have a node in every
  /// tile, and the memory performs atomics on neighbouring words one after the other.
  constexpr uint64_t* node_sum(uint32_t word, uint32_t node) const {
    return node_sums + size_t{word} * count() * max_nodes + node;
  }
  constexpr uint32_t row_in_tile(uint32_t y) const { return y & (rows - 1); }
};

}  // namespace ccl::device::runs
