// SPDX-License-Identifier: LGPL-2.1-or-later
/// Background estimation by sigma-delta modulation.
///
/// A. Manzanera, J. C. Richefeu, "A new motion detection algorithm based on Σ-Δ background estimation",
/// Pattern Recognition Letters 28, 2007; A. Manzanera, "Σ-Δ background subtraction and the Zipf law", CIARP
/// 2007.
///
/// The mean M of a pixel moves by 1 towards the pixel, and its variance V by 1 towards N times their
/// difference. So M follows the median of the pixel's values. In the Zipfian form the step counter decides
/// which pixels move: of all steps, the part in which M moves is proportional to V. A pixel is foreground if
/// it differs from M by more than V.
///
/// Where this differs, and why:
/// - A step is 1/64 s, whatever the frame rate (see motion.h): a frame makes all steps since the
///   previous one.
/// - V rises four times as fast as it falls, so it is about the 80 % quantile of N·|difference|, with
///   N = 3/2. A margin that follows from the sensitivity is added to it.
/// - What differs is not learnt (selective update). It becomes the mean when it has stayed for as long as
///   the mean had been seen, but not longer than the learning time: see credit.h. So the background is what
///   has been seen for longest. A ghost goes as soon as it was there for as long as the object.
/// - A pixel must also differ from the means around it: a camera that moves by a pixel changes nothing.
/// - Chroma is a second model, at the resolution of the chroma, without a credit of its own: it learns with
///   the first luma pixel that it belongs to. Foreground is what differs in luma or in chroma, except a cast
///   shadow: darker, and the chroma unchanged or nearer to neutral.
///
/// State: five bytes a pixel, and five a chroma pixel. Two of each are touched only where a pixel differs.
#pragma once

#include <cstdint>

#include "ccl/segment/byte_lanes.h"
#include "ccl/segment/credit.h"
#include "ccl/segment/light.h"

namespace ccl::sigma_delta {

inline constexpr uint32_t kMinVariance = 2;
inline constexpr uint32_t kMaxVariance = 128;
inline constexpr uint32_t kInitialVariance = 6;
/// The variance of chroma that an object hid when the light changed. It is the largest that follows from a
/// change of light.
inline constexpr uint32_t kUnknownVariance = 64;
/// The variance of luma that is or was cut off at white when the light changed.
inline constexpr uint32_t kClippedVariance = 40;
inline constexpr uint32_t kDiffered = 128;  ///< bit of the status: the pixel differed in this frame
inline constexpr uint32_t kSame = 6;        ///< levels by which values of one candidate may differ
inline constexpr uint32_t kNeutral = 128;   ///< chroma of grey

inline constexpr uint32_t kMaxLumaThreshold = 127;

/// What a frame decides by: a function of the sensitivity.
struct Thresholds {
  uint8_t luma = 6;    ///< beyond the variance; at most kMaxLumaThreshold
  uint8_t around = 4;  ///< beyond the means around
  uint8_t chroma = 3;
  uint8_t shadow = 1;  ///< by which the chroma of a shadow may be farther from neutral
  bool shadows = true;

  bool operator==(const Thresholds&) const = default;
};

/// What a frame learns: a function of the time since the previous one.
struct Rates {
  uint8_t steps[3] = {255, 255, 255};  ///< smallest variances of which M moves by at least 1, 2 and 4
  uint8_t up = 0;                      ///< of V
  uint8_t down = 0;
  credit::Rates credit;

