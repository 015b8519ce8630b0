// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last step of labelers whose table has an entry for every pixel.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/labelers/equivalence.cuh"
#include "device/launch.cuh"

namespace ccl::device {

inline constexpr uint32_t kCompressThreads = 256;
inline constexpr uint32_t kCompressedPixels = 4;  ///< per thread; their entries are on the way together

/// Makes every foreground pixel point to its root.
static __global__ void __launch_bounds__(kCompressThreads) compress_all(uint32_t n_pixels, uint32_t* table) {
  const uint32_t first = blockIdx.x * (kCompressThreads * kCompressedPixels) + threadIdx.x;
  uint32_t labels[kCompressedPixels];
  wait_for_previous();
#pragma unroll
  for (uint32_t k = 0; k < kCompressedPixels; ++k) {
    const uint32_t pixel = first + k * kCompressThreads;
    labels[k] = pixel < n_pixels ? load(table + pixel) : 0;
  }
  // compress() of all of them, a step at a time.
  bool goes_on = true;
  while (goes_on) {
    bool moves[kCompressedPixels];
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      moves[k] = labels[k] != 0 && __ldca(table + labels[k] - 1) != labels[k];
    }
    goes_on = false;
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      if (moves[k]) {
        labels[k] = load(table + labels[k] - 1);
        goes_on = true;
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      if (moves[k]) {
        store(table + first + k * kCompressThreads, labels[k]);
      }
    }
  }
}

/// Enqueues compress_all(), early. `name` is for messages.
inline Status launch_compress_all(const char* name, const SegmentSource& frame, uint32_t* table,
                                  cudaStream_t stream) {
  const uint32_t n_pixels = frame.width * frame.height;
  return launch_early(name, compress_all, blocks_for(n_pixels, kCompressThreads * kCompressedPixels),
                      kCompressThreads, stream, n_pixels, table);
}

}  // namespace ccl::device
