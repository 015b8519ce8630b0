// SPDX-License-Identifier: LGPL-2.1-or-later
/// Vectors of a frame in which the light changed (ccl/segment/light.h). That is rare, so these functions are
/// not inlined.
#pragma once

#include <cstdint>

#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

/// 16 pixels of the frame, and their state.
struct PixelVector {
  uint4 pixels;
  uint4 mean;
  uint4 variance;
  uint4 status;
};

__device__ inline uint32_t byte_of(const uint4& vector, uint32_t i) {
  return word_of(vector, i / 4) >> i % 4 * 8 & 0xff;
}

__device__ inline sigma_delta::Pixel<ByteLane> pixel_of(const PixelVector& v, uint32_t i) {
  return {byte_of(v.mean, i), byte_of(v.variance, i), byte_of(v.status, i)};
}

/// Pixels of a vector that are lighter than their mean, and darker, by more than the margin and the variance.
__device__ __noinline__ static uint2 count_sides(uint32_t margin, uint32_t n_pixels, PixelVector v) {
  uint2 n = make_uint2(0, 0);
#pragma unroll
  for (uint32_t i = 0; i < kVectorPixels; ++i) {
    const sigma_delta::Pixel<ByteLane> pixel = pixel_of(v, i);
    const uint32_t value = byte_of(v.pixels, i);
    const uint32_t far = pixel.variance + margin;
    n.x += i < n_pixels && value > pixel.mean + far ? 1 : 0;
    n.y += i < n_pixels && pixel.mean > value + far ? 1 : 0;
  }
  return n;
}

/// What light::gain() needs of a vector: now, and before.
__device__ __noinline__ static uint2 compare_light(uint32_t n_pixels, PixelVector v) {
  uint2 sums = make_uint2(0, 0);
#pragma unroll
  for (uint32_t i = 0; i < kVectorPixels; ++i) {
    const sigma_delta::Pixel<ByteLane> pixel = pixel_of(v, i);
    const uint32_t value = byte_of(v.pixels, i);
    if (i < n_pixels && pixel.status < sigma_delta::kDiffered && light::counts(value, pixel.mean)) {
      sums.x += value - light::kBlack;
      sums.y += pixel.mean - light::kBlack;
    }
  }
  return sums;
}

/// Pixels of a vector that did not differ before and do not fit the gain.
__device__ __noinline__ static uint32_t count_misfits(const sigma_delta::Relearning& how, uint32_t n_pixels,
                                                      PixelVector v) {
  uint32_t n = 0;
#pragma unroll
  for (uint32_t i = 0; i < kVectorPixels; ++i) {
    const sigma_delta::Pixel<ByteLane> pixel = pixel_of(v, i);
    if (i < n_pixels && pixel.status < sigma_delta::kDiffered) {
      n += sigma_delta::fits(how.gain, how.margin, pixel, byte_of(v.pixels, i)) ? 0 : 1;
    }
  }
  return n;
}

/// The state of a frame in which the light changed.
__device__ __noinline__ static PixelVector relearn_vector(sigma_delta::Relearning how, PixelVector v) {
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    uint32_t mean = 0;
    uint32_t variance = 0;
    uint32_t status = 0;
#pragma unroll
    for (uint32_t k = 0; k < 4; ++k) {
      const uint32_t at = i * 4 + k;
      const auto pixel = sigma_delta::relearn(how, pixel_of(v, at), byte_of(v.pixels, at));
      mean |= pixel.mean << k * 8;
      variance |= pixel.variance << k * 8;
      status |= pixel.status << k * 8;
    }
    set_word(v.mean, i, mean);
    set_word(v.variance, i, variance);
    set_word(v.status, i, status);
  }
  return v;
}

}  // namespace ccl::device::segment