  bool operator==(const Rates&) const = default;
};

/// A pixel's state: each field is a plane.
template <typename Lanes>
struct Pixel {
  typename Lanes::Value mean;
  typename Lanes::Value variance;
  typename Lanes::Value status;  ///< code of the time for which the mean was seen (credit.h), and kDiffered
};

/// What may become the mean of a pixel that differs.
template <typename Lanes>
struct Candidate {
  typename Lanes::Value value;
  typename Lanes::Value stay;  ///< code of the time for which it was seen; 0: there is no candidate
};

/// A chroma pixel's state: each field is a plane.
template <typename Lanes>
struct ChromaPixel {
  typename Lanes::Value mean_u;
  typename Lanes::Value mean_v;
  typename Lanes::Value variance;
  typename Lanes::Value candidate_u;
  typename Lanes::Value candidate_v;
};

/// The smallest and largest mean of the 3×3 pixels around a pixel, itself included. Pixels outside the frame
/// do not count.
template <typename Lanes>
struct Around {
  typename Lanes::Value low;
  typename Lanes::Value high;
};

/// Masks about the chroma pixel that a pixel belongs to.
template <typename Lanes>
struct ChromaClass {
  typename Lanes::Value differs;
  typename Lanes::Value fits_shadow;
  typename Lanes::Value stays;  ///< it is like the candidate
};

/// The bits of a class of chroma in a byte, which is kept from the classification to the learning.
inline constexpr uint32_t kChromaDiffers = 1;
inline constexpr uint32_t kFitsShadow = 2;
inline constexpr uint32_t kStays = 4;

template <typename Lanes>
constexpr typename Lanes::Value pack(const ChromaClass<Lanes>& of) {
  return Lanes::either(Lanes::either(Lanes::both(of.differs, Lanes::splat(kChromaDiffers)),
                                     Lanes::both(of.fits_shadow, Lanes::splat(kFitsShadow))),
                       Lanes::both(of.stays, Lanes::splat(kStays)));
}

template <typename Lanes>
constexpr ChromaClass<Lanes> unpack(typename Lanes::Value byte) {
  const auto mask = [byte](uint32_t bit) {
    return Lanes::at_least(Lanes::both(byte, Lanes::splat(bit)), Lanes::splat(bit));
  };
  return {mask(kChromaDiffers), mask(kFitsShadow), mask(kStays)};
}

template <typename Lanes>
struct Class {
  typename Lanes::Value differs;     ///< counts towards a change of light
  typename Lanes::Value foreground;  ///< differs, and is no shadow
};

/// How far U or V is from its mean.
template <typename Lanes>
constexpr typename Lanes::Value chroma_distance(typename Lanes::Value u, typename Lanes::Value v,
                                                typename Lanes::Value mean_u, typename Lanes::Value mean_v) {
  return Lanes::max(distance<Lanes>(u, mean_u), distance<Lanes>(v, mean_v));
}

/// How far a chroma value is outside what a shadow on the background can have.
template <typename Lanes>
constexpr typename Lanes::Value shadow_distance(typename Lanes::Value value, typename Lanes::Value mean) {
  const auto middle = Lanes::add(Lanes::half(mean), Lanes::splat(kNeutral / 2));
  return distance<Lanes>(value, Lanes::min(mean, middle), Lanes::max(mean, middle));
}

template <typename Lanes>
constexpr ChromaClass<Lanes> classify_chroma(const Thresholds& thresholds, typename Lanes::Value u,
                                             typename Lanes::Value v, const ChromaPixel<Lanes>& old) {
  const auto far = chroma_distance<Lanes>(u, v, old.mean_u, old.mean_v);
  const auto outside =
      Lanes::max(shadow_distance<Lanes>(u, old.mean_u), shadow_distance<Lanes>(v, old.mean_v));
  const auto from_candidate = chroma_distance<Lanes>(u, v, old.candidate_u, old.candidate_v);
  return {above<Lanes>(far, Lanes::add(old.variance, Lanes::splat(thresholds.chroma))),
          Lanes::at_least(Lanes::splat(thresholds.shadow), outside),
          Lanes::at_least(Lanes::splat(kSame), from_candidate)};
}

/// The chroma class of an image without chroma.
template <typename Lanes>
constexpr ChromaClass<Lanes> no_chroma() {
  return {Lanes::splat(0), Lanes::splat(0), Lanes::splat(255)};
}

/// Of the light above black, the shadow leaves 11/16 to 7/8.
template <typename Lanes>
constexpr typename Lanes::Value is_shaded(typename Lanes::Value value, typename Lanes::Value mean) {
  const auto black = Lanes::splat(light::kBlack);
  const auto left = Lanes::subtract(value, black);
  const auto full = Lanes::subtract(mean, black);
  const auto eighth = Lanes::half(Lanes::half(Lanes::half(full)));
  const auto most = Lanes::subtract(full, eighth);
  const auto least = Lanes::subtract(Lanes::subtract(most, eighth), Lanes::half(eighth));
  return Lanes::both(above<Lanes>(most, left), Lanes::at_least(left, least));
}

template <typename Lanes>
constexpr typename Lanes::Value differs(const Thresholds& thresholds, typename Lanes::Value far,
                                        typename Lanes::Value variance) {
  return above<Lanes>(far, Lanes::add(variance, Lanes::splat(thresholds.luma)));
}

/// `far`: the mask of differs(). Whether the means around explain the value matters only where it is set.
template <typename Lanes>
constexpr typename Lanes::Value stands_out(const Thresholds& thresholds, typename Lanes::Value far,
                                           typename Lanes::Value value, const Around<Lanes>& around) {
  const auto outside = distance<Lanes>(value, around.low, around.high);
  return Lanes::both(far, above<Lanes>(outside, Lanes::splat(thresholds.around)));
}

/// `luma`: the mask of stands_out().
template <typename Lanes>
constexpr Class<Lanes> classify(const Thresholds& thresholds, typename Lanes::Value luma,
                                typename Lanes::Value value, typename Lanes::Value mean,
                                const ChromaClass<Lanes>& chroma) {
  const auto any = Lanes::either(luma, chroma.differs);
  if (!thresholds.shadows) {
    return {any, any};
  }
  return {any, Lanes::without(any, Lanes::both(chroma.fits_shadow, is_shaded<Lanes>(value, mean)))};
}

/// By how much M may move in this frame.
template <typename Lanes>
constexpr typename Lanes::Value mean_step(const Rates& rates, typename Lanes::Value variance) {
  const auto one = Lanes::splat(1);
  const auto at_least = [&](uint8_t limit, typename Lanes::Value step) {
    return Lanes::both(Lanes::at_least(variance, Lanes::splat(limit)), step);
  };
  const auto first = at_least(rates.steps[0], one);
  if (rates.steps[1] > kMaxVariance) {  // so in most frames
    return first;
  }
  return Lanes::add(Lanes::add(first, at_least(rates.steps[1], one)),
                    at_least(rates.steps[2], Lanes::splat(2)));
}

/// `far`: from the mean. If both rates are 0, the variance stays.
template <typename Lanes>
constexpr typename Lanes::Value move_variance(const Rates& rates, typename Lanes::Value far,
                                              typename Lanes::Value variance) {
  const auto moved = move<Lanes>(variance, Lanes::add(far, Lanes::half(far)), Lanes::splat(rates.up),
                                 Lanes::splat(rates.down));
  return Lanes::min(Lanes::max(moved, Lanes::splat(kMinVariance)), Lanes::splat(kMaxVariance));
}

/// M of a pixel that does not differ.
template <typename Lanes>
constexpr typename Lanes::Value move_mean(const Rates& rates, typename Lanes::Value mean,
                                          typename Lanes::Value variance, typename Lanes::Value value) {
  const auto step = mean_step<Lanes>(rates, variance);
  return move<Lanes>(mean, value, step, step);
}

/// Luma. `differs`: in luma or in chroma; such a pixel only notes that it did, and the rest of what it learns
/// is judge()'s.
template <typename Lanes>
constexpr Pixel<Lanes> update(const Rates& rates, const Pixel<Lanes>& old, typename Lanes::Value value,
                              typename Lanes::Value differs) {
  const auto seen = Lanes::without(old.status, Lanes::splat(kDiffered));
  const auto far = distance<Lanes>(value, old.mean);
  return {Lanes::select(differs, old.mean, move_mean<Lanes>(rates, old.mean, old.variance, value)),
          Lanes::select(differs, old.variance, move_variance<Lanes>(rates, far, old.variance)),
          Lanes::select(differs, Lanes::either(seen, Lanes::splat(kDiffered)),
                        credit::rise<Lanes>(rates.credit, seen))};
}

/// What a pixel that differs learns of its candidate. `differs` and `pixel` as update() takes and returns
/// them; the others stay as they are. `chroma_stays`: see ChromaClass.
template <typename Lanes>
constexpr void judge(const Rates& rates, typename Lanes::Value differs, typename Lanes::Value chroma_stays,
                     typename Lanes::Value value, Pixel<Lanes>* pixel, Candidate<Lanes>* candidate) {
  const auto zero = Lanes::splat(0);
  const auto is_near = Lanes::at_least(Lanes::splat(kSame), distance<Lanes>(value, candidate->value));
  const auto stays = Lanes::both(Lanes::both(is_near, chroma_stays), above<Lanes>(candidate->stay, zero));
  const auto stay = Lanes::select(stays, credit::rise<Lanes>(rates.credit, candidate->stay), Lanes::splat(1));
  const auto seen = Lanes::without(pixel->status, Lanes::splat(kDiffered));
  const auto wins = Lanes::both(Lanes::both(differs, stays),
                                Lanes::at_least(stay, credit::needed<Lanes>(rates.credit, seen)));
  pixel->mean = Lanes::select(wins, value, pixel->mean);
  pixel->status = Lanes::select(wins, Lanes::either(stay, Lanes::splat(kDiffered)), pixel->status);
  candidate->value = Lanes::select(Lanes::without(differs, stays), value, candidate->value);
  candidate->stay = Lanes::select(differs, Lanes::without(stay, wins), candidate->stay);
}

/// What a chroma pixel needs of the first luma pixel that it belongs to, after judge(): masks.
template <typename Lanes>
struct Leader {
  typename Lanes::Value differs;
  typename Lanes::Value learns;  ///< its value became the mean
};

template <typename Lanes>
constexpr Leader<Lanes> leader(typename Lanes::Value status, typename Lanes::Value stay) {
  const auto differs = Lanes::at_least(status, Lanes::splat(kDiffered));
  return {differs, Lanes::without(differs, above<Lanes>(stay, Lanes::splat(0)))};
}

template <typename Lanes>
constexpr ChromaPixel<Lanes> update_chroma(const Thresholds& thresholds, const Rates& rates,
                                           const Leader<Lanes>& leader, const ChromaPixel<Lanes>& old,
                                           typename Lanes::Value u, typename Lanes::Value v) {
  const ChromaClass<Lanes> found = classify_chroma<Lanes>(thresholds, u, v, old);
  const auto differs = Lanes::either(found.differs, leader.differs);
  const auto is_new = Lanes::without(differs, found.stays);
  const auto far = chroma_distance<Lanes>(u, v, old.mean_u, old.mean_v);
  const auto mean = [&](typename Lanes::Value before, typename Lanes::Value value) {
    const auto moved = Lanes::select(differs, before, move_mean<Lanes>(rates, before, old.variance, value));
    return Lanes::select(leader.learns, value, moved);
  };
  return {mean(old.mean_u, u), mean(old.mean_v, v),
          Lanes::select(differs, old.variance, move_variance<Lanes>(rates, far, old.variance)),
          Lanes::select(is_new, u, old.candidate_u), Lanes::select(is_new, v, old.candidate_v)};
}

/// The state of the first frame of a model, which has no candidates.
template <typename Lanes>
constexpr Pixel<Lanes> initialize(typename Lanes::Value value) {
  return {value, Lanes::splat(kInitialVariance), Lanes::splat(0)};
}

/// How a frame is learnt in which the light changed (ccl/segment/light.h).
struct Relearning {
  bool keeps_objects = false;
  bool keeps_misfits = false;
  uint32_t gain = light::kUnchanged;
  uint32_t margin = 0;  ///< Thresholds::luma; of chroma Thresholds::chroma

