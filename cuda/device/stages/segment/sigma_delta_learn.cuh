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
  bool has_mean;
  bool has_variance;
  bool has_status;
  bool differs;  ///< any pixel, so that judge() has to follow
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

/// Whether the status of a vector changes: a pixel differs or did so, or what was seen of a mean rises.
__device__ inline bool has_status_step(const credit::Rates& rates, const uint4& differing,
                                       const uint4& status) {
  const uint32_t to_highest_bit = (128u - rates.below[0]) * kOneInEachByte;
  uint32_t any = 0;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const uint32_t word = word_of(status, i);
    any |= word_of(differing, i) | word | ~((word & ~kHighestBits) + to_highest_bit);
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

/// Learns a vector: sigma_delta::update(), without the parts that leave it as it is. These are most of them
/// in most frames. `differing`: masks of the pixels that differ in luma or chroma.
__device__ inline Learned learn(const sigma_delta::Rates& rates, const uint4& differing,
                                const PixelVector& v) {
  Learned learned;
  learned.has_mean = has_mean_step(rates, v.variance);
  learned.has_variance = rates.up != 0 || rates.down != 0;
  learned.has_status = has_status_step(rates.credit, differing, v.status);
  learned.differs = !is_zero(differing);
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
  if (learned.has_status) {
    learned.status = note_differing(rates.credit, differing, v.status);
  }
  return learned;
}

/// Learns the candidates of a vector in which pixels differ: sigma_delta::judge(). What learn() made of it
/// must be stored. Such vectors are rare: so this is not inlined, and loads what it needs again, and the
/// others need no registers for it.
template <bool kHasChroma>
__device__ __noinline__ static void judge(const LumaJob& job, Place place, credit::Rates rates) {
  const SigmaDeltaPlanes& planes = job.planes;
  const auto load = [&](const uint8_t* plane) { return load_state(plane, planes.pitch, place.x, place.y); };
  const uint4 pixels = load_vector(job.frame, job.is_aligned, place.x, place.y);
  uint4 mean = load(planes.mean);
  uint4 status = load(planes.status);
  uint4 candidate = load(planes.candidate);
  uint4 stay = load(planes.stay);
  ChromaClasses chroma{};
  if constexpr (kHasChroma) {
    chroma = load_chroma_classes(job.chroma_planes, job.chroma, place.x, place.y);
  }
  const sigma_delta::Rates of_frame{.credit = rates};
  const auto judge_half = [&](uint32_t value, uint32_t stays, sigma_delta::Pixel<Lanes>* pixel,
                              sigma_delta::Candidate<Lanes>* of_pixel) {
    const uint32_t differs = Lanes::at_least(pixel->status, Lanes::splat(sigma_delta::kDiffered));
    sigma_delta::judge<Lanes>(of_frame, differs, stays, value, pixel, of_pixel);
  };
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad stays = kHasChroma ? chroma.mask(i, sigma_delta::kStays) : Quad{Lanes::kBytes, Lanes::kBytes};
    const Quad value = quad_of(pixels, i);
    sigma_delta::Pixel<Lanes> even{quad_of(mean, i).even, 0, quad_of(status, i).even};
    sigma_delta::Pixel<Lanes> odd{quad_of(mean, i).odd, 0, quad_of(status, i).odd};
    sigma_delta::Candidate<Lanes> candidate_even{quad_of(candidate, i).even, quad_of(stay, i).even};
    sigma_delta::Candidate<Lanes> candidate_odd{quad_of(candidate, i).odd, quad_of(stay, i).odd};
    judge_half(value.even, stays.even, &even, &candidate_even);
    judge_half(value.odd, stays.odd, &odd, &candidate_odd);
    set_word(mean, i, Quad{even.mean, odd.mean}.word());
    set_word(status, i, Quad{even.status, odd.status}.word());
    set_word(candidate, i, Quad{candidate_even.value, candidate_odd.value}.word());
    set_word(stay, i, Quad{candidate_even.stay, candidate_odd.stay}.word());
  }
  const auto store = [&](uint8_t* plane, const uint4& vector) {
    store_state(plane, planes.pitch, place.x, place.y, vector);
  };
  store(planes.mean, mean);
  store(planes.status, status);
  store(planes.candidate, candidate);
  store(planes.stay, stay);
}

}  // namespace ccl::device::segment
