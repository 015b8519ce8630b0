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

/// Copies an object, a word by each of the first threads. It is complete after their next barrier.
template <typename T>
__device__ void copy_words(const T* from, T* to) {
  constexpr uint32_t kWords = sizeof(T) / sizeof(uint32_t);
  static_assert(kWords * sizeof(uint32_t) == sizeof(T) && kWords <= kWarpSize);
  if (threadIdx.x < kWords) {
    reinterpret_cast<uint32_t*>(to)[threadIdx.x] = reinterpret_cast<const uint32_t*>(from)[threadIdx.x];
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
