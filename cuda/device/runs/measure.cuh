// SPDX-License-Identifier: LGPL-2.1-or-later
/// Third step of the run-based pipeline: labels and sums of the tile's components.
///
/// Runs have sums in closed form, which are added up in shared memory: in the room that the tile's runs
/// leave, which holds a window of its components at a time. Most tiles have no more. Sums of components
/// at borders go on to their root's in device memory.
#pragma once

#include "device/runs/forest.cuh"
#include "device/runs/number.cuh"
#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// So many lanes of a warp with the same component are added up among them first.
inline constexpr uint32_t kManyLanes = 4;

/// The components from `begin` to `end`, whose sums have their place.
template <uint32_t kWords>
struct SumsWindow {
  /// A component's sums and its root, an odd number of words from those of the next one, so that they spread
  /// over all banks of shared memory.
  struct Component {
    uint32_t words[kWords];
    uint32_t root;
  };
  static_assert(sizeof(Component) / sizeof(uint32_t) % 2 == 1);

  uint32_t begin, end;
  Component* components;

  __device__ bool has(uint32_t component) const { return component - begin < end - begin; }
  __device__ Component& of(uint32_t component) const { return components[component - begin]; }
};

template <uint32_t kWords, typename Tile>
__device__ SumsWindow<kWords> window_from(uint32_t begin, Tile& tile) {
  using Component = typename SumsWindow<kWords>::Component;
  TileRun* first = tile.run + tile.n_runs;
  const auto n_bytes =
      static_cast<uint32_t>(reinterpret_cast<char*>(&tile.tables) - reinterpret_cast<char*>(first));
  return {begin, min(begin + n_bytes / static_cast<uint32_t>(sizeof(Component)), tile.n_components),
          reinterpret_cast<Component*>(first)};
}

/// Makes the sums ready.
template <typename Tile, uint32_t kWords>
__device__ void clear_sums(const SumsWindow<kWords>& window) {
  constexpr uint32_t kDistance = sizeof(typename SumsWindow<kWords>::Component) / sizeof(uint32_t);
  auto* words = reinterpret_cast<uint32_t*>(window.components);
  for (uint32_t i = threadIdx.x; i < (window.end - window.begin) * kDistance; i += blockDim.x) {
    words[i] = i % kDistance == TileSums::kXMin ? Tile::kWidth : 0;
  }
}

/// Where a piece of a run begins: what of it lies in one word.
struct PieceStart {
  uint32_t run;  ///< kMaxRuns: there is no piece
  uint32_t band;
  uint32_t column;
};

/// The i-th of a tile's words and runs: the piece with which a run goes on into the word, if there is one, or
/// the run's first one.
template <typename Tile>
__device__ PieceStart piece_start(const Tile& tile, uint32_t n_words, uint32_t i) {
  if (i < n_words) {
    const uint32_t band = i / Tile::kRowWords;
    const uint32_t word = i % Tile::kRowWords;
    const bool goes_on = (tile.stops_in(band, word) & 1) == 0 && (tile.starts[i] & 1) == 0;
    const uint32_t column = word * kWordBits;
    return {goes_on ? tile.run_at(band, column) : Tile::kMaxRuns, band, column};
  }
  const uint32_t run = i - n_words;
  if (run >= tile.n_runs) {
    return {Tile::kMaxRuns, 0, 0};
  }
  return {run, tile.run[run].row() / Tile::kBandRows, tile.run[run].first()};
}

/// Adds up the runs, and notes the roots of components. Runs go by their pieces: a thread to each run's first
/// one, and another to each word that one goes on in, so that long runs take no longer.
template <typename Tile, uint32_t kWords>
__device__ void measure_runs(const Tiles& tiles, Connectivity connectivity, const Place& place,
                             const SumsWindow<kWords>& window, const Tile& tile) {
  const uint32_t n_words = tiles.rows / Tile::kBandRows * Tile::kRowWords;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < n_words + tile.n_runs; i += blockDim.x) {
    const auto [run, band, column] = piece_start(tile, n_words, i);
    const uint32_t component =
        run < Tile::kMaxRuns ? tile.components_before(tile.root_of(run)) : Tile::kMaxRuns;
    const uint32_t lanes = __ballot_sync(kAllLanes, window.has(component));
    if (!window.has(component)) {
      continue;
    }
    if (i >= n_words && tile.is_root_run(run)) {
      window.of(component).root = run;
    }
    uint32_t words[kWords];
    sums_of_piece(tiles, connectivity, place, tile, piece_from(tile, band, column), words);
    if (reduce_alike(lanes, component, kManyLanes, words)) {
      add(words, window.of(component).words);
    }
  }
}

/// Measures what the window has, from the start.
template <typename Tile, uint32_t kWords>
__device__ void measure_window(const Tiles& tiles, Connectivity connectivity, const Place& place,
                               const SumsWindow<kWords>& window, const Tile& tile) {
  clear_sums<Tile>(window);
  __syncthreads();
  measure_runs(tiles, connectivity, place, window, tile);
  __syncthreads();
}

