// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/threshold.h"

#include "device/launch.cuh"
#include "device/stages/segment/vectors.cuh"

namespace ccl::device::segment {

namespace {

/// A thread for each vector of a row of the bit image.
__global__ void __launch_bounds__(kBlockThreads)
    write_bits(Plane frame, bool is_aligned, ThresholdRule rule, uint32_t row_vectors, uint32_t* bits) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t y = index / row_vectors;
  const uint32_t vector = index % row_vectors;
  const uint32_t x = vector * kVectorPixels;
  if (y >= frame.height) {
    return;
  }
  uint32_t found = 0;
  if (x < frame.width) {
    found = bits_at_least(load_vector(frame, is_aligned, x, y), rule.threshold);
    found = (rule.invert ? ~found : found) & bits_in_frame(x, frame.width);
  }
  *bits_of_vector(bits, frame.width, vector, y) = static_cast<uint16_t>(found);
}

/// A thread for each vector of a row of the bit image.
__global__ void __launch_bounds__(kBlockThreads)
    write_wide_bits(SourcePixels source, uint32_t width, uint32_t height, ThresholdRule rule,
                    uint32_t row_vectors, uint32_t* bits) {
  const uint32_t index = blockIdx.x * kBlockThreads + threadIdx.x;
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

}  // namespace

Status threshold_bits(const Plane& frame, const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream) {
  const uint32_t row_vectors = vectors_of_bit_row(frame.width);
  const uint32_t n_blocks = (row_vectors * frame.height + kBlockThreads - 1) / kBlockThreads;
  return launch("write_bits", write_bits, n_blocks, kBlockThreads, stream, frame, is_aligned(frame), rule,
                row_vectors, bits);
}

Status wide_threshold_bits(const SourcePixels& source, uint32_t width, uint32_t height,
                           const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream) {
  const uint32_t row_vectors = vectors_of_bit_row(width);
  const uint32_t n_blocks = (row_vectors * height + kBlockThreads - 1) / kBlockThreads;
  return launch("write_wide_bits", write_wide_bits, n_blocks, kBlockThreads, stream, source, width, height,
                rule, row_vectors, bits);
}

}  // namespace ccl::device::segment
