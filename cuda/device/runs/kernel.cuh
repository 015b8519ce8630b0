// SPDX-License-Identifier: LGPL-2.1-or-later
/// All steps of a frame in one kernel, whose blocks wait for one another between the steps:
///
///     label     frame → bits, runs, components of each tile
///     publish   nodes of the components at borders, components that begin in each row
///     merge     nodes that meet → one component, counted where it begins
///     measure   runs → sums of components; sums of nodes → sums of their root nodes
///     number    counts → canonical labels
///     records   sums → records
///     paint     labels → paint values → pixels
///
/// A block keeps its tile in shared memory from the first step to the last. If there are more tiles than
/// resident blocks, each block processes several tiles in every step and parks them in device memory in
/// between.
#pragma once

#include <type_traits>

#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/runs/batch.h"
#include "device/runs/form.h"
#include "device/runs/label.cuh"
#include "device/runs/measure.cuh"
#include "device/runs/merge.cuh"
#include "device/runs/number.cuh"
#include "device/runs/paint.cuh"
#include "device/runs/park.cuh"
#include "device/runs/publish.cuh"
#include "device/runs/records.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// The connectivity. For binary foreground the kind of runs implies it; see dispatch.cu.
template <typename Tile>
__device__ Connectivity connectivity_of(const KernelSettings& settings) {
  return Tile::kKind == RunKind::kPair  ? Connectivity::k8
         : Tile::kKind == RunKind::kRow ? Connectivity::k4
                                        : settings.connectivity;
}

/// Labels a tile and publishes it.
template <bool kHasFeatures, typename Tile>
__device__ void begin_tile(const Tiles& tiles, const uint32_t* frame_bits, bool has_bits, const Place& place,
                           Connectivity connectivity, Tile& tile) {
  uint32_t first_word = 0;
  if (has_bits) {
    first_word = load_tile_word<Tile>(tiles, frame_bits, place, threadIdx.x);  // with the loads of the halo
  }
  if constexpr (kHasFeatures && Tile::kKind != RunKind::kValue) {
    if (has_bits) {
      load_halo(tiles, frame_bits, place, tile);
    } else {
      pack_halo(tiles, place, tile);
    }
  }
  BorderRoots<Tile> border_roots;
  label_tile(tiles, frame_bits, has_bits, place, first_word, connectivity, tile, border_roots);
  publish_tile(tiles, place, tile, border_roots);
}

/// Collects what follows from merged tiles: the root nodes of the tile's nodes, and the counts that its
/// labels depend on. Adds the sums of the batch's nodes to those of their root nodes.
template <uint32_t kWords, typename Tile>
__device__ void collect(const Tiles& tiles, const Place& place, const SumsBatch<kWords>& batch, Tile& tile) {
  // Different warps load different things, so that all loads are in flight at once.
  constexpr uint32_t kNodeThreads = 4 * kWarpSize;
  constexpr uint32_t kTileThreads = 4 * kWarpSize;
  constexpr uint32_t kRowThreads = threads_for(Tile::kWidth) - kNodeThreads - kTileThreads;
  if (threadIdx.x < kNodeThreads) {
    find_node_roots(tiles, place, threadIdx.x, kNodeThreads, tile);
    measure_nodes(tiles, place, threadIdx.x, kNodeThreads, batch, tile);
    return;
  }
  if (has_nothing_to_count(place, tile)) {
    return;
  }
  auto& tables = tile.tables;
  const bool is_first_tile = place.index == 0;  // no labels begin above it, so it counts those of the frame
  const uint32_t thread = threadIdx.x - kNodeThreads;
  if (thread < kTileThreads) {
    add_tile_counts(tiles, is_first_tile ? tiles.count() : place.strip * tiles.columns, thread, kTileThreads,
                    is_first_tile ? &tables.n_labels : &tables.strip_base);
  } else {
    add_row_counts(tiles, place, thread - kTileThreads, kRowThreads, tables);
  }
}

