// SPDX-License-Identifier: LGPL-2.1-or-later
/// Words of one bit per lane, and reductions and prefix sums across the threads of a warp and of a block.
#pragma once

#include <cstdint>

namespace ccl::device {

inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kWordBits = kWarpSize;  ///< of a word of a bit image: a pixel for each lane
inline constexpr uint32_t kAllLanes = 0xffffffff;

/// The bits below bit `n` of a word; n is at most 31.
__device__ inline uint32_t bits_below(uint32_t n) {
  return (1u << n) - 1;
}

/// Bit `n` of a word and the bits below it; n is at most 31.
__device__ inline uint32_t bits_up_to(uint32_t n) {
  return kAllLanes >> (kWarpSize - 1 - n);
}

/// The first of `lanes`, a word of one bit per lane that is not 0.
__device__ inline uint32_t first_lane_of(uint32_t lanes) {
  return __ffs(static_cast<int>(lanes)) - 1;
}

/// The last of `lanes`, which is not 0.
__device__ inline uint32_t last_lane_of(uint32_t lanes) {
  return kWarpSize - 1 - __clz(static_cast<int>(lanes));
}

/// The sum of `value` over `lanes`; all of them must call this function.
__device__ inline uint32_t warp_sum(uint32_t lanes, uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(lanes, value);
#else
  uint32_t sum = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    sum += __shfl_sync(lanes, value, first_lane_of(rest));
  }
  return sum;
#endif
}

/// The minimum of `value` over `lanes`; all of them must call this function.
__device__ inline uint32_t warp_min(uint32_t lanes, uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_min_sync(lanes, value);
#else
  uint32_t least = value;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    least = min(least, __shfl_sync(lanes, value, first_lane_of(rest)));
  }
  return least;
#endif
}

/// The maximum of `value` over `lanes`; all of them must call this function.
__device__ inline uint32_t warp_max(uint32_t lanes, uint32_t value) {
  return ~warp_min(lanes, ~value);
}

/// The sum of `value` over the lanes before this one; all lanes must call this function.
__device__ inline uint32_t warp_exclusive_sum(uint32_t value) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  uint32_t inclusive = value;
  for (uint32_t step = 1; step < kWarpSize; step *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, inclusive, step);
    inclusive += lane >= step ? before : 0;
  }
  return inclusive - value;
}

/// The sum of `value` over the threads of the block before this one; writes the sum over all threads to
/// `total`. All threads must call this function, and the block must consist of whole warps. `warp_sums` is
/// shared memory of one word per warp; it may be used again after the next barrier.
__device__ inline uint32_t block_exclusive_sum(uint32_t value, uint32_t* warp_sums, uint32_t* total) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const uint32_t before_in_warp = warp_exclusive_sum(value);
  if (lane == kWarpSize - 1) {
    warp_sums[warp] = before_in_warp + value;
  }
  __syncthreads();
  const uint32_t warp_total = lane < blockDim.x / kWarpSize ? warp_sums[lane] : 0;
  *total = warp_sum(kAllLanes, warp_total);
  return warp_sum(kAllLanes, lane < warp ? warp_total : 0) + before_in_warp;
}

}  // namespace ccl::device
