// SPDX-License-Identifier: LGPL-2.1-or-later
/// Third step of the run-based pipeline: sums of the tile's components, and what becomes of those that
/// lie in it as a whole.
///
/// Runs have sums in closed form, which are added up in shared memory: in the room that the tile's runs
/// leave, which holds a window of its components at a time. Most tiles have no more. Sums of components
/// at borders go on to their root's in device memory.
#pragma once

#include "device/runs_emit.cuh"
#include "device/runs_forest.cuh"
#include "device/runs_number.cuh"
#include "device/runs_sums.cuh"
#include "device/runs_tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// So many lanes of a warp with the same component are added up among them first.
inline constexpr uint32_t kManyLanes = 4;

/// The components from `begin` to `end`, whose sums have their place.
template <uint32_t kWords>
struct SumsWindow {
  uint32_t begin, end;
  uint32_t (*sums)[kWords];

  __device__ bool has(uint32_t component) const { return component - begin < end - begin; }
  __device__ uint32_t (&of(uint32_t component) const)[kWords] { return sums[component - begin]; }
};

template <uint32_t kWords, typename Tile>
__device__ SumsWindow<kWords> window_from(uint32_t begin, Tile& tile) {
  uint32_t* first = &tile.run[0].word + tile.n_runs;
  const uint32_t most = static_cast<uint32_t>(reinterpret_cast<uint32_t*>(&tile.tables) - first) / kWords;
  return {begin, min(begin + most, tile.n_components), reinterpret_cast<uint32_t(*)[kWords]>(first)};
}

/// Makes the sums ready.
template <typename Tile, uint32_t kWords>
__device__ void clear_sums(const SumsWindow<kWords>& window) {
  for (uint32_t i = threadIdx.x; i < (window.end - window.begin) * kWords; i += blockDim.x) {
    window.sums[0][i] = i % kWords == TileSums::kXMin ? Tile::kWidth : 0;
  }
}

/// Adds up the runs.
template <typename Tile, uint32_t kWords>
__device__ void measure_runs(const Tiles& tiles, const Settings& settings, const Place& place,
                             const SumsWindow<kWords>& window, const Tile& tile) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < tile.n_runs; i += blockDim.x) {
    const uint32_t component = i < tile.n_runs ? tile.components_before(tile.root_of(i)) : Tile::kMaxRuns;
    const uint32_t lanes = __ballot_sync(kAllLanes, window.has(component));
    if (lanes == 0) {
      continue;
    }
    const uint32_t leader = __ffs(static_cast<int>(lanes)) - 1;
    const uint32_t same = __ballot_sync(kAllLanes, component == __shfl_sync(kAllLanes, component, leader));
    if (!window.has(component)) {
      continue;
    }
    uint32_t words[kWords];
    sums_of_run(tiles, settings.connectivity, place, tile, tile.run[i], words);
    const bool is_reduced = (same >> lane & 1) != 0 && __popc(same) >= kManyLanes;
    if (is_reduced) {
      reduce(same, words);
    }
    if (!is_reduced || lane == leader) {
      add(words, window.of(component));
    }
  }
}

/// From the tile's coordinates to the frame's.
template <uint32_t kWords>
__device__ Sums sums_in_frame(const Place& place, uint32_t y_min, const uint32_t (&words)[kWords]) {
  const uint64_t n = words[TileSums::kArea];
  const uint64_t x = words[TileSums::kX];
  const uint64_t y = words[TileSums::kY];
  const uint64_t x0 = place.x;
  const uint64_t y0 = place.y;
  Sums sums;
  sums.x_min = place.x + words[TileSums::kXMin];
  sums.y_min = place.y + y_min;
  sums.x_max = place.x + words[TileSums::kXMax];
  sums.y_max = place.y + words[TileSums::kYMax];
  sums.x = n * x0 + x;
  sums.y = n * y0 + y;
  if constexpr (kWords == TileSums::kAllWords) {
    sums.xx = n * x0 * x0 + 2 * x0 * x + words[TileSums::kXX];
    sums.xy = n * x0 * y0 + x0 * y + y0 * x + words[TileSums::kXY];
    sums.yy = n * y0 * y0 + 2 * y0 * y + words[TileSums::kYY];
    sums.perimeter = TileSums::perimeter(words[TileSums::kPerimeterAndEuler]);
    sums.euler = TileSums::euler(words[TileSums::kPerimeterAndEuler]);
  }
  return sums;
}

__device__ inline void atomic_add(uint64_t* sum, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// Where the component begins tells its smallest y.
template <bool kAll>
__device__ void add_to_slot(uint32_t area, const Sums& sums, SlotSums* slot) {
  Sums* to = &slot->sums;
  atomicAdd(&slot->area, area);
  atomicMin(&to->x_min, sums.x_min);
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

/// Each slot climbs a step towards its root, and its path is shortened: others climb from where it got.
template <typename Tile>
__device__ void climb(const Tiles& tiles, const Place& place, Tile& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_slots; i += blockDim.x) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    const uint32_t ancestor = tile.tables.slot_root[i];
    const Parent parent = load(tiles.parent + ancestor);
    tile.tables.slot_root[i] = slot_of(parent);
    if (ancestor != slot && slot_of(parent) != ancestor) {
      store(tiles.parent + slot, parent);
    }
  }
}

/// Components that go on one of another tile do not begin here. This is thread `thread` of `n_threads` that
/// look.
template <typename Tile>
__device__ void drop_linked(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                            Tile& tile) {
  auto& tables = tile.tables;
  for (uint32_t i = thread; i < tile.n_slots; i += n_threads) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    if (slot_of(load(tiles.parent + slot)) != slot) {
      const uint32_t run = tables.slot_run[i];
      atomicAnd(tables.is_first + run / kWordBits, ~(1u << run % kWordBits));
    }
  }
}

