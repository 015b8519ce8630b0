// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 4: the sums of the tile's components.
///
/// Each run has sums in closed form, which are added up in shared memory, in the room behind the tile's runs.
/// The room holds a *batch* of components; most tiles have one batch. The sums of nodes are added to those of
/// their root nodes in device memory.
#pragma once

#include "device/runs/forest.cuh"
#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// If at least this many lanes of a warp have the same component, they are added up within the warp first.
inline constexpr uint32_t kManyLanes = 4;

/// The components from `begin` to `end`, whose sums are in shared memory.
template <uint32_t kWords>
struct SumsBatch {
  /// A component's sums and its root: an odd number of words, so that components spread over all banks of
  /// shared memory.
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
__device__ SumsBatch<kWords> batch_from(uint32_t begin, Tile& tile) {
  using Component = typename SumsBatch<kWords>::Component;
  TileRun* first = tile.run + tile.n_runs;
  const auto n_bytes =
      static_cast<uint32_t>(reinterpret_cast<char*>(&tile.tables) - reinterpret_cast<char*>(first));
  return {begin, min(begin + n_bytes / static_cast<uint32_t>(sizeof(Component)), tile.n_components),
          reinterpret_cast<Component*>(first)};
}

template <typename Tile, uint32_t kWords>
__device__ void clear_sums(const SumsBatch<kWords>& batch) {
  constexpr uint32_t kDistance = sizeof(typename SumsBatch<kWords>::Component) / sizeof(uint32_t);
  auto* words = reinterpret_cast<uint32_t*>(batch.components);
  for (uint32_t i = threadIdx.x; i < (batch.end - batch.begin) * kDistance; i += blockDim.x) {
    words[i] = i % kDistance == TileSums::kXMin ? Tile::kWidth : 0;
  }
}

/// Where a word span begins.
struct SpanStart {
  uint32_t run;  ///< kMaxRuns: no span
  uint32_t band;
  uint32_t column;
};

/// Of the i-th of a tile's words and runs: for a word, the span with which a run continues into it, if one
/// does; for a run, its first span.
template <typename Tile>
__device__ SpanStart span_start(const Tile& tile, uint32_t n_words, uint32_t i) {
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

/// Adds up the runs, and writes the roots of the batch's components. Runs are measured by word spans: the
/// first span of each run and each further span have a thread of their own, so that long runs take no longer.
template <typename Tile, uint32_t kWords, typename AnyFilter>
__device__ void measure_runs(const Tiles& tiles, Connectivity connectivity, const AnyFilter& filter,
                             const Place& place, const SumsBatch<kWords>& batch, const Tile& tile) {
  const uint32_t n_words = tiles.rows / Tile::kBandRows * Tile::kRowWords;
  for (uint32_t i = threadIdx.x; i / kWarpSize * kWarpSize < n_words + tile.n_runs; i += blockDim.x) {
    const auto [run, band, column] = span_start(tile, n_words, i);
    const uint32_t component =
        run < Tile::kMaxRuns ? tile.components_before(tile.root_of(run)) : Tile::kMaxRuns;
    const uint32_t lanes = __ballot_sync(kAllLanes, batch.has(component));
    if (!batch.has(component)) {
      continue;
    }
    if (i >= n_words && tile.is_root_run(run)) {
      batch.of(component).root = run;
    }
    uint32_t words[kWords];
    const WordSpan span = span_from(tile, band, column);
    sums_of_span(tiles, connectivity, place, tile, span, words);
    if constexpr (kIsFull<AnyFilter> && Tile::kKind != RunKind::kValue) {
      if (filter.strong != nullptr) {
        words[TileSums::kArea] += count_strong(filter.strong, tiles, place, tile, span)
                                  << TileSums::kAreaBits;
      }
    }
    if (reduce_alike(lanes, component, kManyLanes, words)) {
      add(words, batch.of(component).words);
    }
  }
}

/// Measures the components of a batch.
template <typename Tile, uint32_t kWords, typename AnyFilter>
__device__ void measure_batch(const Tiles& tiles, Connectivity connectivity, const AnyFilter& filter,
                              const Place& place, const SumsBatch<kWords>& batch, const Tile& tile) {
  clear_sums<Tile>(batch);
  __syncthreads();
  measure_runs(tiles, connectivity, filter, place, batch, tile);
  __syncthreads();
}

/// Clears the sums and the labels of the tile's nodes, before other blocks add to them and wait for them.
template <uint32_t kWords, typename Tile>
__device__ void clear_nodes(const Tiles& tiles, const Place& place, const Tile& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_nodes; i += blockDim.x) {
    const uint32_t node = place.index * tiles.max_nodes + i;
    tiles.node_label[node] = 0;
    for (uint32_t word = 0; word < kWords; ++word) {
      *tiles.node_sum(word, node) = word == TileSums::kXMin ? tiles.frame.width : 0;
    }
  }
}

/// Adds sums to those of a node in device memory.
template <uint32_t kWords>
__device__ void add_to_node(const Tiles& tiles, uint32_t node, const FrameSums<kWords>& sums) {
  for (uint32_t word = 0; word < kWords; ++word) {
    auto* to = reinterpret_cast<unsigned long long*>(tiles.node_sum(word, node));
    if (is_sum(word)) {
      atomicAdd(to, sums[word]);
    } else if (word == TileSums::kXMin) {
      atomicMin(to, sums[word]);
    } else {
      atomicMax(to, sums[word]);
    }
  }
}

/// Adds the sums of the batch's nodes to those of their root nodes. If several nodes of a warp have the same
/// root node, as in a large component, they are added up first. This is thread `thread` of `n_threads`, which
/// are whole warps and have found the root nodes.
template <typename Tile, uint32_t kWords>
__device__ void measure_nodes(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                              const SumsBatch<kWords>& batch, const Tile& tile) {
  for (uint32_t i = thread; i / kWarpSize * kWarpSize < tile.n_nodes; i += n_threads) {
    const uint32_t root = i < tile.n_nodes ? tile.tables.node_run[i] : 0;
    const uint32_t component = tile.components_before(root);
    const bool is_here = i < tile.n_nodes && batch.has(component);
    const uint32_t lanes = __ballot_sync(kAllLanes, is_here);
    if (!is_here) {
      continue;
    }
    uint32_t words[kWords];
    for (uint32_t word = 0; word < kWords; ++word) {
      words[word] = batch.of(component).words[word];
    }
    const uint32_t node_root = tile.tables.node_root[i];
    if (reduce_alike(lanes, node_root, 2, words)) {
      FrameSums<kWords> sums;
      to_frame(place, words, sums);
      add_to_node(tiles, node_root, sums);
    }
  }
}

}  // namespace ccl::device::runs
