// SPDX-License-Identifier: LGPL-2.1-or-later
/// One kernel, whose blocks are all resident: each counts its pixels and adds its counts to the histogram of
/// the frame; when all have done so, each block finds the level by itself and writes its bits. The pixels are
/// read twice, the second time from a cache.
#include "device/stages/segment/otsu.h"

#include "ccl/segment/otsu.h"
#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kThreads = 1024;

/// A bin begins a sector of its own, because additions to one sector are processed one after the other.
constexpr uint32_t kBinStride = 8;
using Histogram = uint32_t[kOtsuBins * kBinStride];

/// A lane counts in a column of its own, which is a bank of shared memory. So the lanes of a warp never wait
/// for each other, however few values a frame has.
using LaneCounts = uint32_t[kOtsuBins][kWarpSize];

constexpr uint32_t kBinWarps = kOtsuBins / kWarpSize;

struct LevelScratch {
  OtsuClass warp_sums[kBinWarps];
  OtsuLevel warp_levels[kBinWarps];
};

}  // namespace

struct Otsu::State {
  /// Frames of either phase of the barrier have one. A frame counts in it, and clears the other one for the
  /// next frame.
  Histogram histograms[2];
  uint32_t arrivals;
};

namespace {

/// Adds the block's counts: four threads for each value.
__device__ void add_to_histogram(const LaneCounts& counts, uint32_t* histogram) {
  constexpr uint32_t kPart = kWarpSize / (kThreads / kOtsuBins);
  const uint32_t value = threadIdx.x * kPart / kWarpSize;
  const uint32_t first = threadIdx.x * kPart % kWarpSize;
  uint32_t n = 0;
  for (uint32_t i = 0; i < kPart; ++i) {
    n += counts[value][first + (i + value) % kPart];  // the lanes of a warp read different banks
  }
  for (uint32_t step = 1; step < kWarpSize / kPart; step *= 2) {
    n += __shfl_xor_sync(kAllLanes, n, step);
  }
  if (first == 0 && n > 0) {
    atomicAdd(histogram + value * kBinStride, n);
  }
}

/// The best of the candidates of a warp, for all lanes.
__device__ OtsuLevel best_of_warp(OtsuLevel candidate) {
  for (uint32_t step = kWarpSize / 2; step > 0; step /= 2) {
    const OtsuLevel other{__shfl_xor_sync(kAllLanes, candidate.level, step),
                          __shfl_xor_sync(kAllLanes, candidate.variance, step)};
    candidate = other.is_better_than(candidate) ? other : candidate;
  }
  return candidate;
}

/// The sum over the lanes up to this one.
__device__ OtsuClass warp_inclusive_sum(OtsuClass of_lane) {
  for (uint32_t step = 1; step < kWarpSize; step *= 2) {
    const OtsuClass before{__shfl_up_sync(kAllLanes, of_lane.n, step),
                           __shfl_up_sync(kAllLanes, of_lane.sum, step)};
    of_lane = threadIdx.x % kWarpSize >= step ? of_lane + before : of_lane;
  }
  return of_lane;
}

/// The level of a complete histogram. The first threads of the block have a candidate each; all threads must
/// call it.
__device__ uint32_t find_level(const uint32_t* histogram, LevelScratch& scratch) {
  const uint32_t value = threadIdx.x;
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const bool has_bin = value < kOtsuBins;  // the same for all lanes of a warp
  OtsuClass bin;
  OtsuClass up_to_bin;
  if (has_bin) {
    bin = otsu_bin(value, __ldcg(histogram + value * kBinStride));
    up_to_bin = warp_inclusive_sum(bin);
    if (lane == kWarpSize - 1) {
      scratch.warp_sums[warp] = up_to_bin;
    }
  }
  __syncthreads();
  if (has_bin) {
    OtsuClass below{up_to_bin.n - bin.n, up_to_bin.sum - bin.sum};
    OtsuClass all;
    for (uint32_t i = 0; i < kBinWarps; ++i) {
      below = i < warp ? below + scratch.warp_sums[i] : below;
      all = all + scratch.warp_sums[i];
    }
    const OtsuLevel best =
        best_of_warp(value > 0 ? OtsuLevel{value, otsu_variance(below, all)} : OtsuLevel{});
    if (lane == 0) {
      scratch.warp_levels[warp] = best;
    }
  }
  __syncthreads();
  OtsuLevel chosen;
  for (const OtsuLevel& of_warp : scratch.warp_levels) {
    chosen = of_warp.is_better_than(chosen) ? of_warp : chosen;
  }
  return chosen.level;
}

/// A thread for each vector of a row of the bit image, or for several ones.
template <typename Visit>
__device__ void for_each_vector(const Plane& frame, uint32_t row_vectors, Visit visit) {
  const uint32_t n_vectors = row_vectors * frame.height;
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n_vectors; i += gridDim.x * kThreads) {
    visit(i % row_vectors, i / row_vectors);
  }
}

