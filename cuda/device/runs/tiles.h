// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the steps of the run-based pipeline share: how a frame is cut into tiles, and what tiles leave
/// in device memory for each other. pipeline.cu tells the whole.
///
/// A tile is Tiles::tile_width pixels wide and Tiles::rows high. Its *runs*, stretches of one segment in a
/// row of the tile or in two (see RunKind), have ids in raster order of their first pixels. A component of
/// the tile goes by its first run, its *root*. Components that touch a border shared with another tile get
/// *slots*, in the order of their roots: only these take part in what happens between tiles.
#pragma once

#include <cstddef>
#include <cstdint>

#include "device/labelers/labeler.h"
#include "device/pipeline.h"

namespace ccl::device::runs {

/// What a run is.
enum class RunKind : uint8_t {
  kRow,    ///< a stretch of foreground in a row
  kPair,   ///< a stretch of columns with foreground in either of two rows, which 8-connectivity joins
  kValue,  ///< a stretch of one value in a row
};

/// The rows that have their runs in common, a *band*.
constexpr uint32_t band_rows(RunKind kind) {
  return kind == RunKind::kPair ? 2 : 1;
}

/// Tiles have one of two widths: the wider the fewer, but the narrow ones of a small frame keep more of the
/// GPU busy.
inline constexpr uint32_t kNarrow = 128;
inline constexpr uint32_t kWide = 256;
inline constexpr uint32_t kWordBits = 32;
inline constexpr uint32_t kMinRows = 32;  ///< so that warps are on one border each
inline constexpr uint32_t kMaxRows = 128;
/// Binary runs have gaps: at most every other pixel begins one. Runs of values have none, and tiles half the
/// height.
inline constexpr uint32_t kMaxValueRows = kMaxRows / 2;
inline constexpr uint32_t kChunk = 16;  ///< pixels a thread packs, in one load
inline constexpr uint16_t kNoSlot = 0xffff;
inline constexpr uint32_t kMaxSumWords = 10;  ///< of a component; see TileSums

/// The threads of a block. With twice as many to a multiprocessor each would have too few registers.
constexpr uint32_t threads_for(uint32_t tile_width) {
  return tile_width == kWide ? 512 : 384;
}

/// The parent of a slot in the forest that joins tiles: the raster index of its component's first pixel in
/// the upper half, so that the smallest parent is the earliest component, and its slot in the lower.
using Parent = unsigned long long;

constexpr Parent make_parent(uint32_t first_pixel, uint32_t slot) {
  return static_cast<Parent>(first_pixel) << 32 | slot;
}
constexpr uint32_t slot_of(Parent parent) {
  return static_cast<uint32_t>(parent);
}
constexpr uint32_t first_pixel_of(Parent parent) {
  return static_cast<uint32_t>(parent >> 32);
}

/// A frame's tiles, and the device memory through which they know of each other. Arrays are dense; a tile's
/// part of an array of max_slots, say, begins at tile × max_slots.
struct Tiles {
  SegmentSource frame;
  uint32_t tile_width;    ///< kNarrow or kWide
  uint32_t columns;       ///< of tiles
  uint32_t strips;        ///< rows of tiles
  uint32_t rows;          ///< pixel rows of a tile: a power of two from kMinRows to kMaxRows
  uint32_t max_runs;      ///< of a tile
  uint32_t max_slots;     ///< of a tile
  bool is_aligned;        ///< the frame's rows start where 16-byte loads may
  bool has_whole_chunks;  ///< rows end where a chunk does

  uint16_t* top;     ///< per strip and frame column: slot, within its tile, of the pixel in the first row,
                     ///< or kNoSlot
  uint16_t* bottom;  ///< of the last row
  uint16_t* left;    ///< per tile column and frame row: of the first column
  uint16_t* right;   ///< of the last column

  Parent* parent;        ///< per slot, max_slots to a tile
  uint64_t* slot_sums;   ///< per word of TileSums and slot: in the frame's coordinates, complete for roots
                         ///< once measured
  uint32_t* slot_label;  ///< per slot: of roots once known; 0 before

  uint8_t* row_counts;    ///< per tile `rows`: the frame's components that begin in each row
  uint32_t* tile_counts;  ///< per tile: those in all its rows

  uint32_t* arrivals;  ///< one, of blocks at barriers; see GridBarrier

  uint4* parked;  ///< per tile parked_pieces: what its block knows of it, while at another; else null
  uint32_t parked_pieces;

  constexpr uint32_t count() const { return columns * strips; }
  /// A word of a slot's sums. Words lie far apart, because a component may have a slot in every tile, and the
  /// memory adds to neighbouring words one after the other.
  constexpr uint64_t* slot_sum(uint32_t word, uint32_t slot) const {
    return slot_sums + size_t{word} * count() * max_slots + slot;
  }
  constexpr uint32_t row_in_tile(uint32_t y) const { return y & (rows - 1); }
};

/// What a run's ink tells of its component.
enum class Ink : uint8_t {
  kNone,
  kColor,     ///< the palette's colour, in the output's layout
  kOverlay,   ///< the same, to be laid over the input
  kLabel,     ///< the canonical label, saturated at kMaxPaintedLabel
  kMask,      ///< 255
  kLabelMap,  ///< the canonical label, filtered out or not
  kRootMap,   ///< 1 + the raster index of its first pixel, filtered out or not
};

/// Makes inks.
struct Inker {
  Ink ink;
  Settings settings;
  PixelLayout layout;
  uint32_t n_pixels;
  const uint32_t* palettes;  ///< palette_colors()
  uint32_t background;       ///< of pixels where no component is left
  bool needs_areas;          ///< inks tell more than labels
};

/// What becomes of a component's sums.
enum class Emission : uint8_t {
  kNone,
  kByLabel,   ///< record label − 1 of the table, if the table has it
  kAppended,  ///< if it is left after filtering: the next record of the table, and its bit in `is_left`
  kAreas,     ///< no record: its area
  kSelected,  ///< the record that index_or_area[label − 1] tells, if any
};

/// Emits records.
struct Emitter {
  Emission emission;
  Settings settings;
  uint32_t max_components;
  CclComponent* records;
  FrameCounts* counts;
  uint32_t max_labels;      ///< that a frame may have
  uint32_t* is_left;        ///< a bit per label
  uint32_t* index_or_area;  ///< per label
};

/// The most blocks that the GPU holds at once, so that they may wait for one another: 0 where a tile of this
/// width does not fit its shared memory.
Status find_residence(bool has_values, uint32_t tile_width, uint32_t* n_blocks);

/// The bytes that park a tile of this kind.
size_t parked_bytes(bool has_values, uint32_t tile_width, uint32_t max_runs);

/// Enqueues all steps of a frame (kernel.cu). `pixels` may be null where the ink is kNone. `n_blocks`
/// is at most what find_residence() tells.
Status process_tiles(const Tiles& tiles, uint32_t n_blocks, const Emitter& emitter, const Inker& inker,
                     uint8_t* pixels, cudaStream_t stream);

}  // namespace ccl::device::runs
