// SPDX-License-Identifier: LGPL-2.1-or-later
/// Last step of the run-based pipeline: records and inks of components, and the pixels.
///
/// A pixel's run is its word's first one plus the run starts up to it, and the run's ink is the pixel.
#pragma once

#include "ccl/colors.h"
#include "device/runs/emit.cuh"
#include "device/runs/forest.cuh"
#include "device/runs/grid_barrier.cuh"
#include "device/runs/measure.cuh"
#include "device/runs/number.cuh"
#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kStoreBytes = 16;

/// How a block goes on once tiles are merged.
struct Course {
  GridBarrier barrier;
  bool has_one;       ///< tile, which stays in shared memory
  bool paints_first;  ///< pixels do not wait for sums
  bool keeps_runs;    ///< of its one tile: nothing is painted, so they do not turn into inks
  uint32_t turn;      ///< of the barrier behind which all sums are complete

  /// For the calling thread alone.
  __device__ void wait_for_sums() const { barrier.wait_alone(turn); }
};

/// Records of the components that lie in the tile as a whole, as far as the window has them; their roots turn
/// into inks, unless runs are kept. Or records of shared components, each where it begins, as soon as their
/// sums are complete. One and the same instructions for both, because they are many.
template <typename Tile, uint32_t kWords>
__device__ void emit_components(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                const Place& place, const Course& course, const SumsWindow<kWords>& window,
                                bool are_shared, Tile& tile) {
  const uint32_t n = are_shared ? tile.n_slots : window.end - window.begin;
  for (uint32_t i = are_shared ? first_slot_of_thread() : threadIdx.x; i < n; i += blockDim.x) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    const uint32_t root = are_shared ? tile.tables.slot_run[i] : window.components[i].root;
    if (are_shared ? tile.tables.slot_root[i] != slot : tile.is_root_shared(root)) {
      continue;
    }
    uint32_t label = 0;
    uint32_t x = 0;
    uint32_t y = 0;
    if (course.keeps_runs || !are_shared) {
      const TileRun run = tile.run[root];
      label = label_of(tile.tables, root, run.row());
      x = place.x + tile.first_pixel_column(run);
      y = place.y + run.row();
    } else {
      label = tiles.slot_label[slot];
      const uint32_t first_pixel = first_pixel_of(tiles.parent[slot]);
      y = first_pixel / tiles.frame.width;
      x = first_pixel - y * tiles.frame.width;
    }
    FrameSums<kWords> sums;
    if (are_shared) {
      course.wait_for_sums();
      for (uint32_t word = 0; word < kWords; ++word) {
        sums[word] = *tiles.slot_sum(word, slot);
      }
    } else {
      to_frame(place, window.components[i].words, sums);
    }
    const auto area = static_cast<uint32_t>(sums[TileSums::kArea]);
    emit<kWords == TileSums::kAllWords>(
        emitter, tiles.frame, label, area, [&] { return as_sums(sums, y); },
        [&] { return segment_of<Tile::kKind>(tiles.frame, x, y); });
    if (!are_shared && !course.keeps_runs) {
      tile.run[root].word = ink_of(inker, label, area, y * tiles.frame.width + x);
    }
  }
}

/// Turns the roots of shared components into inks, as soon as the blocks where they begin have told their
/// labels. Where inks need areas, all sums must be complete.
template <typename Tile>
__device__ void ink_slots(const Tiles& tiles, const Inker& inker, Tile& tile) {
  for (uint32_t i = first_slot_of_thread(); i < tile.n_slots; i += blockDim.x) {
    const uint32_t root = tile.tables.slot_root[i];
    const uint32_t first_pixel = inker.ink == Ink::kRootMap ? first_pixel_of(load(tiles.parent + root)) : 0;
    const uint32_t area =
        inker.needs_areas ? static_cast<uint32_t>(*tiles.slot_sum(TileSums::kArea, root)) : 1;
    const uint32_t label = wait_for_label(tiles.slot_label + root);
    tile.run[tile.tables.slot_run[i]].word = ink_of(inker, label, area, first_pixel);
  }
}

/// Gives all runs the inks of their roots.
template <typename Tile>
__device__ void ink_runs(const Tiles& tiles, const Inker& inker, Tile& tile) {
  ink_slots(tiles, inker, tile);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < tile.n_runs; i += blockDim.x) {
    if (!tile.is_root_run(i)) {
      tile.run[i] = tile.run[tile.run[i].root()];
    }
  }
}

/// Goes along the columns of a band, from `column` on, and knows the run of each.
template <typename Tile>
class RunCounter {
 public:
  __device__ RunCounter(const Tile& tile, uint32_t band, uint32_t column) {
    const uint32_t word = band * Tile::kRowWords + column / kWordBits;
    const uint32_t bit = column % kWordBits;
    const uint32_t before = tile.starts[word] & bits_below(bit);
    columns_ = tile.columns_of(band, column / kWordBits) >> bit << 1;
    starts_ = tile.starts[word] >> bit << 1;
    if constexpr (Tile::kKind == RunKind::kPair) {
      tops_ = tile.tops[word] >> bit << 1;
      run_ = tile.base[word] + __popc(before & tile.tops[word]) - 1;
      lower_run_ = tile.lower_base[word] + __popc(before & ~tile.tops[word]) - 1;
    } else {
      run_ = tile.base[word] + __popc(before) - 1;
    }
  }

