// SPDX-License-Identifier: LGPL-2.1-or-later
/// The steps of the run-based pipeline in their order: one kernel, whose blocks wait for one another
/// between the steps. A block keeps its tile in shared memory; where there are more tiles than blocks,
/// it parks each of its tiles in device memory while it is at the others.
#include <algorithm>
#include <limits>

#include "device/check.h"
#include "device/runs/finish.cuh"
#include "device/runs/grid_barrier.cuh"
#include "device/runs/label.cuh"
#include "device/runs/measure.cuh"
#include "device/runs/merge.cuh"
#include "device/runs/publish.cuh"
#include "device/runs/tile.cuh"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kBlocksPerMultiprocessor = 2;

/// The connectivity, which the runs of binary frames tell beforehand; see binary_kernel().
template <typename Tile>
__device__ Connectivity connectivity_of(const Settings& settings) {
  return Tile::kKind == RunKind::kPair  ? Connectivity::k8
         : Tile::kKind == RunKind::kRow ? Connectivity::k4
                                        : settings.connectivity;
}

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

/// Labels a tile, and tells the others.
template <bool kAll, typename Tile>
__device__ void begin_tile(const Tiles& tiles, const Place& place, Connectivity connectivity, Tile& tile) {
  if constexpr (kAll && Tile::kKind != RunKind::kValue) {
    pack_halo(tiles, place, tile);
  }
  BorderRoots<Tile> border_roots;
  label_tile(tiles, place, connectivity, tile, border_roots);
  publish_tile(tiles, place, tile, border_roots);
}

/// Brings a parked tile to where it was when it was published.
template <typename Tile>
__device__ void come_back(const Tiles& tiles, const Place& place, Tile& tile) {
  fetch(tiles, place.index, tile);
  number_roots(tile);
  __syncthreads();
  list_slots(tiles, place, tile, [](uint32_t, uint32_t) {});
  __syncthreads();
}

/// What a frame asks for, as far as there are kernels for it: a block goes through a kernel once, and waits
/// for many of its instructions.
enum class Wish : uint8_t {
  kAny,
  kRecords,  ///< of all components, no pixels; a block for each tile, rows that can be loaded in whole chunks
  kColors,   ///< the same, and pixels with the components' colours
};

Wish wish_of(const Tiles& tiles, uint32_t n_blocks, const Emitter& emitter, const Inker& inker) {
  if (tiles.count() > n_blocks || !tiles.is_aligned || !tiles.has_whole_chunks ||
      emitter.emission != Emission::kByLabel || inker.needs_areas) {
    return Wish::kAny;
  }
  return inker.ink == Ink::kNone ? Wish::kRecords : inker.ink == Ink::kColor ? Wish::kColors : Wish::kAny;
}

/// Tells the compiler what a wish implies, so that it leaves out all else.
template <Wish kWish>
__device__ void assume(Tiles& tiles, Emitter& emitter, Inker& inker) {
  if constexpr (kWish != Wish::kAny) {
    tiles.is_aligned = true;
    tiles.has_whole_chunks = true;
    emitter.emission = Emission::kByLabel;  // nothing is filtered out
    emitter.settings.filter = {.min_area = 0};
    inker.settings = emitter.settings;
    inker.needs_areas = false;
    inker.ink = kWish == Wish::kRecords ? Ink::kNone : Ink::kColor;
  }
}

/// From a merged tile, whose first window is measured, to records and inks of its own components, a window of
/// them at a time. If it paints first, then to its pixels, and to records of shared components. A block that
/// has one tile arrives at the barrier as soon as other blocks have all that it adds to their sums; the
/// result goes to wait(), unless it paints first.
template <uint32_t kWords, typename Tile>
__device__ uint32_t finish_tile(const Tiles& tiles, const Emitter& emitter, const Inker& inker,
                                const Place& place, const Course& course, Tile& tile, uint8_t* pixels) {
  auto window = window_from<kWords>(0, tile);
  const auto is_last = [&] { return window.end == tile.n_components; };
  uint32_t summed = 0;
  gather(tiles, place, window, tile);
  if (course.has_one && is_last()) {
    summed = course.barrier.arrive();
  } else {
    __syncthreads();
  }
  number_tile(tiles, emitter, place, !course.keeps_runs, tile);

  // All records are made by the same instructions: these are many, and a block waits for those it comes to
  // for the first time.
  bool are_shared = false;
#pragma unroll 1
  while (true) {
    emit_components(tiles, emitter, inker, place, course, window, are_shared, tile);
    if (are_shared || (is_last() && !course.paints_first)) {
      return summed;
    }
    if (is_last()) {
      paint_runs(tiles, inker, place, tile, pixels);
      are_shared = true;
      continue;
    }
    __syncthreads();
    window = window_from<kWords>(window.end, tile);
    measure_window(tiles, connectivity_of<Tile>(emitter.settings), place, window, tile);
    measure_slots(tiles, place, threadIdx.x, blockDim.x, window, tile);
    if (course.has_one && is_last()) {
      summed = course.barrier.arrive();
    }
  }
}

