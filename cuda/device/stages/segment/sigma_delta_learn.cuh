// SPDX-License-Identifier: LGPL-2.1-or-later
/// How a vector of the sigma-delta model learns.
#pragma once

#include <cstdint>

#include "device/stages/segment/sigma_delta_classify.cuh"
#include "device/stages/segment/sigma_delta_vectors.cuh"

namespace ccl::device::segment {

/// What a vector has learned, and which of it is to be stored.
struct Learned {
  uint4 mean;
  uint4 variance;
  uint4 status;
  uint4 candidate;
  uint4 stay;
  bool has_mean;
  bool has_variance;
  bool has_status;
  bool has_candidate;
};

/// Applies next(even or odd values of four pixels) to all words of a vector.
template <typename Next>
__device__ uint4 for_each_half(const PixelVector& v, Next next) {
  uint4 result;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = quad_of(v.pixels, i);
    const Quad mean = quad_of(v.mean, i);
    const Quad variance = quad_of(v.variance, i);
    set_word(
        result, i,
        Quad{next(value.even, mean.even, variance.even), next(value.odd, mean.odd, variance.odd)}.word());
  }
  return result;
}

/// `now` in pixels that do not differ, else `before`.
__device__ inline uint4 unless(const uint4& differing, const uint4& before, const uint4& now) {
  uint4 result;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    set_word(result, i, select_bytes(word_of(differing, i), word_of(before, i), word_of(now, i)));
  }
  return result;
}

/// Whether M of any pixel may move: V + 128 − step has the highest bit where V ≥ step.
__device__ inline bool has_mean_step(const sigma_delta::Rates& rates, const uint4& variances) {
  static_assert(sigma_delta::kMaxVariance <= 128);
  if (rates.steps[0] > sigma_delta::kMaxVariance) {
    return false;
  }
  const uint32_t to_highest_bit = (128u - rates.steps[0]) * kOneInEachByte;
  uint32_t any = 0;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    any |= word_of(variances, i) + to_highest_bit;
  }
  return (any & kHighestBits) != 0;
}

/// The status of a vector: what was seen of the means, and which pixels differ. Four codes rise at a time: a
/// sum with 128 − limit has the highest bit where the code is not below the limit.
__device__ inline uint4 note_differing(const credit::Rates& rates, const uint4& differing,
                                       const uint4& status) {
  static_assert(credit::kMaxCode == 127 && sigma_delta::kDiffered == 128);
  uint4 noted;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t seen = word_of(status, i) & ~kHighestBits;
    uint32_t risen = seen;
    for (uint32_t k = 0; k < credit::kMostTicks && rates.below[k] > 0; ++k) {
      risen += ~(seen + (128u - rates.below[k]) * kOneInEachByte) >> 7 & kOneInEachByte;
    }
    set_word(noted, i, select_bytes(word_of(differing, i), seen | kHighestBits, risen));
  }
  return noted;
}

/// Pixels that differ, with their candidates: sigma_delta::judge(). Only in vectors that have such pixels:
/// not inlined, so that the others need no registers for it. `mean` and `status` as they are without it.
template <bool kHasChroma>
__device__ __noinline__ static Learned judge(const LumaJob& job, Place place, credit::Rates rates,
                                             uint4 differing, uint4 pixels, Learned learned) {
  ChromaClasses chroma{};
  if constexpr (kHasChroma) {
    chroma = load_chroma_classes(job.chroma_planes, job.chroma, place.x, place.y);
  }
  learned.candidate = load_state(job.planes.candidate, job.planes.pitch, place.x, place.y);
  learned.stay = load_state(job.planes.stay, job.planes.pitch, place.x, place.y);
  learned.has_mean = learned.has_status = learned.has_candidate = true;
  const sigma_delta::Rates of_frame{.credit = rates};
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad differs = quad_of(differing, i);
    const Quad stays = kHasChroma ? chroma.mask(i, kStays) : Quad{Lanes::kBytes, Lanes::kBytes};
    const Quad value = quad_of(pixels, i);
    const Quad mean = quad_of(learned.mean, i);
    const Quad status = quad_of(learned.status, i);
    const Quad candidate = quad_of(learned.candidate, i);
    const Quad stay = quad_of(learned.stay, i);
    sigma_delta::Pixel<Lanes> even{mean.even, 0, status.even};
    sigma_delta::Pixel<Lanes> odd{mean.odd, 0, status.odd};
    sigma_delta::Candidate<Lanes> candidate_even{candidate.even, stay.even};
    sigma_delta::Candidate<Lanes> candidate_odd{candidate.odd, stay.odd};
    sigma_delta::judge<Lanes>(of_frame, differs.even, stays.even, value.even, &even, &candidate_even);
    sigma_delta::judge<Lanes>(of_frame, differs.odd, stays.odd, value.odd, &odd, &candidate_odd);
    set_word(learned.mean, i, Quad{even.mean, odd.mean}.word());
    set_word(learned.status, i, Quad{even.status, odd.status}.word());
    set_word(learned.candidate, i, Quad{candidate_even.value, candidate_odd.value}.word());
    set_word(learned.stay, i, Quad{candidate_even.stay, candidate_odd.stay}.word());
  }
  return learned;
}

/// Learns a vector: sigma_delta::update() and judge(), without the parts that leave it as it is. These are
/// most of them in most frames. `differing`: masks of the pixels that differ in luma or chroma.
template <bool kHasChroma>
__device__ inline Learned learn(const LumaJob& job, const Place& place, const sigma_delta::Rates& rates,
                                const uint4& differing, const PixelVector& v) {
  Learned learned;
  learned.has_mean = has_mean_step(rates, v.variance);
  learned.has_variance = rates.up != 0 || rates.down != 0;
  learned.has_candidate = false;
  learned.mean = v.mean;
  if (learned.has_mean) {
    const uint4 moved = for_each_half(v, [&](uint32_t value, uint32_t mean, uint32_t variance) {
      return sigma_delta::move_mean<Lanes>(rates, mean, variance, value);
    });
    learned.mean = unless(differing, v.mean, moved);
  }
  if (learned.has_variance) {
    const uint4 moved = for_each_half(v, [&](uint32_t value, uint32_t mean, uint32_t variance) {
      return sigma_delta::move_variance<Lanes>(rates, distance<Lanes>(value, mean), variance);
    });
    learned.variance = unless(differing, v.variance, moved);
  }
  learned.status = note_differing(rates.credit, differing, v.status);
  learned.has_status = !is_equal(learned.status, v.status);
  return is_zero(differing) ? learned
                            : judge<kHasChroma>(job, place, rates.credit, differing, v.pixels, learned);
}

}  // namespace ccl::device::segment