/// Adds a tile's sums to those of a slot in device memory.
template <uint32_t kWords>
__device__ void add_to_slot(const Tiles& tiles, uint32_t slot, const FrameSums<kWords>& sums) {
  for (uint32_t word = 0; word < kWords; ++word) {
    auto* to = reinterpret_cast<unsigned long long*>(tiles.slot_sum(word, slot));
    if (is_sum(word)) {
      atomicAdd(to, sums[word]);
    } else if (word == TileSums::kXMin) {
      atomicMin(to, sums[word]);
    } else {
      atomicMax(to, sums[word]);
    }
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

/// Finds the roots of the tile's slots, each from where it got on the way. Components that go on one of
/// another tile do not begin here. This is thread `thread` of `n_threads`.
template <typename Tile>
__device__ void find_slots(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                           Tile& tile) {
  auto& tables = tile.tables;
  for (uint32_t i = thread; i < tile.n_slots; i += n_threads) {
    tables.slot_root[i] = slot_of(find_root(tiles.parent, tables.slot_root[i]));
    if (tables.slot_root[i] != place.index * tiles.max_slots + i) {
      const uint32_t run = tables.slot_run[i];
      atomicAnd(tables.is_first + run / kWordBits, ~(1u << run % kWordBits));
    }
  }
}

/// Brings the sums of shared components to their roots. Where several of a warp have the same root, as in a
/// large component, these are added up first. This is thread `thread` of `n_threads`, which are whole warps
/// and have found the roots.
template <typename Tile, uint32_t kWords>
__device__ void measure_slots(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                              const SumsWindow<kWords>& window, const Tile& tile) {
  for (uint32_t i = thread; i / kWarpSize * kWarpSize < tile.n_slots; i += n_threads) {
    const uint32_t root = i < tile.n_slots ? tile.tables.slot_run[i] : 0;
    const uint32_t component = tile.components_before(root);
    const bool is_here = i < tile.n_slots && window.has(component);
    const uint32_t lanes = __ballot_sync(kAllLanes, is_here);
    if (!is_here) {
      continue;
    }
    uint32_t words[kWords];
    for (uint32_t word = 0; word < kWords; ++word) {
      words[word] = window.of(component).words[word];
    }
    const uint32_t slot_root = tile.tables.slot_root[i];
    if (reduce_alike(lanes, slot_root, 2, words)) {
      FrameSums<kWords> sums;
      to_frame(place, words, sums);
      add_to_slot(tiles, slot_root, sums);
    }
  }
}

/// No label begins in an empty tile; but the first one counts all of the frame.
template <typename Tile>
__device__ bool has_nothing_to_count(const Place& place, const Tile& tile) {
  return tile.n_runs == 0 && place.index != 0;
}

/// Gathers what the merged tiles tell: the roots of the tile's slots and the counts that its labels follow
/// from. Shared components bring the window's sums to their roots.
template <uint32_t kWords, typename Tile>
__device__ void gather(const Tiles& tiles, const Place& place, const SumsWindow<kWords>& window, Tile& tile) {
  // Different warps load different things, so that all are under way at once.
  constexpr uint32_t kSlotThreads = 4 * kWarpSize;
  constexpr uint32_t kTileThreads = 4 * kWarpSize;
  constexpr uint32_t kRowThreads = threads_for(Tile::kWidth) - kSlotThreads - kTileThreads;
  if (threadIdx.x < kSlotThreads) {
    find_slots(tiles, place, threadIdx.x, kSlotThreads, tile);
    measure_slots(tiles, place, threadIdx.x, kSlotThreads, window, tile);
    return;
  }
  if (has_nothing_to_count(place, tile)) {
    return;
  }
  auto& tables = tile.tables;
  const bool is_first_tile = place.index == 0;  // above which there are no labels, so it counts them all
  const uint32_t thread = threadIdx.x - kSlotThreads;
  if (thread < kTileThreads) {
    add_tile_counts(tiles, is_first_tile ? tiles.count() : place.strip * tiles.columns, thread, kTileThreads,
                    is_first_tile ? &tables.n_labels : &tables.strip_base);
  } else {
    add_row_counts(tiles, place, thread - kTileThreads, kRowThreads, tables);
  }
}

/// Numbers the components that begin in the tile, and if it `tells_labels`, tells other blocks those of
/// shared ones.
template <typename Tile>
__device__ void number_tile(const Tiles& tiles, const Emitter& emitter, const Place& place, bool tells_labels,
                            Tile& tile) {
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
    tell_counts(emitter, tables.n_labels);
  }
  __syncthreads();
  if (!tells_labels) {
    return;
  }
  for (uint32_t i = first_slot_of_thread(); i < tile.n_slots; i += blockDim.x) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    if (tables.slot_root[i] == slot) {
      const uint32_t run = tables.slot_run[i];
      tell_label(tiles.slot_label + slot, label_of(tables, run, tile.run[run].row()));
    }
  }
}

}  // namespace ccl::device::runs
