// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/threshold.h"

#include <algorithm>

#include "ccl/segment/otsu.h"
#include "device/launch.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kThreads = 256;

/// A thread for each vector of a row of the bit image. `level`, if not null, replaces the rule's threshold.
__global__ void __launch_bounds__(kThreads)
    write_bits(Plane frame, bool is_aligned, ThresholdRule rule, const uint32_t* level, uint32_t row_vectors,
               uint32_t* bits) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t y = index / row_vectors;
  const uint32_t vector = index % row_vectors;
  const uint32_t x = vector * kVectorPixels;
  if (y >= frame.height) {
    return;
  }
  uint32_t found = 0;
  if (x < frame.width) {
    found = bits_at_least(load_vector(frame, is_aligned, x, y), level != nullptr ? *level : rule.threshold);
    found = (rule.invert ? ~found : found) & bits_in_frame(x, frame.width);
  }
  *bits_of_vector(bits, frame.width, vector, y) = static_cast<uint16_t>(found);
}

/// A thread for each vector of a row of the bit image.
__global__ void __launch_bounds__(kThreads)
    write_wide_bits(SourcePixels source, uint32_t width, uint32_t height, ThresholdRule rule,
                    uint32_t row_vectors, uint32_t* bits) {
  const uint32_t index = blockIdx.x * kThreads + threadIdx.x;
  const uint32_t y = index / row_vectors;
  const uint32_t vector = index % row_vectors;
  const uint32_t x = vector * kVectorPixels;
  if (y >= height) {
    return;
  }
  uint32_t found = 0;
  if (x < width) {
    const uint8_t* pixel = source.pixels + y * source.stride + size_t{x} * source.step;
    for (uint32_t i = 0; i < min(kVectorPixels, width - x); ++i, pixel += source.step) {
      found |= (rule.is_foreground(wide_luma(source, pixel)) ? 1u : 0u) << i;
    }
  }
  *bits_of_vector(bits, width, vector, y) = static_cast<uint16_t>(found);
}

Status write(const Plane& frame, const ThresholdRule& rule, const uint32_t* level, uint32_t* bits,
             cudaStream_t stream) {
  const uint32_t row_vectors = vectors_of_bit_row(frame.width);
  const uint32_t n_blocks = (row_vectors * frame.height + kThreads - 1) / kThreads;
  return launch("write_bits", write_bits, n_blocks, kThreads, stream, frame, is_aligned(frame), rule, level,
                row_vectors, bits);
}

/// Warps of a block count apart, and each lane of a warp in bytes of its own, so that no two threads ever
/// count in the same place: frames with few values would make atomics slow.
constexpr uint32_t kWarps = 8;
constexpr uint32_t kMostVectors = 15;  ///< of a thread between two sums: 15 · 16 pixels fit a byte
using LaneCounts = uint8_t[kWarps][kOtsuBins][kWarpSize];

/// What the last block needs, in the place of its LaneCounts: some GPUs have no more shared memory.
struct LevelScratch {
  OtsuClass warp_sums[kWarps];
  OtsuLevel warp_levels[kWarps];
  bool is_last;
};
static_assert(sizeof(LevelScratch) <= sizeof(LaneCounts));

/// Adds the block's counts to the histogram: a thread for each value.
__device__ void add_to_histogram(const LaneCounts& counts, uint32_t* histogram) {
  const uint32_t value = threadIdx.x;
  uint32_t n = 0;
  for (uint32_t warp = 0; warp < kWarps; ++warp) {
    const auto* words = reinterpret_cast<const uint32_t*>(counts[warp][value]);
    for (uint32_t i = 0; i < kWarpSize / 4; ++i) {
      n = __dp4a(words[(i + value) % (kWarpSize / 4)], 0x01010101u, n);  // lanes read different banks
    }
  }
  if (n > 0) {
    atomicAdd(histogram + value, n);
  }
}

/// The better of the candidates of two lanes, for all lanes.
__device__ OtsuLevel best_of_warp(OtsuLevel candidate) {
  for (uint32_t step = kWarpSize / 2; step > 0; step /= 2) {
    const OtsuLevel other{__shfl_xor_sync(kAllLanes, candidate.level, step),
                          __shfl_xor_sync(kAllLanes, candidate.variance, step)};
    candidate = other.is_better_than(candidate) ? other : candidate;
  }
  return candidate;
}

/// The sum over the threads of the block before this one, and over all.
__device__ OtsuClass sum_before(OtsuClass of_thread, OtsuClass* warp_sums, OtsuClass* all) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  OtsuClass inclusive = of_thread;
  for (uint32_t step = 1; step < kWarpSize; step *= 2) {
    const OtsuClass before{__shfl_up_sync(kAllLanes, inclusive.n, step),
                           __shfl_up_sync(kAllLanes, inclusive.sum, step)};
    inclusive = lane >= step ? inclusive + before : inclusive;
  }
  if (lane == kWarpSize - 1) {
    warp_sums[warp] = inclusive;
  }
  __syncthreads();
  OtsuClass before{inclusive.n - of_thread.n, inclusive.sum - of_thread.sum};
  for (uint32_t i = 0; i < kWarps; ++i) {
    before = i < warp ? before + warp_sums[i] : before;
    *all = *all + warp_sums[i];
  }
  return before;
}

