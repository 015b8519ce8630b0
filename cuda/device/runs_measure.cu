// SPDX-License-Identifier: LGPL-2.1-or-later
/// Third step of the run-based pipeline: canonical labels, sums, and the records of components that lie in
/// one tile.
///
/// Runs have sums in closed form, which are added up in shared memory; those of shared components go on to
/// their root's sums in device memory. runs_number.cuh tells where labels come from.
#include "device/runs.h"
#include "device/runs_emit.cuh"
#include "device/runs_forest.cuh"
#include "device/runs_number.cuh"
#include "device/runs_sums.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kThreads = 512;
constexpr uint32_t kWarps = kThreads / kWarpSize;
static_assert(kMaxCountWords <= kWarps);
/// So many lanes of a warp with the same component are added up among them first.
constexpr uint32_t kManyLanes = 4;
static_assert(2 * (kTileWidth + kMaxValueRows) <= kThreads && kTileWidth + kMaxRows <= kThreads);  // slots

template <bool kValues, uint32_t kWords>
__device__ void measure_run(const Tiles& tiles, const Emitter& emitter, const TilePlace& place, TileRun run,
                            uint32_t (&words)[kWords]) {
  sums_of_run(run, words);
  if constexpr (kWords == TileSums::kAllWords) {
    const Connectivity connectivity = emitter.settings.connectivity;
    const uint32_t x = place.x0 + run.first();
    const uint32_t last = place.x0 + run.last();
    const uint32_t y = place.y0 + run.row();
    const PixelShape shape = kValues ? shape_of_value_run(tiles.frame, connectivity, x, last, y)
                                     : shape_of_run(tiles, connectivity, x, last, y);
    words[TileSums::kPerimeterAndEuler] = shape.perimeter + (static_cast<uint32_t>(shape.euler) << 16);
  }
}

/// Adds up the runs of the components from `window` on.
template <bool kValues, uint32_t kWords>
__device__ void add_runs(const Tiles& tiles, const Emitter& emitter, const TilePlace& place, uint32_t window,
                         MeasuredTile<kWords>& tile) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < place.head.n_runs; i += kThreads) {
    const TileRun run = i < place.head.n_runs ? place.runs[i] : TileRun{};
    const uint32_t index = i < place.head.n_runs ? run.component() - window : kMaxRuns;
    const uint32_t lanes = __ballot_sync(kAllLanes, index < MeasuredTile<kWords>::kWindow);
    if (lanes == 0) {
      continue;
    }
    const uint32_t leader = __ffs(static_cast<int>(lanes)) - 1;
    const uint32_t same = __ballot_sync(kAllLanes, index == __shfl_sync(kAllLanes, index, leader));
    if (index >= MeasuredTile<kWords>::kWindow) {
      continue;
    }
    uint32_t words[kWords];
    measure_run<kValues>(tiles, emitter, place, run, words);
    const bool is_reduced = (same >> lane & 1) != 0 && __popc(same) >= kManyLanes;
    if (is_reduced) {
      reduce(same, words);
    }
    if (!is_reduced || lane == leader) {
      add(words, tile.sums[index]);
    }
  }
}

/// Makes ready the sums of the components from `window` on.
template <uint32_t kWords>
__device__ void clear_sums(const TilePlace& place, uint32_t window, MeasuredTile<kWords>& tile) {
  const uint32_t n = min(place.head.n_components - window, MeasuredTile<kWords>::kWindow) * kWords;
  for (uint32_t i = threadIdx.x; i < n; i += kThreads) {
    (&tile.sums[0][0])[i] = i % kWords == TileSums::kXMin ? kTileWidth : 0;
  }
}

