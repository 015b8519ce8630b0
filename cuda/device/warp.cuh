// SPDX-License-Identifier: LGPL-2.1-or-later
/// Words and sums across the threads of a warp and of a block.
#pragma once

#include <cstdint>

namespace ccl::device {

inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kAllLanes = 0xffffffff;

/// The bits below bit `n` of a word; n at most 31.
__device__ inline uint32_t bits_below(uint32_t n) {
  return (1u << n) - 1;
}

/// Bit `n` of a word and those below it.
__device__ inline uint32_t bits_up_to(uint32_t n) {
  return kAllLanes >> (kWarpSize - 1 - n);
}

/// The sum of `value` over `lanes`, all of which must call it.
__device__ inline uint32_t warp_sum(uint32_t lanes, uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_add_sync(lanes, value);
#else
  uint32_t sum = 0;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    sum += __shfl_sync(lanes, value, __ffs(static_cast<int>(rest)) - 1);
  }
  return sum;
#endif
}

__device__ inline uint32_t warp_min(uint32_t lanes, uint32_t value) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 800
  return __reduce_min_sync(lanes, value);
#else
  uint32_t least = value;
  for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
    least = min(least, __shfl_sync(lanes, value, __ffs(static_cast<int>(rest)) - 1));
  }
  return least;
#endif
}

__device__ inline uint32_t warp_max(uint32_t lanes, uint32_t value) {
  return ~warp_min(lanes, ~value);
}

/// The sum of `value` over the lanes before this one; all lanes must call it.
__device__ inline uint32_t warp_exclusive_sum(uint32_t value) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  uint32_t inclusive = value;
  for (uint32_t step = 1; step < kWarpSize; step *= 2) {
    const uint32_t before = __shfl_up_sync(kAllLanes, inclusive, step);
    inclusive += lane >= step ? before : 0;
  }
  return inclusive - value;
}

/// The sum of `value` over the threads before this one, of a block of whole warps that all call it; `total`
/// gets the sum over all. `warp_sums` is shared memory for a word per warp, not in use by others; it may be
/// used again after the next barrier.
__device__ inline uint32_t block_exclusive_sum(uint32_t value, uint32_t* warp_sums, uint32_t* total) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t warp = threadIdx.x / kWarpSize;
  const uint32_t in_warp = warp_exclusive_sum(value);
  if (lane == kWarpSize - 1) {
    warp_sums[warp] = in_warp + value;
  }
  __syncthreads();
  const uint32_t of_warp = lane < blockDim.x / kWarpSize ? warp_sums[lane] : 0;
  *total = warp_sum(kAllLanes, of_warp);
  return warp_sum(kAllLanes, lane < warp ? of_warp : 0) + in_warp;
}

}  // namespace ccl::device