/// From a merged tile, whose first batch is measured, to records and paint values of its own components, one
/// batch at a time; if the plan paints first, also to the tile's pixels and to records of shared components.
/// The block of a resident tile arrives at the last barrier as soon as it has added its part to the sums of
/// all root nodes. The caller passes the result to wait(), unless the plan paints first.
template <uint32_t kWords, typename Tile, typename AnyFilter>
__device__ uint32_t finish_tile(const Tiles& tiles, const Emitter& emitter, const PaintRule& rule,
                                const AnyFilter& filter, const Place& place, const FinishPlan& plan,
                                Tile& tile, uint8_t* pixels) {
  auto batch = batch_from<kWords>(0, tile);
  const auto is_last = [&] { return batch.end == tile.n_components; };
  uint32_t summed = 0;
  collect(tiles, place, batch, tile);
  if (plan.is_resident && is_last()) {
    summed = plan.barrier.arrive();
  } else {
    __syncthreads();
  }
  number_tile(tiles, emitter, place, !plan.keeps_runs, tile);

  // The same instructions make all records: they are many, and a block waits for each instruction that it
  // runs for the first time.
  bool are_shared = false;
#pragma unroll 1
  while (true) {
    emit_components(tiles, emitter, rule, filter, place, plan, batch, are_shared, tile);
    if (are_shared || (is_last() && !plan.paints_first)) {
      return summed;
    }
    if (is_last()) {
      paint_runs(tiles, rule, filter, place, tile, pixels);
      are_shared = true;
      continue;
    }
    __syncthreads();
    batch = batch_from<kWords>(batch.end, tile);
    measure_batch(tiles, connectivity_of<Tile>(emitter.settings), filter, place, batch, tile);
    measure_nodes(tiles, place, threadIdx.x, blockDim.x, batch, tile);
    if (plan.is_resident && is_last()) {
      summed = plan.barrier.arrive();
    }
  }
}

/// All steps of a frame that has a block for each tile.
template <typename Tile, bool kHasFeatures, typename AnyFilter>
__device__ void process_resident(const Tiles& tiles, const Emitter& emitter, const PaintRule& rule,
                                 const AnyFilter& filter, Tile& tile, uint8_t* pixels,
                                 const uint32_t* frame_bits, bool has_bits) {
  constexpr uint32_t kWords = kHasFeatures ? TileSums::kAllWords : TileSums::kBasicWords;
  const GridBarrier barrier(tiles.arrivals);
  const Connectivity connectivity = connectivity_of<Tile>(emitter.settings);
  const Place place = place_of(tiles, blockIdx.x);

  reset_counts<AnyFilter>(emitter);
  begin_tile<kHasFeatures>(tiles, frame_bits, has_bits, place, connectivity, tile);
  const auto batch = batch_from<kWords>(0, tile);
  clear_sums<Tile>(batch);

  const uint32_t published = barrier.arrive();
  clear_nodes<kWords>(tiles, place, tile);  // what needs no other tile, while these are published
  measure_runs(tiles, connectivity, filter, place, batch, tile);
  const uint32_t phase = barrier.wait(published);

  merge_borders<Tile>(tiles, connectivity, place);
  const uint32_t merged = barrier.arrive();
  prepare_numbers(tile);
  barrier.wait(merged, [&] { climb(tiles, place, tile); });

  const FinishPlan plan{.barrier = barrier,
                        .is_resident = true,
                        .paints_first = !rule.needs_areas,
                        .keeps_runs = rule.mode == PaintMode::kNone,
                        .phase = phase};  // the third barrier has the phase of the first
  const uint32_t summed = finish_tile<kWords>(tiles, emitter, rule, filter, place, plan, tile, pixels);
  if (plan.paints_first) {
    return;
  }
  barrier.wait(summed);
  paint_runs(tiles, rule, filter, place, tile, pixels);
  emit_components(tiles, emitter, rule, filter, place, plan, SumsBatch<kWords>{}, true, tile);
}

/// All steps of a frame that has more tiles than blocks.
template <typename Tile, bool kHasFeatures, typename AnyFilter>
__device__ void process_parked(const Tiles& tiles, const Emitter& emitter, const PaintRule& rule,
                               const AnyFilter& filter, Tile& tile, uint8_t* pixels,
                               const uint32_t* frame_bits, bool has_bits) {
  constexpr uint32_t kWords = kHasFeatures ? TileSums::kAllWords : TileSums::kBasicWords;
  const GridBarrier barrier(tiles.arrivals);
  const Connectivity connectivity = connectivity_of<Tile>(emitter.settings);
  const auto for_each_tile = [&](auto visit) {
    for (uint32_t index = blockIdx.x; index < tiles.count(); index += gridDim.x) {
      visit(place_of(tiles, index));
    }
  };

  reset_counts<AnyFilter>(emitter);
  for_each_tile([&](const Place& place) {
    begin_tile<kHasFeatures>(tiles, frame_bits, has_bits, place, connectivity, tile);
    clear_nodes<kWords>(tiles, place, tile);
    park(tiles, place.index, tile);
  });
  const uint32_t phase = barrier.wait(barrier.arrive());

  for_each_tile([&](const Place& place) { merge_borders<Tile>(tiles, connectivity, place); });
  barrier.wait(barrier.arrive());

  const FinishPlan plan{
      .barrier = barrier, .is_resident = false, .paints_first = false, .keeps_runs = false, .phase = phase};
  for_each_tile([&](const Place& place) {
    restore(tiles, place, tile);
    prepare_numbers(tile);
    measure_batch(tiles, connectivity, filter, place, batch_from<kWords>(0, tile), tile);
    finish_tile<kWords>(tiles, emitter, rule, filter, place, plan, tile, pixels);
    park(tiles, place.index, tile);
  });
  barrier.wait(barrier.arrive());

  for_each_tile([&](const Place& place) {
    restore(tiles, place, tile);
    find_node_roots(tiles, place, threadIdx.x, blockDim.x, tile);
    __syncthreads();
    paint_runs(tiles, rule, filter, place, tile, pixels);
    emit_components(tiles, emitter, rule, filter, place, plan, SumsBatch<kWords>{}, true, tile);
  });
}