/// From the tile's coordinates to the frame's.
template <uint32_t kWords>
__device__ Sums sums_in_frame(const TilePlace& place, uint32_t y_min, const uint32_t (&words)[kWords]) {
  const uint64_t n = area_of(words);
  const uint64_t y = words[TileSums::kAreaAndY] >> TileSums::kAreaBits;
  const uint64_t x = words[TileSums::kX];
  const uint64_t x0 = place.x0;
  const uint64_t y0 = place.y0;
  Sums sums;
  sums.x_min = place.x0 + words[TileSums::kXMin];
  sums.y_min = place.y0 + y_min;
  sums.x_max = place.x0 + words[TileSums::kXMax];
  sums.y_max = place.y0 + words[TileSums::kYMax];
  sums.x = n * x0 + x;
  sums.y = n * y0 + y;
  if constexpr (kWords == TileSums::kAllWords) {
    sums.xx = n * x0 * x0 + 2 * x0 * x + words[TileSums::kXX];
    sums.xy = n * x0 * y0 + x0 * y + y0 * x + words[TileSums::kXY];
    sums.yy = n * y0 * y0 + 2 * y0 * y + words[TileSums::kYY];
    sums.perimeter = words[TileSums::kPerimeterAndEuler] % (1u << 16);
    sums.euler = static_cast<int16_t>(words[TileSums::kPerimeterAndEuler] >> 16);
  }
  return sums;
}

__device__ void atomic_add(uint64_t* sum, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

template <bool kAll>
__device__ void add_to_slot(uint32_t area, const Sums& sums, SlotSums* slot) {
  Sums* to = &slot->sums;
  atomicAdd(&slot->area, area);
  atomicMin(&to->x_min, sums.x_min);
  atomicMin(&to->y_min, sums.y_min);
  atomicMax(&to->x_max, sums.x_max);
  atomicMax(&to->y_max, sums.y_max);
  atomic_add(&to->x, sums.x);
  atomic_add(&to->y, sums.y);
  if constexpr (kAll) {
    atomic_add(&to->xx, sums.xx);
    atomic_add(&to->xy, sums.xy);
    atomic_add(&to->yy, sums.yy);
    atomicAdd(&to->perimeter, sums.perimeter);
    atomicAdd(&to->euler, sums.euler);
  }
}

/// The slot of a thread, if there are as many; there are never more slots than threads.
struct OwnSlot {
  bool is_any;
  uint32_t slot;
  uint32_t component;
  uint32_t run;  ///< the component's first one in the tile
  uint32_t row;
  Parent root;
};

__device__ OwnSlot load_slot(const Tiles& tiles, const TilePlace& place) {
  OwnSlot own{};
  if (threadIdx.x < place.head.n_slots) {
    own.is_any = true;
    own.slot = place.index * tiles.max_slots + threadIdx.x;
    own.component = tiles.slot_component[own.slot];
    own.run = tiles.slot_run[own.slot];
    own.row = place.runs[own.run].row();
    own.root = find_root(tiles.parent, own.slot);
  }
  return own;
}

/// Labels of shared components that begin in the tile. Brings their sums to their roots; those of one root
/// are added up in the warp first, because many meet in a large component. Whole warps call it.
template <uint32_t kWords>
__device__ void finish_slots(const Tiles& tiles, const TilePlace& place, const OwnSlot& own, uint32_t window,
                             MeasuredTile<kWords>& tile) {
  const bool is_here = own.is_any && own.component - window < MeasuredTile<kWords>::kWindow;
  const uint32_t lanes = __ballot_sync(kAllLanes, is_here);
  if (!is_here) {
    return;
  }
  tile.ink[own.component] = threadIdx.x;
  if (tile.is_first_run(own.run)) {
    tiles.slot_label[own.slot] = tile.label_of(own.run, own.row);
  }
  uint32_t words[kWords];
  for (uint32_t i = 0; i < kWords; ++i) {
    words[i] = tile.sums[own.component - window][i];
  }
  uint32_t y_min = own.row;
  const uint32_t same = __match_any_sync(lanes, slot_of(own.root));
  if (__popc(same) > 1) {
    reduce(same, words);
    y_min = warp_min(same, y_min);
  }
  if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
    add_to_slot<kWords == TileSums::kAllWords>(area_of(words), sums_in_frame(place, y_min, words),
                                               tiles.slot_sums + slot_of(own.root));
  }
}