  /// Goes to the next column, at first to the first one.
  __device__ void step() {
    columns_ >>= 1;
    starts_ >>= 1;
    tops_ >>= 1;
    run_ += starts_ & (Tile::kKind == RunKind::kPair ? tops_ : 1) & 1;
    lower_run_ += starts_ & ~tops_ & 1;
  }
  __device__ bool has_pixels() const { return (columns_ & 1) != 0; }
  /// The run that the column belongs to, if it has pixels.
  __device__ uint32_t id() const {
    return Tile::kKind == RunKind::kPair && (tops_ & 1) == 0 ? lower_run_ : run_;
  }

 private:
  uint32_t columns_, starts_;
  uint32_t run_;
  uint32_t tops_ = 0;
  uint32_t lower_run_ = 0;
};

/// Lays the component's colour, or none where it is the background, upon the input as grey.
__device__ inline uint32_t overlay(const Tiles& tiles, const Inker& inker, uint32_t x, uint32_t y,
                                   uint32_t ink) {
  const uint8_t luma = tiles.frame.pixels[y * tiles.frame.pitch + x];
  const uint32_t under = pack(grey(luma, inker.settings.limited_range), inker.layout);
  return ink != inker.background ? blend(ink, under, inker.settings.overlay_alpha) : under;
}

/// Paints the tile, 16 bytes to a thread at a time where rows are aligned so.
template <typename Pixel, bool kOverlay, typename Tile>
__device__ void paint(const Tiles& tiles, const Inker& inker, const Place& place, const Tile& tile,
                      uint8_t* output) {
  constexpr uint32_t kGroup = kStoreBytes / sizeof(Pixel);
  constexpr uint32_t kRowGroups = Tile::kWidth / kGroup;
  auto* pixels = reinterpret_cast<Pixel*>(output);
  const uint32_t width = tiles.frame.width;
  static_assert(kChunk % kGroup == 0);
  const bool is_aligned = tiles.has_whole_chunks || width % kGroup == 0;
  for (uint32_t i = threadIdx.x; i < tiles.rows / Tile::kBandRows * kRowGroups; i += blockDim.x) {
    const uint32_t band = i / kRowGroups;
    const uint32_t column = i % kRowGroups * kGroup;
    const uint32_t x = place.x + column;
    if (x >= width) {
      continue;
    }
    Pixel inks[kGroup];
    RunCounter run(tile, band, column);
    for (uint32_t j = 0; j < kGroup; ++j) {
      run.step();
      inks[j] = static_cast<Pixel>(run.has_pixels() ? tile.run[run.id()].word : inker.background);
    }
    for (uint32_t row = band * Tile::kBandRows; row < (band + 1) * Tile::kBandRows; ++row) {
      const uint32_t y = place.y + row;
      if (y >= tiles.frame.height) {
        break;
      }
      const uint32_t bits = tile.bits[row * Tile::kRowWords + column / kWordBits] >> column % kWordBits;
      alignas(kStoreBytes) Pixel group[kGroup];
      for (uint32_t j = 0; j < kGroup; ++j) {
        uint32_t value = (bits >> j & 1) != 0 ? inks[j] : inker.background;
        if constexpr (kOverlay) {
          value = x + j < width ? overlay(tiles, inker, x + j, y, value) : 0;
        }
        group[j] = static_cast<Pixel>(value);
      }
      Pixel* to = pixels + size_t{y} * width + x;
      if (is_aligned) {
        __stcs(reinterpret_cast<uint4*>(to), *reinterpret_cast<const uint4*>(group));
      } else {
        for (uint32_t j = 0; j < min(kGroup, width - x); ++j) {
          to[j] = group[j];
        }
      }
    }
  }
}

template <typename Tile>
__device__ void paint_tile(const Tiles& tiles, const Inker& inker, const Place& place, const Tile& tile,
                           uint8_t* output) {
  switch (inker.ink) {
    case Ink::kNone:
      break;
    case Ink::kMask:
      paint<uint8_t, false>(tiles, inker, place, tile, output);
      break;
    case Ink::kLabel:
      paint<uint16_t, false>(tiles, inker, place, tile, output);
      break;
    case Ink::kOverlay:
      paint<uint32_t, true>(tiles, inker, place, tile, output);
      break;
    case Ink::kColor:
    case Ink::kLabelMap:
    case Ink::kRootMap:
      paint<uint32_t, false>(tiles, inker, place, tile, output);
      break;
  }
}

/// Gives runs their inks, and pixels those of their runs, if there is an ink.
template <typename Tile>
__device__ void paint_runs(const Tiles& tiles, const Inker& inker, const Place& place, Tile& tile,
                           uint8_t* output) {
  if (inker.ink == Ink::kNone) {
    return;
  }
  ink_runs(tiles, inker, tile);
  __syncthreads();
  paint_tile(tiles, inker, place, tile, output);
}

}  // namespace ccl::device::runs
