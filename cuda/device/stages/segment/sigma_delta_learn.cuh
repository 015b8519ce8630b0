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
};

/// Applies learn(old, value) to all pixels, two at a time.
template <typename Learn>
__device__ Learned learn_vector(const PixelVector& v, Learn learn) {
  Learned learned;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    const Quad value = quad_of(v.pixels, i);
    const Quad mean = quad_of(v.mean, i);
    const Quad variance = quad_of(v.variance, i);
    const Quad status = quad_of(v.status, i);
    const sigma_delta::Pixel<Lanes> even = learn({mean.even, variance.even, status.even}, value.even);
    const sigma_delta::Pixel<Lanes> odd = learn({mean.odd, variance.odd, status.odd}, value.odd);
    set_word(learned.mean, i, Quad{even.mean, odd.mean}.word());
    set_word(learned.variance, i, Quad{even.variance, odd.variance}.word());
    set_word(learned.status, i, Quad{even.status, odd.status}.word());
  }
  learned.has_mean = learned.has_variance = learned.has_status = true;
  return learned;
}

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

/// Notes which pixels differ, and which of them did so for long: these are learnt. `learned`: the rest of
/// what the vector learns.
__device__ inline void count_differing(const sigma_delta::Rates& rates, bool counts, const uint4& differing,
                                       const PixelVector& v, Learned* learned) {
  learned->has_status = true;
#pragma unroll
  for (uint32_t i = 0; i < kVectorWords; ++i) {
    uint32_t count = word_of(v.status, i) & ~kHighestBits;
    if (counts) {
      const Quad differs = quad_of(differing, i);
      const Quad status = quad_of(v.status, i);
      const auto even = sigma_delta::count_differing<Lanes>(rates, differs.even, status.even);
      const auto odd = sigma_delta::count_differing<Lanes>(rates, differs.odd, status.odd);
      count = Quad{even.count, odd.count}.word();
      const uint32_t mask = Quad{even.learned, odd.learned}.word();
      const uint32_t mean = learned->has_mean ? word_of(learned->mean, i) : word_of(v.mean, i);
      set_word(learned->mean, i, select_bytes(mask, word_of(v.pixels, i), mean));
    }
    set_word(learned->status, i, count | (word_of(differing, i) & kHighestBits));
  }
  learned->has_mean = learned->has_mean || counts;
}

/// Learns a vector in selective learning: sigma_delta::learn_selectively(), without the parts that leave it
/// as it is. These are most of them in most frames. `differing`: find_differing().
__device__ inline Learned learn_selectively(const LumaJob& job, const sigma_delta::Rates& rates,
                                            const uint4& differing, const PixelVector& v) {
  static_assert(sigma_delta::kDiffered == 128);
  Learned learned;
  learned.has_mean = has_mean_step(rates, v.variance);
  learned.has_variance = rates.up != 0 || rates.down != 0;
  learned.has_status = false;
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
  if (!is_zero(differing) || !is_zero(v.status)) {
    const bool counts = sigma_delta::counts_differing(rates, job.thresholds.ghosts);
    count_differing(rates, counts, differing, v, &learned);
  }
  return learned;
}

}  // namespace ccl::device::segment