/// Labels, records and inks of the components that lie in the tile as a whole.
template <uint32_t kWords>
__device__ void finish_components(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                  const TilePlace& place, uint32_t window, MeasuredTile<kWords>& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_first_runs; i += kThreads) {
    const TileRun run = place.runs[tile.first_run[i]];
    const uint32_t component = run.component();
    if (component - window >= MeasuredTile<kWords>::kWindow || tile.is_component_shared(component)) {
      continue;
    }
    const uint32_t(&words)[kWords] = tile.sums[component - window];
    const uint32_t label = tile.row_base[run.row()] + i + 1;
    const uint32_t x = place.x0 + run.first();
    const uint32_t y = place.y0 + run.row();
    emit<kWords == TileSums::kAllWords>(
        emitter, tiles.frame, label, area_of(words), [&] { return sums_in_frame(place, run.row(), words); },
        [&] { return tiles.frame.segment(x, y); });
    tile.ink[component] = ink_of(inker, label, area_of(words), y * tiles.frame.width + x);
  }
}

/// Turns runs into inks, or slots where the ink is not known yet.
template <uint32_t kWords>
__device__ void ink_runs(const Tiles& tiles, const TilePlace& place, const MeasuredTile<kWords>& tile) {
  TileRun* runs = tiles.run + size_t{place.index} * tiles.max_runs;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < place.head.n_runs; i += kThreads) {
    bool is_shared = false;
    if (i < place.head.n_runs) {
      const uint32_t component = runs[i].component();
      is_shared = tile.is_component_shared(component);
      runs[i].word = tile.ink[component];
    }
    const uint32_t shared = __ballot_sync(kAllLanes, is_shared);
    if (i % kWarpSize == 0) {
      tiles.is_shared[tiles.run_words(place.index) + i / kWordBits] = shared;
    }
  }
}

template <bool kValues, uint32_t kWords>
__global__ void __launch_bounds__(kThreads, 3) measure(Tiles tiles, Emitter emitter, Inker inker) {
  __shared__ MeasuredTile<kWords> tile;
  wait_for_kernel_before();
  let_next_kernel_start();
  const TilePlace place = place_of_block(tiles);
  const uint32_t warp = threadIdx.x / kWarpSize;
  if (warp == kWarps - 1) {
    add_strip_counts(tiles, emitter, tile);
  }
  if (place.head.n_runs == 0) {
    return;
  }
  if (warp == kWarps - 2) {
    rank_first_runs(tiles, place, tile);
  }
  add_row_counts(tiles, tile);
  for (uint32_t word = threadIdx.x; word * kWordBits < place.head.n_components; word += kThreads) {
    tile.is_shared[word] = tiles.is_shared[tiles.run_words(place.index) + word];
  }
  clear_sums(place, 0, tile);
  const OwnSlot own = load_slot(tiles, place);
  __syncthreads();
  if (warp == 0) {
    number_rows(tile);
  }
  list_first_runs(kThreads, tile);
  for (uint32_t window = 0; window < place.head.n_components; window += MeasuredTile<kWords>::kWindow) {
    if (window > 0) {
      __syncthreads();
      clear_sums(place, window, tile);
      __syncthreads();
    }
    add_runs<kValues>(tiles, emitter, place, window, tile);
    __syncthreads();
    finish_slots(tiles, place, own, window, tile);
    finish_components(tiles, emitter, inker, place, window, tile);
  }
  if (inker.ink != Ink::kNone) {
    __syncthreads();
    ink_runs(tiles, place, tile);
  }
}

}  // namespace

Status measure_tiles(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                     const EarlyLaunch& launch) {
  const bool has_values = tiles.frame.rule.foreground == Foreground::kValues;
  constexpr uint32_t kBasic = TileSums::kBasicWords;
  constexpr uint32_t kAll = TileSums::kAllWords;
  const auto kernel = emitter.settings.features != 0
                          ? (has_values ? measure<true, kAll> : measure<false, kAll>)
                          : (has_values ? measure<true, kBasic> : measure<false, kBasic>);
  EarlyLaunch whole = launch;
  whole.threads = kThreads;
  return whole("measure", kernel, tiles, emitter, inker);
}

}  // namespace ccl::device::runs
