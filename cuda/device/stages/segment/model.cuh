// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the kernels of both background models share.
#pragma once

#include <cstdint>

#include "ccl/engine.h"
#include "device/stages/segment/model.h"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

/// The threads of a block, in all kernels of the models.
inline constexpr uint32_t kThreads = 256;

inline uint32_t blocks_of_threads(size_t n_threads) {
  return static_cast<uint32_t>((n_threads + kThreads - 1) / kThreads);
}

/// Adds the pixels of a block that differ; the last block decides. All threads must call it.
__device__ inline void count_and_decide(uint32_t n_of_thread, const MotionStep& step,
                                        const Decision& decision) {
  __shared__ uint32_t warp_sums[kThreads / kWarpSize];
  const uint32_t of_warp = warp_sum(kAllLanes, n_of_thread);
  if (threadIdx.x % kWarpSize == 0) {
    warp_sums[threadIdx.x / kWarpSize] = of_warp;
  }
  __syncthreads();
  if (threadIdx.x != 0) {
    return;
  }
  uint32_t n = 0;
  for (const uint32_t sum : warp_sums) {
    n += sum;
  }
  if (n > 0) {
    atomicAdd(&decision.model->n_differ, n);
  }
  __threadfence();
  if (atomicInc(decision.n_ended, gridDim.x - 1) == gridDim.x - 1) {
    __threadfence();
    ModelState model = *decision.model;
    model.n_differ = __ldcg(&decision.model->n_differ);
    decide(step, decision.n_pixels, &model);
    *decision.model = model;
    *decision.has_no_foreground = model.has_foreground() ? 0 : 1;
    decision.counts->relearning = model.has_foreground() ? 0 : 1;
  }
}

__device__ inline bool begins(const ModelState& model) {
  return model.learning == Learning::kInitialize || model.learning == Learning::kRelearn;
}

/// The pixel (x, y) of U or V.
__device__ inline uint32_t load_chroma(const uint8_t* plane, const Chroma& chroma, uint32_t x, uint32_t y) {
  return __ldg(plane + y * chroma.stride + size_t{x} * chroma.step);
}

}  // namespace ccl::device::segment
