// SPDX-License-Identifier: LGPL-2.1-or-later
/// A run of equal labels among 32 pixels adds its sums, in closed form, to its component's entry in the
/// tile's table. All sums are integers, so the order of additions does not change the result. Moments are
/// summed in the tile's coordinates and converted to the frame's once per tile and component.
#include "device/stages/measure.h"

#include "device/check.h"
#include "device/launch.cuh"
#include "device/stages/tile_table.cuh"

namespace ccl::device {

namespace {

/// Sums over pixels of one tile, in coordinates of the tile.
struct TileSums {
  uint32_t area;
  uint32_t x_min, y_min, x_max, y_max;
  uint32_t x, y, xx, xy, yy;
  uint32_t perimeter;
  int32_t euler;
};

/// The first pixel of a tile.
struct Origin {
  uint32_t x, y;
};

__device__ Origin tile_origin() {
  return {blockIdx.x * kMeasureTileWidth, blockIdx.y * kMeasureTileHeight};
}

__device__ void atomic_add(uint64_t* sum, uint64_t value) {
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// Adds sums over a tile to those of the frame, where x = origin.x + tile x, and y alike.
__device__ void add_to_frame(const TileSums& tile, const Origin& origin, uint32_t features, Sums* frame) {
  const uint64_t n = tile.area;
  const uint64_t x0 = origin.x;
  const uint64_t y0 = origin.y;
  atomicMin(&frame->x_min, origin.x + tile.x_min);
  atomicMin(&frame->y_min, origin.y + tile.y_min);
  atomicMax(&frame->x_max, origin.x + tile.x_max);
  atomicMax(&frame->y_max, origin.y + tile.y_max);
  atomic_add(&frame->x, n * x0 + tile.x);
  atomic_add(&frame->y, n * y0 + tile.y);
  if (features & kFeatureMoments) {
    atomic_add(&frame->xx, n * x0 * x0 + 2 * x0 * tile.x + tile.xx);
    atomic_add(&frame->xy, n * x0 * y0 + x0 * tile.y + y0 * tile.x + tile.xy);
    atomic_add(&frame->yy, n * y0 * y0 + 2 * y0 * tile.y + tile.yy);
  }
  if (features & kFeaturePerimeter) {
    atomicAdd(&frame->perimeter, tile.perimeter);
  }
  if (features & kFeatureEuler) {
    atomicAdd(&frame->euler, tile.euler);
  }
}

/// Adds a run to sums in shared memory.
__device__ void add_to_tile(const TileSums& run, uint32_t features, TileSums* tile) {
  atomicAdd(&tile->area, run.area);
  atomicMin(&tile->x_min, run.x_min);
  atomicMin(&tile->y_min, run.y_min);
  atomicMax(&tile->x_max, run.x_max);
  atomicMax(&tile->y_max, run.y_max);
  atomicAdd(&tile->x, run.x);
  atomicAdd(&tile->y, run.y);
  if (features & kFeatureMoments) {
    atomicAdd(&tile->xx, run.xx);
    atomicAdd(&tile->xy, run.xy);
    atomicAdd(&tile->yy, run.yy);
  }
  if (features & kFeaturePerimeter) {
    atomicAdd(&tile->perimeter, run.perimeter);
  }
  if (features & kFeatureEuler) {
    atomicAdd(&tile->euler, run.euler);
  }
}

/// The sums of the pixels x .. x + n − 1 of row y in closed form, without perimeter and Euler number.
__device__ TileSums sums_of_run(uint32_t x, uint32_t y, uint32_t n) {
  const uint32_t steps = n * (n - 1) / 2;                  // Σ k for k < n
  const uint32_t squares = n * (n - 1) * (2 * n - 1) / 6;  // Σ k²
  const uint32_t sum_x = n * x + steps;
  return {.area = n,
          .x_min = x,
          .y_min = y,
          .x_max = x + n - 1,
          .y_max = y,
          .x = sum_x,
          .y = n * y,
          .xx = n * x * x + 2 * x * steps + squares,
          .xy = sum_x * y,
          .yy = n * y * y,
          .perimeter = 0,
          .euler = 0};
}

/// Perimeter and Euler number of one pixel; nothing for background.
__device__ PixelShape shape_at(const MeasureInput& input, uint32_t x, uint32_t y, Connectivity connectivity) {
  const SegmentSource& frame = input.frame;
  const uint8_t own = frame.segment_or_background(x, y);
  if (own == 0) {
    return {};
  }
  const uint32_t label = input.labels[y * frame.width + x];
  // x − 1 or y − 1 of a first pixel wraps around to far outside the frame.
  const auto is_same = [&](uint32_t at_x, uint32_t at_y) {
    return frame.segment_or_background(at_x, at_y) == own &&
           (!input.has_parts || input.labels[at_y * frame.width + at_x] == label);
  };
  const Neighbors neighbors{.left = is_same(x - 1, y),
                            .right = is_same(x + 1, y),
                            .up = is_same(x, y - 1),
                            .down = is_same(x, y + 1),
                            .up_left = is_same(x - 1, y - 1),
                            .up_right = is_same(x + 1, y - 1)};
  return pixel_shape(neighbors, connectivity);
}

/// Adds up a value of 0..7 (perimeter 0..4, Euler number −1..1 and 1 more) over a run's lanes. All lanes of
/// the warp must call it.
__device__ uint32_t sum_over(uint32_t lanes, uint32_t value) {
  uint32_t sum = 0;
#pragma unroll
  for (uint32_t bit = 0; bit < 3; ++bit) {
    sum += __popc(__ballot_sync(kAllLanes, (value >> bit & 1) != 0) & lanes) << bit;
  }
  return sum;
}

/// Writes areas[label − 1], which must be 0 before.
__global__ void __launch_bounds__(kMeasureThreads)
    add_areas(const uint32_t* labels, uint32_t width, uint32_t height, uint32_t* areas) {
  __shared__ TileKeys table;
  __shared__ uint32_t tile_areas[TileKeys::kSize];
  table.clear();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    tile_areas[i] = 0;
  }
  __syncthreads();
  const Origin origin = tile_origin();
  for_each_tile_pixel([&](uint32_t tile_x, uint32_t tile_y) {
    const uint32_t x = origin.x + tile_x;
    const uint32_t y = origin.y + tile_y;
    const uint32_t label = x < width && y < height ? labels[y * width + x] : 0;
    const Run run = find_run(label);
    if (label != 0 && run.is_first) {
      const uint32_t place = table.place_of(label - 1);
      if (place != TileKeys::kFull) {
        atomicAdd(tile_areas + place, run.length);
      } else {
        atomicAdd(areas + label - 1, run.length);
      }
    }
  });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    if (table.keys[i] != TileKeys::kEmpty) {
      atomicAdd(areas + table.keys[i], tile_areas[i]);
    }
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    clear_sums(const FrameCounts* counts, uint32_t max_components, Sums* sums) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i < min(counts->n_components, max_components)) {
    sums[i] = Sums{};
  }
}

/// The record index of the pixel's component, or kNoRecord.
__device__ uint32_t record_at(const MeasureInput& input, uint32_t x, uint32_t y) {
  if (x >= input.frame.width || y >= input.frame.height) {
    return kNoRecord;
  }
  const uint32_t label = input.labels[y * input.frame.width + x];
  return label != 0 ? input.record_index[label - 1] : kNoRecord;
}

/// Writes the sums and the segment of each record. Every first pixel of a run writes the segment, which is
/// the same for all.
__global__ void __launch_bounds__(kMeasureThreads)
    add_sums(Connectivity connectivity, uint32_t features, MeasureInput input, Sums* sums, uint16_t* values) {
  __shared__ TileKeys table;
  __shared__ TileSums tile_sums[TileKeys::kSize];
  table.clear();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    tile_sums[i] = {.area = 0, .x_min = kMeasureTileWidth, .y_min = kMeasureTileHeight};
  }
  __syncthreads();
  const Origin origin = tile_origin();
  for_each_tile_pixel([&](uint32_t tile_x, uint32_t tile_y) {
    const uint32_t x = origin.x + tile_x;
    const uint32_t y = origin.y + tile_y;
    const uint32_t record = record_at(input, x, y);
    const Run run = find_run(record);
    TileSums run_sums = sums_of_run(tile_x, tile_y, run.length);
    if (features & (kFeaturePerimeter | kFeatureEuler)) {
      constexpr int32_t kLeastEuler = -1;  // of a pixel; sum_over() takes no negative values
      const PixelShape shape = shape_at(input, x, y, connectivity);
      run_sums.perimeter = sum_over(run.lanes, shape.perimeter);
      run_sums.euler = static_cast<int32_t>(sum_over(run.lanes, shape.euler - kLeastEuler)) +
                       kLeastEuler * static_cast<int32_t>(run.length);
    }
    if (record == kNoRecord || !run.is_first) {
      return;
    }
    const uint32_t place = table.place_of(record);
    if (place != TileKeys::kFull) {
      add_to_tile(run_sums, features, tile_sums + place);
    } else {
      add_to_frame(run_sums, origin, features, sums + record);
    }
    values[record] = input.frame.segment(x, y);
  });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    if (table.keys[i] != TileKeys::kEmpty) {
      add_to_frame(tile_sums[i], origin, features, sums + table.keys[i]);
    }
  }
}