__device__ void count_pixels(const uint4& vector, uint32_t n_pixels, LaneCounts& counts) {
  const uint32_t words[kVectorWords] = {vector.x, vector.y, vector.z, vector.w};
#pragma unroll
  for (uint32_t i = 0; i < kVectorPixels; ++i) {
    if (i < n_pixels) {
      atomicAdd(&counts[words[i / 4] >> i % 4 * 8 & 0xff][threadIdx.x % kWarpSize], 1);
    }
  }
}

__global__ void __launch_bounds__(kThreads)
    find_level_and_write_bits(Plane frame, bool is_aligned, bool invert, uint32_t row_vectors,
                              Histogram* histograms, uint32_t* arrivals, uint32_t* bits,
                              FrameCounts* counts) {
  __shared__ LaneCounts lane_counts;
  __shared__ LevelScratch scratch;
  const GridBarrier barrier(arrivals);
  allow_next_kernel();
  for (uint32_t i = threadIdx.x; i < kOtsuBins * kWarpSize; i += kThreads) {
    lane_counts[i / kWarpSize][i % kWarpSize] = 0;
  }
  const bool is_second = barrier.next_phase() != 0;
  if (blockIdx.x == 0 && threadIdx.x < kOtsuBins) {
    histograms[is_second ? 0 : 1][threadIdx.x * kBinStride] = 0;
  }
  __syncthreads();
  for_each_vector(frame, row_vectors, [&](uint32_t vector, uint32_t y) {
    const uint32_t x = vector * kVectorPixels;
    if (x < frame.width) {
      count_pixels(load_vector(frame, is_aligned, x, y), min(kVectorPixels, frame.width - x), lane_counts);
    }
  });
  __syncthreads();
  uint32_t* histogram = histograms[is_second ? 1 : 0];
  add_to_histogram(lane_counts, histogram);
  barrier.wait(barrier.arrive());

  const uint32_t level = find_level(histogram, scratch);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    counts->level = level;
  }
  for_each_vector(frame, row_vectors, [&](uint32_t vector, uint32_t y) {
    const uint32_t x = vector * kVectorPixels;
    uint32_t found = 0;
    if (x < frame.width) {
      found = bits_at_least(load_vector(frame, is_aligned, x, y), level);
      found = (invert ? ~found : found) & bits_in_frame(x, frame.width);
    }
    *bits_of_vector(bits, frame.width, vector, y) = static_cast<uint16_t>(found);
  });
}

}  // namespace

Status Otsu::configure(cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(state_.allocate(sizeof(State)));
  CCL_RETURN_IF_ERROR(
      check(cudaMemsetAsync(state_.data(), 0, sizeof(State), stream), "cudaMemsetAsync of the histograms"));
  return check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

Status Otsu::enqueue(const Plane& frame, bool invert, uint32_t* bits, FrameCounts* counts,
                     cudaStream_t stream) {
  auto* state = reinterpret_cast<State*>(state_.data());
  const uint32_t row_vectors = vectors_of_bit_row(frame.width);
  return launch_resident("find_level_and_write_bits", find_level_and_write_bits,
                         (row_vectors * frame.height + kThreads - 1) / kThreads, kThreads, stream, frame,
                         is_aligned(frame), invert, row_vectors, state->histograms, &state->arrivals, bits,
                         counts);
}

}  // namespace ccl::device::segment
