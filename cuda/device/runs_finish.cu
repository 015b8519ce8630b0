// SPDX-License-Identifier: LGPL-2.1-or-later
/// Last step of the run-based pipeline: records and inks of components that several tiles share, and the
/// pixels.
///
/// A pixel's run is its word's first one plus the run starts up to it, and the run's ink is the pixel.
#include "ccl/colors.h"
#include "device/runs.h"
#include "device/runs_emit.cuh"
#include "device/runs_forest.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kThreads = 512;
constexpr uint32_t kMaxWords = kMaxRows * kRowWords;
/// As many as a tile has border pixels with a neighbour of another value, see Tiles::max_slots.
constexpr uint32_t kMaxSlots = 2 * (kTileWidth + kMaxRows);
constexpr uint32_t kStoreBytes = 16;

/// What a block knows of its tile.
struct Tile {
  uint32_t bits[kMaxWords];
  uint32_t starts[kMaxWords];
  uint16_t word_base[kMaxWords];
  uint32_t slot_ink[kMaxSlots];
  uint32_t ink[kMaxRuns];
};

/// Record and ink of each slot; the record once, where the component begins.
template <bool kHasFeatures>
__device__ void finish_slots(const Tiles& tiles, const Emitter& emitter, const Inker& inker, uint32_t index,
                             uint32_t n_slots, Tile& tile) {
  for (uint32_t k = threadIdx.x; k < n_slots; k += blockDim.x) {
    const uint32_t slot = index * tiles.max_slots + k;
    const Parent root = find_root(tiles.parent, slot);
    const uint32_t label = tiles.slot_label[slot_of(root)];
    const SlotSums& sums = tiles.slot_sums[slot_of(root)];
    const uint32_t first_pixel = first_pixel_of(root);
    if (slot_of(root) == slot) {
      const uint32_t y = first_pixel / tiles.frame.width;
      const uint32_t x = first_pixel - y * tiles.frame.width;
      emit<kHasFeatures>(
          emitter, tiles.frame, label, sums.area, [&] { return sums.sums; },
          [&] { return tiles.frame.segment(x, y); });
    }
    if (inker.ink != Ink::kNone) {
      tile.slot_ink[k] = ink_of(inker, label, sums.area, first_pixel);
    }
  }
}

__device__ void load_words(const Tiles& tiles, uint32_t index, Tile& tile) {
  const uint32_t n_words = tiles.rows * kRowWords;
  for (uint32_t word = threadIdx.x; word < n_words; word += kThreads) {
    tile.bits[word] = tiles.bits[index * n_words + word];
    tile.starts[word] = tiles.starts[index * n_words + word];
    tile.word_base[word] = tiles.word_base[index * n_words + word];
  }
}

/// The inks of runs, but those of shared components: of these the slots. Returns a bit for each of the
/// thread's runs that has such.
__device__ uint32_t load_inks(const Tiles& tiles, uint32_t index, uint32_t n_runs, Tile& tile) {
  static_assert(kMaxRuns <= kThreads * kWordBits);
  const TileRun* runs = tiles.run + size_t{index} * tiles.max_runs;
  const uint32_t* is_shared = tiles.is_shared + tiles.run_words(index);
  uint32_t mine = 0;
  uint32_t turn = 0;
  for (uint32_t run = threadIdx.x; run < n_runs; run += kThreads, ++turn) {
    tile.ink[run] = runs[run].word;
    mine |= (is_shared[run / kWordBits] >> run % kWordBits & 1) << turn;
  }
  return mine;
}

__device__ void ink_shared_runs(uint32_t mine, Tile& tile) {
  for (; mine != 0; mine &= mine - 1) {
    const uint32_t run = threadIdx.x + (__ffs(static_cast<int>(mine)) - 1) * kThreads;
    tile.ink[run] = tile.slot_ink[tile.ink[run]];
  }
}

/// Lays the component's colour, or none where it is the background, upon the input as grey.
__device__ uint32_t overlay(const Tiles& tiles, const Inker& inker, uint32_t x, uint32_t y, uint32_t ink) {
  const uint8_t luma = tiles.frame.pixels[y * tiles.frame.pitch + x];
  const uint32_t under = pack(grey(luma, inker.settings.limited_range), inker.layout);
  return ink != inker.background ? blend(ink, under, inker.settings.overlay_alpha) : under;
}

