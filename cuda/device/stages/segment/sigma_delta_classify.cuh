// SPDX-License-Identifier: LGPL-2.1-or-later
/// The luma of a frame: vectors of pixels and their classes.
#pragma once

#include <cstdint>

#include "device/stages/segment/model.cuh"
#include "device/stages/segment/sigma_delta.h"
#include "device/stages/segment/sigma_delta_light.cuh"
#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

/// The work of a frame.
struct LumaJob {
  Plane frame;
  bool is_aligned;
  SigmaDeltaPlanes planes;
  SigmaDeltaChromaPlanes chroma_planes;
  Chroma chroma;
  sigma_delta::Thresholds thresholds;
  uint32_t row_vectors;  ///< of the bit image
  uint32_t inverse;      ///< 2³² / row_vectors, rounded down
  uint32_t* bits;
  Decision decision;
};

/// A vector of the bit image. It may lie behind the frame's columns.
struct Place {
  uint32_t vector;  ///< in its row
  uint32_t x;
  uint32_t y;
};

__device__ inline Place place_of(const LumaJob& job, uint32_t index) {
  uint32_t y = __umulhi(index, job.inverse);  // or the row above it
  uint32_t vector = index - y * job.row_vectors;
  if (vector >= job.row_vectors) {
    vector -= job.row_vectors;
    ++y;
  }
  return {vector, vector * kVectorPixels, y};
}

__device__ inline void store_bits(const LumaJob& job, const Place& place, uint32_t bits) {
  *bits_of_vector(job.bits, job.frame.width, place.vector, place.y) = static_cast<uint16_t>(bits);
}

__device__ inline PixelVector load(const LumaJob& job, const Place& place) {
  const SigmaDeltaPlanes& planes = job.planes;
  return {load_vector(job.frame, job.is_aligned, place.x, place.y),
          load_state(planes.mean, planes.pitch, place.x, place.y),
          load_state(planes.variance, planes.pitch, place.x, place.y),
          load_state(planes.status, planes.pitch, place.x, place.y)};
}

// Four limits of sigma_delta::differs() in a word: a sum of bytes without a carry.
static_assert(sigma_delta::kMaxVariance + sigma_delta::kMaxLumaThreshold <= 255);

/// Masks of the pixels that differ from their own means: sigma_delta::differs(), four at a time.
__device__ inline uint4 find_differing(const sigma_delta::Thresholds& thresholds, const PixelVector& v) {
  uint4 masks;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t far = distance_of_bytes(word_of(v.pixels, i), word_of(v.mean, i));
    set_word(masks, i, above_in_bytes(far, word_of(v.variance, i) + thresholds.luma * kOneInEachByte));
  }
  return masks;
}

/// Masks of the pixels whose luma stands out. `differing`: find_differing().
__device__ inline uint4 look_around(const LumaJob& job, const Place& place, const uint4& differing,
                                    const PixelVector& v) {
  const MeansAround means =
      load_means(job.planes, job.frame.width, job.frame.height, place.x, place.y, v.mean);
  Quad low[kVectorWords];
  Quad high[kVectorWords];
  find_extremes<true>(means, low);
  find_extremes<false>(means, high);
  uint4 masks;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = quad_of(v.pixels, i);
    const Quad differs = quad_of(differing, i);
    const auto stands_out = [&](uint32_t mask, uint32_t value_of, uint32_t low_of, uint32_t high_of) {
      return sigma_delta::stands_out<Lanes>(job.thresholds, mask, value_of,
                                            sigma_delta::Around<Lanes>{low_of, high_of});
    };
    set_word(masks, i,
             Quad{stands_out(differs.even, value.even, low[i].even, high[i].even),
                  stands_out(differs.odd, value.odd, low[i].odd, high[i].odd)}
                 .word());
  }
  return masks;
}

struct FoundBits {
  uint32_t differs;
  uint32_t foreground;
};

/// Adds the pixels that differ in chroma.
__device__ inline void add_chroma(const ChromaClasses& chroma, uint4* differing) {
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    set_word(*differing, i, word_of(*differing, i) | chroma.mask(i, sigma_delta::kChromaDiffers).word());
  }
}

/// `differing`: find_differing(); the pixels that differ in chroma are added to it.
template <bool kHasChroma>
__device__ FoundBits classify(const LumaJob& job, const Place& place, const PixelVector& v,
                              uint4* differing) {
  const uint4 luma = is_zero(*differing) ? *differing : look_around(job, place, *differing, v);
  const uint32_t in_frame = bits_in_frame(place.x, job.frame.width);
  if constexpr (!kHasChroma) {
    const uint32_t bits = gather_bits(luma) & in_frame;
    return {bits, bits};
  }
  const ChromaClasses chroma = load_chroma_classes(job.chroma_planes, job.chroma, place.x, place.y);
  uint4 differs;
  uint4 foreground;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = quad_of(v.pixels, i);
    const Quad mean = quad_of(v.mean, i);
    const Quad stands_out = quad_of(luma, i);
    const Quad chroma_differs = chroma.mask(i, sigma_delta::kChromaDiffers);
    const Quad fits_shadow = chroma.mask(i, sigma_delta::kFitsShadow);
    const auto classify = [&](uint32_t out, uint32_t value_of, uint32_t mean_of, uint32_t of_chroma,
                              uint32_t fits) {
      return sigma_delta::classify<Lanes>(job.thresholds, out, value_of, mean_of,
                                          sigma_delta::ChromaClass<Lanes>{of_chroma, fits, 0});
    };
    const auto even = classify(stands_out.even, value.even, mean.even, chroma_differs.even, fits_shadow.even);
    const auto odd = classify(stands_out.odd, value.odd, mean.odd, chroma_differs.odd, fits_shadow.odd);
    set_word(differs, i, Quad{even.differs, odd.differs}.word());
    set_word(foreground, i, Quad{even.foreground, odd.foreground}.word());
  }
  add_chroma(chroma, differing);
  return {gather_bits(differs) & in_frame, gather_bits(foreground) & in_frame};
}

}  // namespace ccl::device::segment