/// All components are measured: the index of a label is label − 1.
__global__ void __launch_bounds__(kBlockThreads)
    index_all(const FrameCounts* counts, Sums* sums, uint32_t* index) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i < counts->n_labels) {
    sums[i] = Sums{};
    index[i] = i;
  }
}

/// Sums and values are indexed by record or, if `are_of_all`, by label − 1.
__global__ void __launch_bounds__(kBlockThreads)
    make_records(uint32_t features, MeasureInput input, const Sums* sums, const uint16_t* values,
                 bool are_of_all, CclComponent* records) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= input.counts->n_labels || input.record_index[i] == kNoRecord) {
    return;
  }
  const uint32_t record = input.record_index[i];
  const uint32_t from = are_of_all ? i : record;
  records[record] = make_component(i + 1, input.marks[i], values[from], sums[from], features,
                                   input.frame.width, input.frame.height);
}

dim3 tiles_of(uint32_t width, uint32_t height) {
  return dim3(blocks_for(width, kMeasureTileWidth), blocks_for(height, kMeasureTileHeight));
}

}  // namespace

Status Measurement::configure(uint32_t max_components) {
  max_components_ = max_components;
  CCL_RETURN_IF_ERROR(sums_.allocate(max_components));
  return values_.allocate(max_components);
}