/// `turn` is that of the last barrier.
__device__ Course make_course(const Inker& inker, const GridBarrier& barrier, bool has_one, uint32_t turn) {
  return {.barrier = barrier,
          .has_one = has_one,
          .paints_first = has_one && !inker.needs_areas,
          .keeps_runs = has_one && inker.ink == Ink::kNone,
          .turn = turn};
}

/// All steps. `kAll` is whether features are wanted.
template <typename Tile, bool kAll, Wish kWish>
__global__ void __launch_bounds__(threads_for(Tile::kWidth), kBlocksPerMultiprocessor)
    process(Tiles tiles, Emitter emitter, Inker inker, uint8_t* pixels) {
  constexpr uint32_t kWords = kAll ? TileSums::kAllWords : TileSums::kBasicWords;
  extern __shared__ uint4 memory[];
  auto& tile = *reinterpret_cast<Tile*>(memory);
  const GridBarrier barrier(tiles.arrivals);
  const Connectivity connectivity = connectivity_of<Tile>(emitter.settings);
  const uint32_t n_tiles = tiles.count();
  const bool has_one = kWish != Wish::kAny || n_tiles <= gridDim.x;
  const auto for_each_tile = [&](auto visit) {
    if constexpr (kWish != Wish::kAny) {
      visit(place_of(tiles, blockIdx.x));
    } else {
      for (uint32_t index = blockIdx.x; index < n_tiles; index += gridDim.x) {
        visit(place_of(tiles, index));
      }
    }
  };
  assume<kWish>(tiles, emitter, inker);

  reset_counts(emitter);
  for_each_tile([&](const Place& place) {
    begin_tile<kAll>(tiles, place, connectivity, tile);
    if (!has_one) {
      clear_slots<kWords>(tiles, place, tile);
      park(tiles, place.index, tile);
    }
  });
  const auto first_window = window_from<kWords>(0, tile);
  if (has_one) {
    clear_sums<Tile>(first_window);
  }
  const uint32_t published = barrier.arrive();
  if (has_one) {  // all that can be had without the other tiles
    clear_slots<kWords>(tiles, place_of(tiles, blockIdx.x), tile);
    measure_runs(tiles, connectivity, place_of(tiles, blockIdx.x), first_window, tile);
  }
  const uint32_t turn = barrier.wait(published);

  for_each_tile([&](const Place& place) { merge_borders<Tile>(tiles, connectivity, place); });
  const uint32_t merged = barrier.arrive();
  if (has_one) {
    prepare_numbers(tile);
    barrier.wait(merged, [&] { climb(tiles, place_of(tiles, blockIdx.x), tile); });
  } else {
    barrier.wait(merged);
  }

  const Course course = make_course(inker, barrier, has_one, turn);  // the third barrier has the first one's
  uint32_t summed = 0;
  for_each_tile([&](const Place& place) {
    if (!has_one) {
      come_back(tiles, place, tile);
      prepare_numbers(tile);
      measure_window(tiles, connectivity, place, window_from<kWords>(0, tile), tile);
    }
    summed = finish_tile<kWords>(tiles, emitter, inker, place, course, tile, pixels);
    if (!has_one) {
      park(tiles, place.index, tile);
    }
  });
  if (course.paints_first) {
    return;
  }

  if (!has_one) {
    summed = barrier.arrive();
  }
  barrier.wait(summed);
  for_each_tile([&](const Place& place) {
    if (!has_one) {
      come_back(tiles, place, tile);
      find_slots(tiles, place, threadIdx.x, blockDim.x, tile);
      __syncthreads();
    }
    paint_runs(tiles, inker, place, tile, pixels);
    emit_components(tiles, emitter, inker, place, course, SumsWindow<kWords>{}, true, tile);
  });
}

/// A kernel, and the shared memory that its blocks use.
struct Kernel {
  void (*process)(Tiles, Emitter, Inker, uint8_t*);
  size_t tile_bytes;
};

/// What a kernel is made for, but for the width of tiles.
struct Purpose {
  bool has_values;
  Connectivity connectivity;
  bool has_features;
  Wish wish;
};

template <typename Tile, bool kAll>
Kernel kernel_of(const Purpose& purpose) {
  switch (purpose.wish) {
    case Wish::kRecords:
      return {process<Tile, kAll, Wish::kRecords>, sizeof(Tile)};
    case Wish::kColors:
      return {process<Tile, kAll, Wish::kColors>, sizeof(Tile)};
    case Wish::kAny:
      break;
  }
  return {process<Tile, kAll, Wish::kAny>, sizeof(Tile)};
}