/// Writes the level of a complete histogram, and clears it. A thread for each candidate.
__device__ void choose_level(uint32_t* histogram, LevelScratch& scratch, FrameCounts* counts) {
  const uint32_t level = threadIdx.x;
  const uint32_t n = __ldcg(histogram + level);
  histogram[level] = 0;
  OtsuClass all;
  const OtsuClass below = sum_before(otsu_bin(level, n), scratch.warp_sums, &all);
  const OtsuLevel candidate = level > 0 ? OtsuLevel{level, otsu_variance(below, all)} : OtsuLevel{};
  const OtsuLevel best = best_of_warp(candidate);
  if (threadIdx.x % kWarpSize == 0) {
    scratch.warp_levels[threadIdx.x / kWarpSize] = best;
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    OtsuLevel chosen;
    for (const OtsuLevel& of_warp : scratch.warp_levels) {
      chosen = of_warp.is_better_than(chosen) ? of_warp : chosen;
    }
    counts->level = chosen.level;
  }
}

/// Counts the pixels of each value. The last block that ends chooses the level.
__global__ void __launch_bounds__(kThreads)
    find_level(Plane frame, bool is_aligned, uint32_t* histogram, FrameCounts* counts) {
  static_assert(kThreads == kOtsuBins && kThreads == kWarps * kWarpSize);
  extern __shared__ uint4 memory[];
  auto& lane_counts = *reinterpret_cast<LaneCounts*>(memory);
  const auto clear = [&] {
    for (uint32_t i = threadIdx.x; i < sizeof(LaneCounts) / sizeof(uint4); i += kThreads) {
      memory[i] = make_uint4(0, 0, 0, 0);
    }
    __syncthreads();
  };
  const uint32_t row_vectors = (frame.width + kVectorPixels - 1) / kVectorPixels;
  const uint32_t n_vectors = row_vectors * frame.height;
  uint8_t* of_lane = &lane_counts[threadIdx.x / kWarpSize][0][threadIdx.x % kWarpSize];
  clear();
  uint32_t n_counted = 0;
  // All threads go through the same number of iterations, because they sum up together.
  for (uint32_t first = blockIdx.x * kThreads; first < n_vectors; first += gridDim.x * kThreads) {
    const uint32_t index = first + threadIdx.x;
    if (index < n_vectors) {
      const uint32_t x = index % row_vectors * kVectorPixels;
      const uint4 vector = load_vector(frame, is_aligned, x, index / row_vectors);
      const uint32_t words[kVectorWords] = {vector.x, vector.y, vector.z, vector.w};
      const uint32_t n_pixels = min(kVectorPixels, frame.width - x);
#pragma unroll
      for (uint32_t i = 0; i < kVectorPixels; ++i) {
        if (i < n_pixels) {
          ++of_lane[(words[i / 4] >> i % 4 * 8 & 0xff) * kWarpSize];
        }
      }
    }
    if (++n_counted == kMostVectors) {
      n_counted = 0;
      __syncthreads();
      add_to_histogram(lane_counts, histogram);
      __syncthreads();
      clear();
    }
  }
  __syncthreads();
  add_to_histogram(lane_counts, histogram);

  __threadfence();
  __syncthreads();
  auto& scratch = *reinterpret_cast<LevelScratch*>(memory);  // all counts are added
  if (threadIdx.x == 0) {
    scratch.is_last = atomicInc(histogram + kOtsuBins, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (scratch.is_last) {
    __threadfence();
    choose_level(histogram, scratch, counts);
  }
}

}  // namespace

Status threshold_bits(const Plane& frame, const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream) {
  return write(frame, rule, nullptr, bits, stream);
}

Status wide_threshold_bits(const SourcePixels& source, uint32_t width, uint32_t height,
                           const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream) {
  const uint32_t row_vectors = vectors_of_bit_row(width);
  const uint32_t n_blocks = (row_vectors * height + kThreads - 1) / kThreads;
  return launch("write_wide_bits", write_wide_bits, n_blocks, kThreads, stream, source, width, height, rule,
                row_vectors, bits);
}

Status Otsu::configure(cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(histogram_.allocate(kOtsuBins + 1));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(histogram_.data(), 0, (kOtsuBins + 1) * sizeof(uint32_t), stream),
                            "cudaMemsetAsync of the histogram"));
  CCL_RETURN_IF_ERROR(check(cudaStreamSynchronize(stream), "cudaStreamSynchronize"));
  return check(cudaFuncSetAttribute(find_level, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                    static_cast<int>(sizeof(LaneCounts))),
               "cudaFuncSetAttribute of find_level");
}

Status Otsu::enqueue(const Plane& frame, bool invert, uint32_t* bits, FrameCounts* counts,
                     cudaStream_t stream) {
  int device = 0;
  int n_multiprocessors = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(
      check(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute"));
  constexpr uint32_t kBlocksPerMultiprocessor = 2;
  const uint32_t row_vectors = (frame.width + kVectorPixels - 1) / kVectorPixels;
  const uint32_t n_blocks = std::min((row_vectors * frame.height + kThreads - 1) / kThreads,
                                     kBlocksPerMultiprocessor * static_cast<uint32_t>(n_multiprocessors));
  find_level<<<n_blocks, kThreads, sizeof(LaneCounts), stream>>>(frame, is_aligned(frame), histogram_.data(),
                                                                 counts);
  CCL_RETURN_IF_ERROR(check_launch("find_level"));
  return write(frame, {.threshold = 0, .invert = invert}, &counts->level, bits, stream);
}

}  // namespace ccl::device::segment
