// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 7: paint values of components, and the pixels.
///
/// The run of a pixel is the first run of its word plus the number of runs that start up to the pixel; the
/// pixel gets the paint value of its run.
#pragma once

#include "ccl/colors.h"
#include "device/runs/forest.cuh"
#include "device/runs/paint_rule.h"
#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

inline constexpr uint32_t kStoreBytes = 16;

/// The paint value of a component.
__device__ inline uint32_t value_of(const PaintRule& rule, uint32_t label, uint32_t area, bool is_kept,
                                    uint32_t first_pixel) {
  if (rule.mode == PaintMode::kLabelMap) {
    return label;
  }
  if (rule.mode == PaintMode::kRootMap) {
    return first_pixel + 1;
  }
  if (!is_kept) {
    return rule.background;
  }
  if (rule.mode == PaintMode::kColor || rule.mode == PaintMode::kOverlay) {
    return pack(__ldg(rule.palettes + color_index(rule.settings, label, area, rule.n_pixels)), rule.layout);
  }
  return rule.mode == PaintMode::kLabel ? min(label, kMaxPaintedLabel) : 255;
}

/// Sets the paint values of components with a node, as soon as the block of the root node has published the
/// label. If values depend on areas, all sums must be complete.
template <typename Tile, typename AnyFilter>
__device__ void set_node_values(const Tiles& tiles, const PaintRule& rule, const AnyFilter& filter,
                                Tile& tile) {
  for (uint32_t i = first_node_of_thread(); i < tile.n_nodes; i += blockDim.x) {
    const uint32_t root = tile.tables.node_root[i];
    const uint32_t first_pixel =
        rule.mode == PaintMode::kRootMap ? first_pixel_of(load(tiles.parent + root)) : 0;
    uint32_t area = 1;  // which every inactive filter keeps
    uint32_t n_strong = 0;
    bool is_kept = false;
    if constexpr (kIsFull<AnyFilter>) {
      FrameSums<TileSums::kAllWords> sums;
      load_sums_of_node(tiles, filter.filter, root, sums);
      const uint32_t y = first_pixel_of(load(tiles.parent + root)) / tiles.frame.width;
      area = static_cast<uint32_t>(sums[TileSums::kArea]);
      n_strong = n_strong_of(sums);
      is_kept = filter.filter.keeps(filter_sums(sums, y, tiles.frame));
    } else {
      area = rule.needs_areas ? area_of_node(tiles, root) : area;
      is_kept = rule.settings.limits.keeps(area);
    }
    const uint32_t label = wait_for_label(tiles.node_label + root);
    if constexpr (kIsFull<AnyFilter>) {
      is_kept = is_kept && filter.has_chosen(label, n_strong);
    }
    tile.run[tile.tables.node_run[i]].word = value_of(rule, label, area, is_kept, first_pixel);
  }
}

/// Gives each run the paint value of its root.
template <typename Tile, typename AnyFilter>
__device__ void set_run_values(const Tiles& tiles, const PaintRule& rule, const AnyFilter& filter,
                               Tile& tile) {
  set_node_values(tiles, rule, filter, tile);
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < tile.n_runs; i += blockDim.x) {
    if (!tile.is_root_run(i)) {
      tile.run[i] = tile.run[tile.run[i].root()];
    }
  }
}

/// Steps along the columns of a band, from `column` on, and knows the run of each column.
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

  /// Moves to the next column; the first call moves to the first column.
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

/// Blends a component's colour with the input as grey; background shows the input.
__device__ inline uint32_t overlay(const Tiles& tiles, const PaintRule& rule, uint32_t x, uint32_t y,
                                   uint32_t value) {
  const uint8_t luma = tiles.frame.pixels[y * tiles.frame.pitch + x];
  const uint32_t under = pack(grey(luma, rule.settings.limited_range), rule.layout);
  return value != rule.background ? blend(value, under, rule.settings.overlay_alpha) : under;
}

/// Paints the tile; a thread stores 16 bytes at a time if rows are aligned.
template <typename Pixel, bool kOverlay, typename Tile>
__device__ void paint(const Tiles& tiles, const PaintRule& rule, const Place& place, const Tile& tile,
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
    Pixel values[kGroup];
    RunCounter run(tile, band, column);
    for (uint32_t j = 0; j < kGroup; ++j) {
      run.step();
      values[j] = static_cast<Pixel>(run.has_pixels() ? tile.run[run.id()].word : rule.background);
    }
    for (uint32_t row = band * Tile::kBandRows; row < (band + 1) * Tile::kBandRows; ++row) {
      const uint32_t y = place.y + row;
      if (y >= tiles.frame.height) {
        break;
      }
      const uint32_t bits = tile.bits[row * Tile::kRowWords + column / kWordBits] >> column % kWordBits;
      alignas(kStoreBytes) Pixel group[kGroup];
      for (uint32_t j = 0; j < kGroup; ++j) {
        uint32_t pixel = (bits >> j & 1) != 0 ? values[j] : rule.background;
        if constexpr (kOverlay) {
          pixel = x + j < width ? overlay(tiles, rule, x + j, y, pixel) : 0;
        }
        group[j] = static_cast<Pixel>(pixel);
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
__device__ void paint_tile(const Tiles& tiles, const PaintRule& rule, const Place& place, const Tile& tile,
                           uint8_t* output) {
  switch (rule.mode) {
    case PaintMode::kNone:
      break;
    case PaintMode::kMask:
      paint<uint8_t, false>(tiles, rule, place, tile, output);
      break;
    case PaintMode::kLabel:
      paint<uint16_t, false>(tiles, rule, place, tile, output);
      break;
    case PaintMode::kOverlay:
      paint<uint32_t, true>(tiles, rule, place, tile, output);
      break;
    case PaintMode::kColor:
    case PaintMode::kLabelMap:
    case PaintMode::kRootMap:
      paint<uint32_t, false>(tiles, rule, place, tile, output);
      break;
  }
}

/// Sets the paint values of all runs and paints the pixels, if anything is painted.
template <typename Tile, typename AnyFilter>
__device__ void paint_runs(const Tiles& tiles, const PaintRule& rule, const AnyFilter& filter,
                           const Place& place, Tile& tile, uint8_t* output) {
  if (rule.mode == PaintMode::kNone) {
    return;
  }
  set_run_values(tiles, rule, filter, tile);
  __syncthreads();
  paint_tile(tiles, rule, place, tile, output);
}

}  // namespace ccl::device::runs
