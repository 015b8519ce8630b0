// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block takes a tile. A warp sums the values of each run of its 32 pixels, the block sums those of each
/// component in a small table in shared memory, and adds that to the frame's sums. All are integers, so their
/// order does not matter.
#include "device/stages/grey.h"

#include "device/launch.cuh"
#include "device/stages/tile_table.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kDeliveryBlocks = 32;
constexpr uint32_t kDeliveryThreads = 256;

/// Sums in 32 bits, columns and rows counted from the tile's corner. Squares are summed in halves of 16 bits.
struct TileGrey {
  uint32_t values;
  uint32_t low_squares;
  uint32_t high_squares;
  uint32_t x;
  uint32_t y;
  uint32_t max;
  uint32_t max_inverse;
};

constexpr uint64_t sum_below(uint64_t n) {
  return n * (n - 1) / 2;
}
static_assert(kMeasureTileHeight * sum_below(kMeasureTileWidth) * kMaxGrey < uint64_t{1} << 32);
static_assert(kMeasureTileWidth * sum_below(kMeasureTileHeight) * kMaxGrey < uint64_t{1} << 32);

/// The index of a label's record, or kNoRecord.
__device__ uint32_t record_of(const FrameLabels& frame, uint32_t label) {
  if (label == 0) {
    return kNoRecord;
  }
  if (frame.is_kept != nullptr) {
    const uint32_t word = __ldg(frame.is_kept + label / kWordBits);
    const uint32_t bit = label % kWordBits;
    return (word >> bit & 1) != 0
               ? __ldg(frame.kept_before + label / kWordBits) + __popc(word & bits_below(bit))
               : kNoRecord;
  }
  return frame.record_index != nullptr ? __ldg(frame.record_index + label - 1) : label - 1;
}

template <bool kIsWide>
__device__ uint32_t value_at(const SourcePixels& source, uint32_t x, uint32_t y) {
  const uint8_t* row = source.pixels + y * source.stride;
  if constexpr (kIsWide) {
    return wide_luma(source, row + size_t{x} * source.step);
  } else {
    return __ldg(row + x);
  }
}

/// The lanes of this lane's run: those with its key, without a gap. All lanes of the warp must call it.
__device__ uint32_t lanes_of_run(uint32_t key) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t before = __shfl_up_sync(kAllLanes, key, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != key);
  const uint32_t first = last_lane_of(starts & bits_up_to(lane));
  const uint32_t later_starts = starts & ~bits_up_to(lane);
  const uint32_t up_to_last = later_starts != 0 ? bits_below(first_lane_of(later_starts)) : kAllLanes;
  return up_to_last & ~bits_below(first);
}

/// The sums of a run. All of its lanes must call this function.
template <bool kIsWide>
__device__ TileGrey sum_run(uint32_t lanes, uint32_t value, uint32_t x, uint32_t y) {
  const uint32_t values = warp_sum(lanes, value);
  const uint32_t square = value * value;
  return {.values = values,
          .low_squares = warp_sum(lanes, kIsWide ? square & 0xffff : square),
          .high_squares = kIsWide ? warp_sum(lanes, square >> 16) : 0,
          .x = warp_sum(lanes, value * x),
          .y = values * y,
          .max = warp_max(lanes, value),
          .max_inverse = kMaxGrey - warp_min(lanes, value)};
}

template <bool kIsWide>
__device__ void add_to_tile(const TileGrey& run, TileGrey* tile) {
  atomicAdd(&tile->values, run.values);
  atomicAdd(&tile->low_squares, run.low_squares);
  if constexpr (kIsWide) {
    atomicAdd(&tile->high_squares, run.high_squares);
  }
  atomicAdd(&tile->x, run.x);
  atomicAdd(&tile->y, run.y);
  atomicMax(&tile->max, run.max);
  atomicMax(&tile->max_inverse, run.max_inverse);
}

__device__ void add(uint64_t value, uint64_t* sum) {
  static_assert(sizeof(unsigned long long) == sizeof(uint64_t));
  atomicAdd(reinterpret_cast<unsigned long long*>(sum), static_cast<unsigned long long>(value));
}

