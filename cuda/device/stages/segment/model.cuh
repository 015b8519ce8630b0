// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the kernels of both background models share.
#pragma once

#include <cstdint>

#include "ccl/engine.h"
#include "device/launch.cuh"
#include "device/stages/segment/model.h"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

inline uint32_t blocks_of_threads(size_t n_threads) {
  return static_cast<uint32_t>((n_threads + kBlockThreads - 1) / kBlockThreads);
}

/// The copy of an object, a word by each of the first threads. Between load and store, a thread may wait for
/// other loads.
template <typename T>
class WordCopy {
 public:
  explicit __device__ WordCopy(const T* from) {
    if (threadIdx.x < kWords) {
      word_ = reinterpret_cast<const uint32_t*>(from)[threadIdx.x];
    }
  }

  /// `to` is complete after the next barrier of the first threads.
  __device__ void store(T* to) const {
    if (threadIdx.x < kWords) {
      reinterpret_cast<uint32_t*>(to)[threadIdx.x] = word_;
    }
  }

 private:
  static constexpr uint32_t kWords = sizeof(T) / sizeof(uint32_t);
  static_assert(kWords * sizeof(uint32_t) == sizeof(T) && kWords <= kWarpSize);

  uint32_t word_ = 0;
};

__device__ inline bool begins(const ModelState& model) {
  return model.learning == Learning::kInitialize || model.learning == Learning::kRelearn;
}

/// The pixel (x, y) of U or V.
__device__ inline uint32_t load_chroma(const uint8_t* plane, const Chroma& chroma, uint32_t x, uint32_t y) {
  return __ldg(plane + y * chroma.stride + size_t{x} * chroma.step);
}

}  // namespace ccl::device::segment
