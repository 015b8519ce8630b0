// SPDX-License-Identifier: LGPL-2.1-or-later
/// Pixels as vectors of 16 bytes, and what kernels of the segment stage do with them.
#pragma once

#include <cstdint>

#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// The pixels from (x, y) on, where x is a multiple of kVectorPixels. Those to the right of the frame are
/// copies of the last one.
__device__ inline uint4 load_vector(const Plane& plane, bool is_aligned, uint32_t x, uint32_t y) {
  const uint8_t* row = plane.pixels + y * plane.pitch;
  if (is_aligned && x + kVectorPixels <= plane.width) {
    return __ldg(reinterpret_cast<const uint4*>(row + x));
  }
  uint4 vector;
  auto* bytes = reinterpret_cast<uint8_t*>(&vector);
#pragma unroll
  for (uint32_t i = 0; i < kVectorPixels; ++i) {
    bytes[i] = __ldg(row + min(x + i, plane.width - 1));
  }
  return vector;
}

/// One bit for each of eight bytes that are 0 or have all bits; the first byte's bit is the lowest.
__device__ inline uint32_t gather_bits(uint32_t low, uint32_t high) {
  constexpr uint32_t kOnes = 0x01010101;
  return __dp4a(high & kOnes, 0x80402010u, __dp4a(low & kOnes, 0x08040201u, 0u));
}

__device__ inline uint32_t gather_bits(const uint4& masks) {
  return gather_bits(masks.x, masks.y) | gather_bits(masks.z, masks.w) << 8;
}

/// The highest bit of each byte says whether the byte is at least `threshold`, 0..255.
__device__ inline uint32_t highest_bits_at_least(uint32_t bytes, uint32_t threshold) {
  constexpr uint32_t kHighest = 0x80808080;
  // Whether the other bits are at least those of the threshold.
  const uint32_t is_reached = (bytes | kHighest) - (threshold & 0x7f) * 0x01010101u;
  return (threshold > 0x7f ? is_reached & bytes : is_reached | bytes) & kHighest;
}

/// One bit for each byte that is at least the threshold, 0..256.
__device__ inline uint32_t bits_at_least(const uint4& pixels, uint32_t threshold) {
  if (threshold > 255) {
    return 0;
  }
  const auto bits = [threshold](uint32_t low, uint32_t high) {  // times 128
    return __dp4a(highest_bits_at_least(high, threshold), 0x80402010u,
                  __dp4a(highest_bits_at_least(low, threshold), 0x08040201u, 0u));
  };
  return bits(pixels.x, pixels.y) >> 7 | bits(pixels.z, pixels.w) << 1;
}

/// The bits of a vector's pixels that lie in the frame.
__device__ inline uint32_t bits_in_frame(uint32_t x, uint32_t width) {
  return x >= width ? 0 : width - x >= kVectorPixels ? 0xffffu : (1u << (width - x)) - 1;
}

/// Where the bits of a vector are.
__device__ inline uint16_t* bits_of_vector(uint32_t* bits, uint32_t width, uint32_t vector, uint32_t y) {
  const uint32_t row_words = (width + 127) / 128 * kBitRowAlignment;
  return reinterpret_cast<uint16_t*>(bits + size_t{y} * row_words) + vector;
}

}  // namespace ccl::device::segment
