// SPDX-License-Identifier: LGPL-2.1-or-later
/// Vectors of 16 pixels of the sigma-delta model's planes, and the means around them.
#pragma once

#include <cstdint>

#include "device/stages/segment/lanes.cuh"
#include "device/stages/segment/sigma_delta.h"
#include "device/stages/segment/vectors.cuh"

namespace ccl::device::segment {

using Lanes = HalfLanes;

inline constexpr uint32_t kOneInEachByte = 0x01010101;
inline constexpr uint32_t kHighestBits = 0x80808080;

__device__ inline uint4 load_state(const uint8_t* plane, size_t pitch, uint32_t x, uint32_t y) {
  return *reinterpret_cast<const uint4*>(plane + y * pitch + x);
}

__device__ inline void store_state(uint8_t* plane, size_t pitch, uint32_t x, uint32_t y,
                                   const uint4& vector) {
  *reinterpret_cast<uint4*>(plane + y * pitch + x) = vector;
}

__device__ inline uint32_t word_of(const uint4& vector, uint32_t i) {
  return i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w;
}

__device__ inline void set_word(uint4& vector, uint32_t i, uint32_t word) {
  (i == 0 ? vector.x : i == 1 ? vector.y : i == 2 ? vector.z : vector.w) = word;
}

__device__ inline bool is_zero(const uint4& vector) {
  return (vector.x | vector.y | vector.z | vector.w) == 0;
}

__device__ inline Quad quad_of(const uint4& vector, uint32_t i) {
  return Quad::of(word_of(vector, i));
}

/// Makes what is behind the first `n` pixels copies of the last of them; n is not 0.
__device__ inline void pad_vector(uint4& vector, uint32_t n) {
  uint32_t last = 0;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    if (i == (n - 1) / 4) {
      last = (word_of(vector, i) >> (n - 1) % 4 * 8 & 0xff) * 0x01010101u;
    }
  }
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t behind = n >= 4 * i + 4 ? 0 : n <= 4 * i ? ~0u : ~0u << n % 4 * 8;
    set_word(vector, i, (word_of(vector, i) & ~behind) | (last & behind));
  }
}

/// The means in three rows, of a vector and of a pixel to each side; those outside the frame are copies of
/// the nearest ones.
struct MeansAround {
  uint4 vector[3];
  uint32_t before[3];
  uint32_t after[3];
};

/// `here`: the means of the vector itself.
__device__ inline MeansAround load_means(const SigmaDeltaPlanes& planes, uint32_t width, uint32_t height,
                                         uint32_t x, uint32_t y, const uint4& here) {
  MeansAround means;
  const uint32_t rows[3] = {y > 0 ? y - 1 : 0, y, min(y + 1, height - 1)};
#pragma unroll
  for (uint32_t i = 0; i < 3; ++i) {
    const uint8_t* row = planes.mean + rows[i] * planes.pitch;
    means.vector[i] = i == 1 ? here : load_state(planes.mean, planes.pitch, x, rows[i]);
    means.before[i] = row[x > 0 ? x - 1 : 0];
    means.after[i] = row[min(x + kVectorPixels, width - 1)];
    if (x + kVectorPixels > width) {
      pad_vector(means.vector[i], width - x);
    }
  }
  return means;
}

/// The smallest (kIsLow) or largest mean around each pixel.
template <bool kIsLow>
__device__ inline void find_extremes(const MeansAround& means, Quad* extremes) {
  const auto extreme = [](uint32_t a, uint32_t b, uint32_t c) {
    return kIsLow ? Lanes::min(Lanes::min(a, b), c) : Lanes::max(Lanes::max(a, b), c);
  };
  Quad columns[kVectorWords];
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad above = Quad::of(word_of(means.vector[0], i));
    const Quad here = Quad::of(word_of(means.vector[1], i));
    const Quad below = Quad::of(word_of(means.vector[2], i));
    columns[i] = {extreme(above.even, here.even, below.even), extreme(above.odd, here.odd, below.odd)};
  }
  const uint32_t before = extreme(means.before[0], means.before[1], means.before[2]) << 16;
  const uint32_t after = extreme(means.after[0], means.after[1], means.after[2]);
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t odd_before = __funnelshift_l(i > 0 ? columns[i - 1].odd : before, columns[i].odd, 16);
    const uint32_t even_after =
        __funnelshift_r(columns[i].even, i + 1 < kVectorWords ? columns[i + 1].even : after, 16);
    extremes[i] = {extreme(odd_before, columns[i].even, columns[i].odd),
                   extreme(columns[i].even, columns[i].odd, even_after)};
  }
}

/// The classes of the chroma of sixteen pixels: bytes of sigma_delta::pack().
struct ChromaClasses {
  uint4 bytes;

  /// A mask of the four pixels of a word that are of a class.
  __device__ Quad mask(uint32_t i, uint32_t is_class) const {
    const Quad quad = quad_of(bytes, i);
    const uint32_t shift = is_class >> 1;  // of 1, 2 and 4
    return {(quad.even >> shift & Lanes::kOnes) * 255, (quad.odd >> shift & Lanes::kOnes) * 255};
  }
};
static_assert(sigma_delta::kChromaDiffers == 1 && sigma_delta::kFitsShadow == 2 && sigma_delta::kStays == 4);

__device__ inline ChromaClasses load_chroma_classes(const SigmaDeltaChromaPlanes& planes,
                                                    const Chroma& chroma, uint32_t x, uint32_t y) {
  const uint8_t* row = planes.classes + (y >> chroma.shift_y) * planes.pitch + (x >> chroma.shift_x);
  if (chroma.shift_x == 0) {
    return {*reinterpret_cast<const uint4*>(row)};
  }
  const uint2 half = *reinterpret_cast<const uint2*>(row);
  return {make_uint4(__byte_perm(half.x, 0, 0x1100), __byte_perm(half.x, 0, 0x3322),
                     __byte_perm(half.y, 0, 0x1100), __byte_perm(half.y, 0, 0x3322))};
}

}  // namespace ccl::device::segment