Status Measurement::measure_areas(const uint32_t* labels, uint32_t width, uint32_t height, uint32_t* areas,
                                  cudaStream_t stream) {
  const size_t bytes = size_t{width} * height * sizeof(uint32_t);
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(areas, 0, bytes, stream), "cudaMemsetAsync of the areas"));
  add_areas<<<tiles_of(width, height), kMeasureThreads, 0, stream>>>(labels, width, height, areas);
  return check_launch("add_areas");
}

Status Measurement::measure_records(const Settings& settings, const MeasureInput& input,
                                    CclComponent* records, cudaStream_t stream) {
  const SegmentSource& frame = input.frame;
  clear_sums<<<blocks_for(max_components_, kBlockThreads), kBlockThreads, 0, stream>>>(
      input.counts, max_components_, sums_.data());
  CCL_RETURN_IF_ERROR(check_launch("clear_sums"));
  add_sums<<<tiles_of(frame.width, frame.height), kMeasureThreads, 0, stream>>>(
      settings.connectivity, record_features(settings), input, sums_.data(), values_.data());
  CCL_RETURN_IF_ERROR(check_launch("add_sums"));
  make_records<<<blocks_for(frame.width * frame.height, kBlockThreads), kBlockThreads, 0, stream>>>(
      record_features(settings), input, sums_.data(), values_.data(), /*are_of_all=*/false, records);
  return check_launch("make_records");
}

Measurement::Kind Measurement::kind_of(const Settings& settings) {
  if (settings.rule.foreground == Foreground::kValues) {
    return kValues;
  }
  return settings.connectivity == Connectivity::k8 ? kBinary8 : kBinary4;
}

Status Measurement::prepare_all(const Settings& settings, uint32_t width, uint32_t height) {
  const Kind kind = kind_of(settings);
  AllSums& all = all_[kind];
  if (all.values.data() != nullptr) {
    return {};
  }
  const uint32_t n_pixels = width * height;
  const uint32_t n_labels = kind == kValues    ? n_pixels
                            : kind == kBinary4 ? n_pixels / 2 + n_pixels % 2
                                               : (width + 1) / 2 * ((height + 1) / 2);
  CCL_RETURN_IF_ERROR(all.sums.allocate(n_labels));
  return all.values.allocate(n_labels);
}

Status Measurement::measure_all(const Settings& settings, const MeasureInput& input, uint32_t* index,
                                cudaStream_t stream) {
  AllSums& all = all_[kind_of(settings)];
  const SegmentSource& frame = input.frame;
  index_all<<<blocks_for(frame.width * frame.height, kBlockThreads), kBlockThreads, 0, stream>>>(
      input.counts, all.sums.data(), index);
  CCL_RETURN_IF_ERROR(check_launch("index_all"));
  add_sums<<<tiles_of(frame.width, frame.height), kMeasureThreads, 0, stream>>>(
      settings.connectivity, measured_features(settings), input, all.sums.data(), all.values.data());
  return check_launch("add_sums");
}

Status Measurement::make_records_of_all(const Settings& settings, const MeasureInput& input,
                                        CclComponent* records, cudaStream_t stream) {
  const AllSums& all = all_[kind_of(settings)];
  make_records<<<blocks_for(input.frame.width * input.frame.height, kBlockThreads), kBlockThreads, 0,
                 stream>>>(record_features(settings), input, all.sums.data(), all.values.data(),
                           /*are_of_all=*/true, records);
  return check_launch("make_records");
}

}  // namespace ccl::device