/// Paints the tile, 16 bytes to a thread at a time where rows are aligned so.
template <typename Pixel, bool kOverlay>
__device__ void paint(const Tiles& tiles, const Inker& inker, const Tile& tile, Pixel* pixels) {
  constexpr uint32_t kGroup = kStoreBytes / sizeof(Pixel);
  constexpr uint32_t kRowGroups = kTileWidth / kGroup;
  const uint32_t width = tiles.frame.width;
  const bool is_aligned = width % kGroup == 0;
  for (uint32_t i = threadIdx.x; i < tiles.rows * kRowGroups; i += kThreads) {
    const uint32_t row = i / kRowGroups;
    const uint32_t column = i % kRowGroups * kGroup;
    const uint32_t x = blockIdx.x * kTileWidth + column;
    const uint32_t y = blockIdx.y * tiles.rows + row;
    if (x >= width || y >= tiles.frame.height) {
      continue;
    }
    const uint32_t word = row * kRowWords + column / kWordBits;
    const uint32_t bits = tile.bits[word] >> column % kWordBits;
    const uint32_t starts = tile.starts[word] >> column % kWordBits;
    // The run before the group's first start; only looked at where it reaches into the group.
    uint32_t run = tile.word_base[word] + __popc(tile.starts[word] & bits_below(column % kWordBits)) - 1;
    alignas(kStoreBytes) Pixel group[kGroup];
    for (uint32_t j = 0; j < kGroup; ++j) {
      run += starts >> j & 1;
      uint32_t value = (bits >> j & 1) != 0 ? tile.ink[run] : inker.background;
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

/// Once all have read the counts, for the next frame.
__device__ void clear_strip_counts(const Tiles& tiles) {
  if (blockIdx.x == 0 && blockIdx.y == 0) {
    for (uint32_t strip = threadIdx.x; strip < tiles.strips; strip += blockDim.x) {
      tiles.strip_counts[strip] = 0;
    }
  }
}

template <typename Pixel, bool kOverlay, bool kHasFeatures>
__global__ void __launch_bounds__(kThreads, 3)
    finish(Tiles tiles, Emitter emitter, Inker inker, Pixel* pixels) {
  __shared__ Tile tile;
  wait_for_kernel_before();
  const uint32_t index = blockIdx.y * tiles.columns + blockIdx.x;
  const TileHead head = tiles.head[index];
  load_words(tiles, index, tile);
  const uint32_t shared_runs = load_inks(tiles, index, head.n_runs, tile);
  finish_slots<kHasFeatures>(tiles, emitter, inker, index, head.n_slots, tile);
  __syncthreads();
  ink_shared_runs(shared_runs, tile);
  __syncthreads();
  paint<Pixel, kOverlay>(tiles, inker, tile, pixels);
  clear_strip_counts(tiles);
}

/// The same where there is nothing to paint.
__global__ void __launch_bounds__(kThreads) finish_records(Tiles tiles, Emitter emitter, Inker inker) {
  __shared__ Tile tile;
  wait_for_kernel_before();
  const uint32_t index = blockIdx.y * tiles.columns + blockIdx.x;
  finish_slots<true>(tiles, emitter, inker, index, tiles.head[index].n_slots, tile);
  clear_strip_counts(tiles);
}

template <typename Pixel, bool kOverlay>
Status paint_as(const Tiles& tiles, const Emitter& emitter, const Inker& inker, uint8_t* pixels,
                EarlyLaunch launch) {
  launch.threads = kThreads;
  const bool has_features = emitter.settings.features != 0 && emitter.emission != Emission::kNone;
  return launch("finish", has_features ? finish<Pixel, kOverlay, true> : finish<Pixel, kOverlay, false>,
                tiles, emitter, inker, reinterpret_cast<Pixel*>(pixels));
}

}  // namespace

Status finish_tiles(const Tiles& tiles, const Emitter& emitter, const Inker& inker, uint8_t* pixels,
                    const EarlyLaunch& launch) {
  switch (inker.ink) {
    case Ink::kNone: {
      EarlyLaunch records = launch;
      records.threads = kMaxSlots / 2;
      return records("finish_records", finish_records, tiles, emitter, inker);
    }
    case Ink::kMask:
      return paint_as<uint8_t, false>(tiles, emitter, inker, pixels, launch);
    case Ink::kLabel:
      return paint_as<uint16_t, false>(tiles, emitter, inker, pixels, launch);
    case Ink::kOverlay:
      return paint_as<uint32_t, true>(tiles, emitter, inker, pixels, launch);
    case Ink::kColor:
    case Ink::kLabelMap:
    case Ink::kRootMap:
      return paint_as<uint32_t, false>(tiles, emitter, inker, pixels, launch);
  }
  return {};
}

}  // namespace ccl::device::runs
