// SPDX-License-Identifier: LGPL-2.1-or-later
/// The steps of the run-based pipeline in their order: one kernel, whose blocks wait for one another
/// between the steps. A block keeps its tile in shared memory; where there are more tiles than blocks,
/// it parks each of its tiles in device memory while it is at the others.
#include <algorithm>
#include <limits>

#include "device/check.h"
#include "device/grid_barrier.cuh"
#include "device/runs.h"
#include "device/runs_finish.cuh"
#include "device/runs_label.cuh"
#include "device/runs_measure.cuh"
#include "device/runs_merge.cuh"
#include "device/runs_publish.cuh"
#include "device/runs_tile.cuh"

namespace ccl::device::runs {

namespace {

/// Twice as many threads to a multiprocessor would leave each with too few registers.
constexpr uint32_t kMaxThreads = 512;
constexpr uint32_t kMinBlocks = 2;

/// Makes ready what the frame's components will be counted and marked in.
__device__ void reset_counts(const Emitter& emitter) {
  if (emitter.emission != Emission::kAppended) {
    return;
  }
  const uint32_t thread = blockIdx.x * blockDim.x + threadIdx.x;
  for (uint32_t word = thread; word <= emitter.max_labels / kWordBits; word += gridDim.x * blockDim.x) {
    emitter.is_left[word] = 0;
  }
  if (thread == 0) {
    emitter.counts->n_components = 0;
  }
}

template <RunKind kKind, bool kAll>
__global__ void __launch_bounds__(kMaxThreads, kMinBlocks)
    process(Tiles tiles, Emitter emitter, Inker inker, uint8_t* pixels) {
  constexpr uint32_t kWords = kAll ? TileSums::kAllWords : TileSums::kBasicWords;
  extern __shared__ uint4 memory[];
  auto& tile = *reinterpret_cast<Tile<kKind>*>(memory);
  const GridBarrier barrier(tiles.arrivals);
  const Connectivity connectivity = emitter.settings.connectivity;
  const uint32_t n_tiles = tiles.count();
  const bool has_one = n_tiles <= gridDim.x;

  reset_counts(emitter);
  for (uint32_t index = blockIdx.x; index < n_tiles; index += gridDim.x) {
    const Place place = place_of(tiles, index);
    if constexpr (kAll && kKind != RunKind::kValue) {
      pack_halo(tiles, place, tile.halo);
    }
    label_tile(tiles, place, connectivity, tile);
    publish_tile(tiles, place, tile);
    if (!has_one) {
      park(tiles, index, tile);
    }
  }
  const uint32_t published = barrier.arrive();
  if (has_one) {  // sums can be had without the other tiles
    measure_runs(tiles, emitter.settings, place_of(tiles, blockIdx.x), window_from<kWords>(0, tile), tile);
  }
  barrier.wait(published);

  for (uint32_t index = blockIdx.x; index < n_tiles; index += gridDim.x) {
    merge_borders<kKind>(tiles, connectivity, place_of(tiles, index));
  }
  const uint32_t merged = barrier.arrive();
  if (has_one) {
    prepare_numbers(tile);
    barrier.wait(merged, [&] { climb(tiles, place_of(tiles, blockIdx.x), tile); });
  } else {
    barrier.wait(merged);
  }

  const bool paints_first = has_one && !inker.needs_areas;
  uint32_t summed = 0;
  for (uint32_t index = blockIdx.x; index < n_tiles; index += gridDim.x) {
    const Place place = place_of(tiles, index);
    if (!has_one) {
      fetch(tiles, index, tile);
      number_roots(tile);
      __syncthreads();
      list_slots(tiles, place, tile);
      prepare_numbers(tile);
      __syncthreads();
    }
    number_tile(tiles, emitter, place, tile);
    SumsWindow<kWords> window{};
    do {
      window = window_from<kWords>(window.end, tile);
      if (window.begin > 0 || !has_one) {
        measure_runs(tiles, emitter.settings, place, window, tile);
      }
      measure_slots(tiles, place, window, tile);
      finish_components(tiles, emitter, inker, place, window, tile);
      __syncthreads();
      if (paints_first && window.end == tile.n_components) {
        summed = barrier.arrive();
      }
    } while (window.end < tile.n_components);
    if (!has_one) {
      park(tiles, index, tile);
    }
  }
  if (!paints_first) {
    barrier.sync();
  }

  for (uint32_t index = blockIdx.x; index < n_tiles; index += gridDim.x) {
    const Place place = place_of(tiles, index);
    if (!has_one) {
      fetch(tiles, index, tile);
      number_roots(tile);
      __syncthreads();
      list_slots(tiles, place, tile);
      __syncthreads();
      find_slots(tiles, place, tile);
      __syncthreads();
    }
    ink_runs(tiles, inker, tile);
    __syncthreads();
    paint_tile(tiles, inker, place, tile, pixels);
    if (paints_first) {
      barrier.wait(summed);
    }
    emit_slots<kAll>(tiles, emitter, place, tile);
  }
}

using Kernel = void (*)(Tiles, Emitter, Inker, uint8_t*);

template <RunKind kKind>
Kernel kernel_of(bool has_features) {
  return has_features ? process<kKind, true> : process<kKind, false>;
}

Kernel kernel_for(RunKind kind, bool has_features) {
  switch (kind) {
    case RunKind::kRow:
      return kernel_of<RunKind::kRow>(has_features);
    case RunKind::kPair:
      return kernel_of<RunKind::kPair>(has_features);
    case RunKind::kValue:
      break;
  }
  return kernel_of<RunKind::kValue>(has_features);
}

RunKind kind_of(bool has_values, Connectivity connectivity) {
  return has_values ? RunKind::kValue : connectivity == Connectivity::k8 ? RunKind::kPair : RunKind::kRow;
}

size_t shared_bytes(RunKind kind) {
  switch (kind) {
    case RunKind::kRow:
      return sizeof(Tile<RunKind::kRow>);
    case RunKind::kPair:
      return sizeof(Tile<RunKind::kPair>);
    case RunKind::kValue:
      break;
  }
  return sizeof(Tile<RunKind::kValue>);
}

}  // namespace

Status find_residence(bool has_values, uint32_t threads, Residence* residence) {
  int device = 0;
  int n_multiprocessors = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(
      check(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute"));
  int n_blocks = std::numeric_limits<int>::max();
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    const RunKind kind = kind_of(has_values, connectivity);
    for (const bool has_features : {false, true}) {
      const Kernel kernel = kernel_for(kind, has_features);
      const size_t bytes = shared_bytes(kind);
      CCL_RETURN_IF_ERROR(check(
          cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
          "cudaFuncSetAttribute of runs"));
      int n = 0;
      CCL_RETURN_IF_ERROR(
          check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, kernel, static_cast<int>(threads), bytes),
                "cudaOccupancyMaxActiveBlocksPerMultiprocessor of runs"));
      n_blocks = std::min(n_blocks, n);
    }
  }
  *residence = {static_cast<uint32_t>(n_blocks * n_multiprocessors), threads};
  return {};
}

size_t parked_bytes(bool has_values, uint32_t max_runs) {
  static_assert(pieces_of<RunKind::kPair>(0) <= pieces_of<RunKind::kRow>(0));  // and they have fewer runs
  return sizeof(uint4) *
         (has_values ? pieces_of<RunKind::kValue>(max_runs) : pieces_of<RunKind::kRow>(max_runs));
}

Status process_tiles(const Tiles& tiles, const Residence& residence, const Emitter& emitter,
                     const Inker& inker, uint8_t* pixels, cudaStream_t stream) {
  const RunKind kind =
      kind_of(tiles.frame.rule.foreground == Foreground::kValues, emitter.settings.connectivity);
  const bool has_features = emitter.settings.features != 0 && emitter.emission != Emission::kNone;
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(std::min(residence.blocks, tiles.count()));
  config.blockDim = dim3(residence.threads);
  config.dynamicSmemBytes = shared_bytes(kind);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return check(cudaLaunchKernelEx(&config, kernel_for(kind, has_features), tiles, emitter, inker, pixels),
               "cudaLaunchKernelEx of runs");
}

}  // namespace ccl::device::runs