/// `kHasFeatures`: whether a feature is asked for, or read by the filter. `frame_bits`: the frame's bit
/// image, or null. `filter`: for kernels of a full filter.
template <typename Tile, bool kHasFeatures, Form kForm>
__global__ void __launch_bounds__(threads_for(Tile::kWidth), kBlocksPerMultiprocessor)
    process(Tiles tiles, Emitter emitter, PaintRule rule, uint8_t* pixels, const uint32_t* frame_bits,
            FullFilter filter) {
  extern __shared__ uint4 memory[];
  auto& tile = *reinterpret_cast<Tile*>(memory);
  assume<kForm>(tiles, emitter, rule);
  const bool has_bits =
      Tile::kKind != RunKind::kValue && (is_plain(kForm) ? kForm == Form::kBits : frame_bits != nullptr);
  if (has_bits) {
    wait_for_previous_kernel();  // which writes the bits
  }
  std::conditional_t<has_full_filter(kForm), FullFilter, NoFullFilter> used_filter;
  if constexpr (has_full_filter(kForm)) {
    used_filter = filter;
  }
  if constexpr (has_resident_tiles(kForm)) {
    process_resident<Tile, kHasFeatures>(tiles, emitter, rule, used_filter, tile, pixels, frame_bits,
                                         has_bits);
  } else {
    process_parked<Tile, kHasFeatures>(tiles, emitter, rule, used_filter, tile, pixels, frame_bits, has_bits);
  }
}

/// The tiles with a set of their memory that lies so many bytes behind the first one.
__device__ inline Tiles with_set(Tiles tiles, size_t bytes) {
  const auto move = [bytes](auto*& array) {
    array =
        reinterpret_cast<std::remove_reference_t<decltype(array)>>(reinterpret_cast<char*>(array) + bytes);
  };
  move(tiles.top);
  move(tiles.bottom);
  move(tiles.left);
  move(tiles.right);
  move(tiles.parent);
  move(tiles.node_sums);
  move(tiles.node_label);
  move(tiles.row_counts);
  move(tiles.tile_counts);
  move(tiles.arrivals);
  return tiles;
}

/// All steps of the frames of a batch, whose records and counts lie one behind the other.
template <typename Tile, bool kHasFeatures, Form kForm>
__global__ void __launch_bounds__(threads_for(Tile::kWidth), kBlocksPerMultiprocessor)
    process_batch(Tiles tiles, Emitter emitter, PaintRule rule, const __grid_constant__ Batch batch) {
  extern __shared__ uint4 memory[];
  auto& tile = *reinterpret_cast<Tile*>(memory);
  assume<kForm>(tiles, emitter, rule);
  const Emitter of_first = emitter;
  uint32_t set = Batch::kSets * blockIdx.y;
  for (uint32_t i = blockIdx.y; i < batch.n_frames; i += gridDim.y, set ^= 1) {
    Tiles of_frame = with_set(tiles, set * batch.set_bytes);
    of_frame.frame.pixels = batch.frames[i].input;
    emitter.records = of_first.records + size_t{i} * emitter.max_components;
    emitter.counts = of_first.counts + i;
    __syncthreads();  // all threads have left the frame before
    process_resident<Tile, kHasFeatures>(of_frame, emitter, rule, NoFullFilter(), tile,
                                         batch.frames[i].output, nullptr, false);
  }
}

}  // namespace ccl::device::runs
