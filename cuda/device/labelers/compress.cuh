// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last kernel of labelers whose equivalence table is the root map: path compression of all pixels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "device/check.h"
#include "device/labelers/equivalence.cuh"
#include "device/launch.cuh"
#include "device/segment_source.h"

namespace ccl::device {

inline constexpr uint32_t kCompressThreads = 256;
inline constexpr uint32_t kCompressedPixels = 4;  ///< per thread; the reads of their entries overlap

/// Changes the entry of every foreground pixel to its root.
static __global__ void __launch_bounds__(kCompressThreads) compress_all(uint32_t n_pixels, uint32_t* table) {
  const uint32_t first = blockIdx.x * (kCompressThreads * kCompressedPixels) + threadIdx.x;
  uint32_t labels[kCompressedPixels];
  wait_for_previous_kernel();
#pragma unroll
  for (uint32_t k = 0; k < kCompressedPixels; ++k) {
    const uint32_t pixel = first + k * kCompressThreads;
    labels[k] = pixel < n_pixels ? load(table + pixel) : 0;
  }
  // This is compress() of all these pixels, one step of each at a time.
  bool changed = true;
  while (changed) {
    bool has_next[kCompressedPixels];
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      has_next[k] = labels[k] != 0 && __ldca(table + labels[k] - 1) != labels[k];
    }
    changed = false;
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      if (has_next[k]) {
        labels[k] = load(table + labels[k] - 1);
        changed = true;
      }
    }
#pragma unroll
    for (uint32_t k = 0; k < kCompressedPixels; ++k) {
      if (has_next[k]) {
        store(table + first + k * kCompressThreads, labels[k]);
      }
    }
  }
}

/// Enqueues compress_all(), overlapped with the previous kernel. Messages contain `name`.
inline Status launch_compress_all(const char* name, const SegmentSource& frame, uint32_t* table,
                                  cudaStream_t stream) {
  const uint32_t n_pixels = frame.width * frame.height;
  return launch_overlapped(name, compress_all, blocks_for(n_pixels, kCompressThreads * kCompressedPixels),
                           kCompressThreads, stream, n_pixels, table);
}

}  // namespace ccl::device