/// The tile's corner is at (x, y).
__device__ void add_to_frame(const TileGrey& tile, uint32_t x, uint32_t y, GreySums* frame) {
  add(tile.values, &frame->values);
  add(tile.low_squares + (uint64_t{tile.high_squares} << 16), &frame->squares);
  add(tile.x + uint64_t{tile.values} * x, &frame->x);
  add(tile.y + uint64_t{tile.values} * y, &frame->y);
  atomicMax(&frame->max, tile.max);
  atomicMax(&frame->max_inverse, tile.max_inverse);
}

/// Whether the frame's records are chosen later.
__device__ bool is_deferred(const GreyJob& job, uint32_t max_components) {
  return job.defers_overflow && job.counts->n_components > max_components;
}

template <bool kIsWide>
__global__ void __launch_bounds__(kMeasureThreads)
    add_values(GreyJob job, uint32_t max_components, GreySums* sums) {
  __shared__ TileKeys table;
  __shared__ TileGrey tile[TileKeys::kSize];
  if (is_deferred(job, max_components)) {
    return;
  }
  table.clear();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    tile[i] = {};
  }
  __syncthreads();
  const uint32_t tile_x = blockIdx.x * kMeasureTileWidth;
  const uint32_t tile_y = blockIdx.y * kMeasureTileHeight;
  for_each_tile_pixel([&](uint32_t x, uint32_t y) {
    const bool is_in_frame = tile_x + x < job.width && tile_y + y < job.height;
    const uint32_t label =
        is_in_frame ? __ldg(job.frame.labels + size_t{tile_y + y} * job.width + tile_x + x) : 0;
    const uint32_t record = record_of(job.frame, label);
    const uint32_t lanes = lanes_of_run(record);
    if (record == kNoRecord) {
      return;
    }
    const TileGrey run = sum_run<kIsWide>(lanes, value_at<kIsWide>(job.source, tile_x + x, tile_y + y), x, y);
    if (threadIdx.x % kWarpSize != first_lane_of(lanes)) {
      return;
    }
    if (const uint32_t place = table.place_of(record); place != TileKeys::kFull) {
      add_to_tile<kIsWide>(run, tile + place);
    } else {
      add_to_frame(run, tile_x, tile_y, sums + record);
    }
  });
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < TileKeys::kSize; i += kMeasureThreads) {
    if (table.keys[i] != TileKeys::kEmpty) {
      add_to_frame(tile[i], tile_x, tile_y, sums + table.keys[i]);
    }
  }
}

/// Makes the records in page-locked host memory, and the sums 0 for the next frame.
__global__ void __launch_bounds__(kDeliveryThreads)
    deliver_grey(GreyJob job, uint32_t max_components, GreySums* sums, CclGrey* host_records) {
  static_assert(sizeof(CclGrey) == 2 * sizeof(uint4));
  if (is_deferred(job, max_components)) {
    return;
  }
  const uint32_t n = min(job.counts->n_components, max_components);
  for (uint32_t i = blockIdx.x * kDeliveryThreads + threadIdx.x; i < n;
       i += kDeliveryBlocks * kDeliveryThreads) {
    union {
      CclGrey record;
      uint4 vectors[2];
    } u{make_grey(job.records[i], sums[i])};
    auto* to = reinterpret_cast<uint4*>(host_records + i);
    to[0] = u.vectors[0];
    to[1] = u.vectors[1];
    sums[i] = {};
  }
}

}  // namespace

Status GreyMeasurement::prepare(uint32_t max_components, const Stream& stream) {
  if (host_records_.data() != nullptr) {
    return {};
  }
  max_components_ = max_components;
  DeviceArray<GreySums> sums;
  CCL_RETURN_IF_ERROR(sums.allocate(max_components));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(sums.data(), 0, max_components * sizeof(GreySums), stream.get()),
                            "cudaMemsetAsync of the grey statistics"));
  sums_ = std::move(sums);
  return host_records_.allocate(max_components);
}

Status GreyMeasurement::enqueue(const GreyJob& job, cudaStream_t stream) const {
  const dim3 tiles(blocks_for(job.width, kMeasureTileWidth), blocks_for(job.height, kMeasureTileHeight));
  CCL_RETURN_IF_ERROR(launch("add_values", job.source.bits > 8 ? add_values<true> : add_values<false>, tiles,
                             kMeasureThreads, stream, job, max_components_, sums_.data()));
  return launch("deliver_grey", deliver_grey, kDeliveryBlocks, kDeliveryThreads, stream, job, max_components_,
                sums_.data(), host_records_.data());
}

}  // namespace ccl::device