/// Finds the roots of the tile's slots, each from where it got on the way. This is thread `thread` of
/// `n_threads`.
template <typename Tile>
__device__ void find_slots(const Tiles& tiles, uint32_t thread, uint32_t n_threads, Tile& tile) {
  for (uint32_t i = thread; i < tile.n_slots; i += n_threads) {
    uint32_t& root = tile.tables.slot_root[i];
    root = slot_of(find_root(tiles.parent, root));
  }
}

/// Brings the sums of shared components to their roots. Those of one root are added up in the warp first,
/// because many meet in a large component.
template <typename Tile, uint32_t kWords>
__device__ void measure_slots(const Tiles& tiles, const Place& place, const SumsWindow<kWords>& window,
                              const Tile& tile) {
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < tile.n_slots; i += blockDim.x) {
    const uint32_t root = i < tile.n_slots ? tile.tables.slot_run[i] : 0;
    const uint32_t component = tile.components_before(root);
    const bool is_here = i < tile.n_slots && window.has(component);
    const uint32_t lanes = __ballot_sync(kAllLanes, is_here);
    if (!is_here) {
      continue;
    }
    uint32_t words[kWords];
    for (uint32_t word = 0; word < kWords; ++word) {
      words[word] = window.of(component)[word];
    }
    const uint32_t same = __match_any_sync(lanes, tile.tables.slot_root[i]);
    if (__popc(same) > 1) {
      reduce(same, words);
    }
    if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
      add_to_slot<kWords == TileSums::kAllWords>(words[TileSums::kArea], sums_in_frame(place, 0, words),
                                                 tiles.slot_sums + tile.tables.slot_root[i]);
    }
  }
}

/// Records of the components that lie in the tile as a whole; their roots turn into inks.
template <typename Tile, uint32_t kWords>
__device__ void finish_components(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                  const Place& place, const SumsWindow<kWords>& window, Tile& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_runs; i += blockDim.x) {
    if (!tile.is_root_run(i) || tile.is_root_shared(i)) {
      continue;
    }
    const uint32_t component = tile.components_before(i);
    if (!window.has(component)) {
      continue;
    }
    const TileRun run = tile.run[i];
    const uint32_t(&words)[kWords] = window.of(component);
    const uint32_t label = label_of(tile.tables, i, run.row());
    const uint32_t area = words[TileSums::kArea];
    const uint32_t x = place.x + tile.first_pixel_column(run);
    const uint32_t y = place.y + run.row();
    emit<kWords == TileSums::kAllWords>(
        emitter, tiles.frame, label, area, [&] { return sums_in_frame(place, run.row(), words); },
        [&] { return tiles.frame.segment(x, y); });
    tile.run[i].word = ink_of(inker, label, area, y * tiles.frame.width + x);
  }
}

/// Numbers the components that begin in the tile, and tells the labels of shared ones.
template <typename Tile>
__device__ void number_tile(const Tiles& tiles, const Emitter& emitter, const Place& place, Tile& tile) {
  // Different warps load different things, so that all are under way at once.
  constexpr uint32_t kSlotThreads = 2 * kWarpSize;
  constexpr uint32_t kTileThreads = (threads_for(Tile::kWidth) - kSlotThreads) / 2;
  constexpr uint32_t kRowThreads = threads_for(Tile::kWidth) - kSlotThreads - kTileThreads;
  static_assert(kTileThreads % kWarpSize == 0);
  auto& tables = tile.tables;
  const bool is_first_tile = place.index == 0;  // above which there is nothing to count
  if (tile.n_runs == 0 && !is_first_tile) {
    return;
  }
  if (threadIdx.x < kSlotThreads) {
    drop_linked(tiles, place, threadIdx.x, kSlotThreads, tile);
  } else if (const uint32_t thread = threadIdx.x - kSlotThreads; thread < kTileThreads) {
    add_tile_counts(tiles, is_first_tile ? tiles.count() : place.strip * tiles.columns, thread, kTileThreads,
                    is_first_tile ? &tables.n_labels : &tables.strip_base);
  } else {
    add_row_counts(tiles, place, thread - kTileThreads, kRowThreads, tables);
  }
  __syncthreads();
  if (threadIdx.x < kWarpSize) {
    number_rows(tiles.rows, tables);
  } else if (threadIdx.x < 2 * kWarpSize) {
    rank_first_runs(tile);
  } else {
    find_slots(tiles, threadIdx.x - 2 * kWarpSize, blockDim.x - 2 * kWarpSize, tile);
  }
  if (is_first_tile) {
    tell_counts(emitter, tables.n_labels);
  }
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < tile.n_slots; i += blockDim.x) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    if (tables.slot_root[i] == slot) {
      const uint32_t run = tables.slot_run[i];
      tell_label(tiles.slot_label + slot, label_of(tables, run, tile.run[run].row()));
    }
  }
}

/// Measures the tile's components, a window of them at a time; `has_sums` tells that the first window's sums
/// are there. Returns the last window, which is left to finish_components().
template <uint32_t kWords, typename Tile>
__device__ SumsWindow<kWords> measure_tile(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                           const Place& place, bool has_sums, Tile& tile) {
  auto window = window_from<kWords>(0, tile);
  while (true) {
    if (!has_sums) {
      clear_sums<Tile>(window);
      __syncthreads();
      measure_runs(tiles, emitter.settings, place, window, tile);
      __syncthreads();
    }
    measure_slots(tiles, place, window, tile);
    if (window.end == tile.n_components) {
      return window;
    }
    finish_components(tiles, emitter, inker, place, window, tile);
    __syncthreads();
    window = window_from<kWords>(window.end, tile);
    has_sums = false;
  }
}

}  // namespace ccl::device::runs