template <uint32_t kWidth>
Kernel binary_kernel(const Purpose& purpose) {
  if (purpose.connectivity == Connectivity::k4) {
    return purpose.has_features ? kernel_of<TileOf<RunKind::kRow, kWidth>, true>(purpose)
                                : kernel_of<TileOf<RunKind::kRow, kWidth>, false>(purpose);
  }
  return purpose.has_features ? kernel_of<TileOf<RunKind::kPair, kWidth>, true>(purpose)
                              : kernel_of<TileOf<RunKind::kPair, kWidth>, false>(purpose);
}

Kernel kernel_for(const Purpose& purpose, uint32_t tile_width) {
  if (purpose.has_values) {
    return purpose.has_features ? kernel_of<TileOf<RunKind::kValue, kNarrow>, true>(purpose)
                                : kernel_of<TileOf<RunKind::kValue, kNarrow>, false>(purpose);
  }
  return tile_width == kWide ? binary_kernel<kWide>(purpose) : binary_kernel<kNarrow>(purpose);
}

Status get_attribute(cudaDeviceAttr attribute, int* value) {
  int device = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  return check(cudaDeviceGetAttribute(value, attribute, device), "cudaDeviceGetAttribute");
}

/// The shared memory that blocks of a kernel ask for: so much that no more than kBlocksPerMultiprocessor are
/// on one. Three on some, and one or none on others, would hold up all.
Status find_shared_bytes(const Kernel& kernel, size_t* bytes) {
  int of_multiprocessor = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor, &of_multiprocessor));
  *bytes = std::max(kernel.tile_bytes, size_t(of_multiprocessor) / (kBlocksPerMultiprocessor + 1) + 1);
  return {};
}

}  // namespace

Status find_residence(bool has_values, uint32_t tile_width, uint32_t* n_blocks) {
  int n_multiprocessors = 0;
  int most_bytes = 0;
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin, &most_bytes));
  CCL_RETURN_IF_ERROR(get_attribute(cudaDevAttrMultiProcessorCount, &n_multiprocessors));
  int least = std::numeric_limits<int>::max();
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    for (const bool has_features : {false, true}) {
      for (const Wish wish : {Wish::kAny, Wish::kRecords, Wish::kColors}) {
        const Kernel kernel = kernel_for({has_values, connectivity, has_features, wish}, tile_width);
        size_t bytes = 0;
        CCL_RETURN_IF_ERROR(find_shared_bytes(kernel, &bytes));
        if (bytes > static_cast<size_t>(most_bytes)) {
          *n_blocks = 0;
          return {};
        }
        CCL_RETURN_IF_ERROR(
            check(cudaFuncSetAttribute(kernel.process, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                       static_cast<int>(bytes)),
                  "cudaFuncSetAttribute of runs"));
        int n = 0;
        CCL_RETURN_IF_ERROR(check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(
                                      &n, kernel.process, static_cast<int>(threads_for(tile_width)), bytes),
                                  "cudaOccupancyMaxActiveBlocksPerMultiprocessor of runs"));
        least = std::min(least, n);
      }
    }
  }
  *n_blocks = static_cast<uint32_t>(least * n_multiprocessors);
  return {};
}

template <uint32_t kWidth>
uint32_t most_pieces(uint32_t max_runs) {
  // Pairs of rows have fewer runs.
  static_assert(pieces_of<TileOf<RunKind::kPair, kWidth>>(0) <= pieces_of<TileOf<RunKind::kRow, kWidth>>(0));
  return pieces_of<TileOf<RunKind::kRow, kWidth>>(max_runs);
}

size_t parked_bytes(bool has_values, uint32_t tile_width, uint32_t max_runs) {
  return sizeof(uint4) * (has_values            ? pieces_of<TileOf<RunKind::kValue, kNarrow>>(max_runs)
                          : tile_width == kWide ? most_pieces<kWide>(max_runs)
                                                : most_pieces<kNarrow>(max_runs));
}

Status process_tiles(const Tiles& tiles, uint32_t n_blocks, const Emitter& emitter, const Inker& inker,
                     uint8_t* pixels, cudaStream_t stream) {
  const Kernel kernel =
      kernel_for({.has_values = tiles.frame.rule.foreground == Foreground::kValues,
                  .connectivity = emitter.settings.connectivity,
                  .has_features = emitter.settings.features != 0 && emitter.emission != Emission::kNone,
                  .wish = wish_of(tiles, n_blocks, emitter, inker)},
                 tiles.tile_width);
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeCooperative;
  attribute.val.cooperative = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(std::min(n_blocks, tiles.count()));
  config.blockDim = dim3(threads_for(tiles.tile_width));
  CCL_RETURN_IF_ERROR(find_shared_bytes(kernel, &config.dynamicSmemBytes));
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = 1;
  return check(cudaLaunchKernelEx(&config, kernel.process, tiles, emitter, inker, pixels),
               "cudaLaunchKernelEx of runs");
}

}  // namespace ccl::device::runs