  bool operator==(const Relearning&) const = default;
};

/// Whether the luma of a pixel that did not differ before fits the gain.
constexpr bool fits(uint32_t gain, uint32_t margin, const Pixel<ByteLane>& old, uint32_t value) {
  return light::fits(value, old.mean, light::relight(old.mean, gain), margin + old.variance);
}

/// Whether it is not known how light the background is. A mean that is cut off does not say how light it was,
/// and if it is now, not how light it is. An object that was cut off too may still be in view.
constexpr bool is_uncertain(bool is_kept, uint32_t mean, uint32_t relit, uint32_t value) {
  return is_kept ? mean >= light::kClipped || relit >= light::kClipped
                 : mean >= light::kClipped && value < light::kClipped;
}

/// Luma of a frame in which the light changed. What is known of the noise stays. Where the background is not
/// known, the variance is large enough for what it may be. Then the mean follows it, and the variance falls.
constexpr Pixel<ByteLane> relearn(const Relearning& how, const Pixel<ByteLane>& old, uint32_t value) {
  const bool is_kept = how.keeps_objects && (old.status >= kDiffered ||
                                             (how.keeps_misfits && !fits(how.gain, how.margin, old, value)));
  const uint32_t relit = light::relight(old.mean, how.gain);
  const uint32_t known = light::relight_variance(old.variance, how.margin, how.gain, kUnknownVariance);
  const bool is_large =
      how.keeps_objects && known < kClippedVariance && is_uncertain(is_kept, old.mean, relit, value);
  const uint32_t variance = is_large ? kClippedVariance : known;
  const uint32_t seen = how.keeps_objects ? old.status & ~kDiffered : 0;
  return is_kept ? Pixel<ByteLane>{relit, variance, seen | kDiffered}
                 : Pixel<ByteLane>{value, variance, seen};
}

/// Whether an object hides the chroma pixel x of a row of `width`, or the one beside it. `luma_status`: what
/// relearn() returned for the first luma row of the chroma row.
constexpr bool is_hidden(const uint8_t* luma_status, uint32_t x, uint32_t width, uint32_t shift_x) {
  const uint32_t before = x > 0 ? x - 1 : 0;
  const uint32_t after = x + 1 < width ? x + 1 : x;
  return (luma_status[before << shift_x] | luma_status[x << shift_x] | luma_status[after << shift_x]) >=
         kDiffered;
}

/// A light may have a colour, so nothing is known of the chroma behind an object: the variance is large, and
/// falls when the object has moved on.
constexpr ChromaPixel<ByteLane> relearn_chroma(const Relearning& how, const ChromaPixel<ByteLane>& old,
                                               bool is_hidden, uint32_t u, uint32_t v) {
  const bool is_kept = how.keeps_objects && is_hidden;
  const uint32_t variance = light::relight_variance(old.variance, how.margin, how.gain, kUnknownVariance);
  return {u, v, is_kept && variance < kUnknownVariance ? kUnknownVariance : variance, u, v};
}

}  // namespace ccl::sigma_delta
