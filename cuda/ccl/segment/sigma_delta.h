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
/// - What differs is not learnt (selective update). It is counted instead, and becomes the mean when it
///   stayed for the learning time. A ghost goes earlier, from its outline inwards: see mark_ghost().
/// - A pixel must also differ from the means around it: a camera that moves by a pixel changes nothing.
/// - Chroma is a second model, at the resolution of the chroma. Foreground is what differs in luma or
///   in chroma, except a cast shadow: darker, and the chroma unchanged or nearer to neutral.
///
/// State: three bytes a pixel, and four a chroma pixel.
#pragma once

#include <cstdint>

#include "ccl/segment/byte_lanes.h"
#include "ccl/segment/light.h"

namespace ccl::sigma_delta {

inline constexpr uint32_t kMinVariance = 2;
inline constexpr uint32_t kMaxVariance = 128;
inline constexpr uint32_t kInitialVariance = 10;
/// The variance of chroma that an object hid when the light changed. It is the largest that follows from a
/// change of light.
inline constexpr uint32_t kUnknownVariance = 64;
/// The variance of luma that is or was cut off at white when the light changed.
inline constexpr uint32_t kClippedVariance = 40;
inline constexpr uint32_t kLearnedCount = 100;  ///< counts after which what differs becomes the mean
inline constexpr uint32_t kAgePart = 1;         ///< see learning_us()
inline constexpr uint32_t kDiffered = 128;      ///< bit of the status: the pixel differed in this frame
inline constexpr uint32_t kGhost = 127;         ///< count of a ghost: the value becomes the mean
inline constexpr uint32_t kGhostCount = 16;     ///< smallest count of what may be a ghost
inline constexpr uint32_t kGhostNeighbors = 3;  ///< of 8, whose means explain the value of a ghost
inline constexpr uint32_t kNeutral = 128;       ///< chroma of grey

inline constexpr uint32_t kMaxLumaThreshold = 127;

/// What a frame decides by: a function of the sensitivity.
struct Thresholds {
  uint8_t luma = 6;    ///< beyond the variance; at most kMaxLumaThreshold
  uint8_t around = 4;  ///< beyond the means around
  uint8_t chroma = 4;
  uint8_t shadow = 1;  ///< by which the chroma of a shadow may be farther from neutral
  bool shadows = true;
  bool ghosts = false;  ///< whether this frame looks for ghosts

  bool operator==(const Thresholds&) const = default;
};

/// What a frame learns: a function of the time since the previous one.
struct Rates {
  uint8_t steps[3] = {255, 255, 255};  ///< smallest variances of which M moves by at least 1, 2 and 4
  uint8_t up = 0;                      ///< of V
  uint8_t down = 0;
  uint8_t count = 0;    ///< towards kLearnedCount
  uint8_t warm_up = 0;  ///< if not 0: M of every pixel moves by this, and what differs is learnt too

  bool operator==(const Rates&) const = default;
};

/// The rates of a warm-up: M moves fast at first, and slower towards the end.
constexpr Rates warm_up_rates(uint32_t duration_us, uint32_t elapsed_us, uint32_t total_us) {
  const uint64_t left_us = elapsed_us < total_us ? total_us - elapsed_us : 0;
  const uint64_t per_second = 30 + (total_us == 0 ? 0 : 210 * left_us / total_us);
  const uint64_t step = (duration_us * per_second + 999'999) / 1'000'000;
  const uint64_t fall = (uint64_t{duration_us} * 30 + 999'999) / 1'000'000;
  Rates rates;
  rates.warm_up = static_cast<uint8_t>(step < 1 ? 1 : step < 64 ? step : 64);
  rates.down = static_cast<uint8_t>(fall < 1 ? 1 : fall < 16 ? fall : 16);
  rates.up = static_cast<uint8_t>(4 * rates.down);
  return rates;
}

/// A pixel's state: each field is a plane.
template <typename Lanes>
struct Pixel {
  typename Lanes::Value mean;
  typename Lanes::Value variance;
  typename Lanes::Value status;  ///< count, and kDiffered
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
};

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
                                             typename Lanes::Value v, typename Lanes::Value mean_u,
                                             typename Lanes::Value mean_v, typename Lanes::Value variance) {
  const auto far = chroma_distance<Lanes>(u, v, mean_u, mean_v);
  const auto outside = Lanes::max(shadow_distance<Lanes>(u, mean_u), shadow_distance<Lanes>(v, mean_v));
  return {above<Lanes>(far, Lanes::add(variance, Lanes::splat(thresholds.chroma))),
          Lanes::at_least(Lanes::splat(thresholds.shadow), outside)};
}

/// The chroma class of an image without chroma.
template <typename Lanes>
constexpr ChromaClass<Lanes> no_chroma() {
  return {Lanes::splat(0), Lanes::splat(0)};
}

/// Under 7/8 of the mean, but not under 3/8.
template <typename Lanes>
constexpr typename Lanes::Value is_shaded(typename Lanes::Value value, typename Lanes::Value mean) {
  const auto quarter = Lanes::half(Lanes::half(mean));
  const auto eighth = Lanes::half(quarter);
  return Lanes::both(above<Lanes>(Lanes::subtract(mean, eighth), value),
                     Lanes::at_least(value, Lanes::add(quarter, eighth)));
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

/// Looks for ghosts: what an object has left behind, and not an object that stands. The background around a
/// ghost's outermost pixels is like the frame, or more like it than like what the model believes of them. So
/// they become background, and then the next ones. Returns the status.
///
/// Outside the frame, the nearest pixels count. `differs`: whether the pixel differs from its own mean, and
/// of luma not in chroma too: an object that has the luma of the background beside it is no ghost. `far`: the
/// value's distance from the 8 means around it; `edge`: the distance of its own mean from these.
template <typename Lanes>
constexpr typename Lanes::Value mark_ghost(uint32_t threshold, typename Lanes::Value differs,
                                           const typename Lanes::Value (&far)[8],
                                           const typename Lanes::Value (&edge)[8],
                                           typename Lanes::Value status) {
  auto n = Lanes::splat(0);
  for (uint32_t i = 0; i < 8; ++i) {
    const auto limit = Lanes::max(Lanes::splat(threshold), Lanes::half(Lanes::half(edge[i])));
    n = Lanes::add(n, Lanes::both(Lanes::at_least(limit, far[i]), Lanes::splat(1)));
  }
  const auto count = Lanes::without(status, Lanes::splat(kDiffered));
  const auto is_ghost = Lanes::both(differs, Lanes::both(Lanes::at_least(n, Lanes::splat(kGhostNeighbors)),
                                                         Lanes::at_least(count, Lanes::splat(kGhostCount))));
  return Lanes::either(status, Lanes::both(is_ghost, Lanes::splat(kGhost)));
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

/// What the update of luma and chroma have in common.
template <typename Lanes>
struct Change {
  typename Lanes::Value learned;  ///< a mask: the value becomes the mean
  typename Lanes::Value step;     ///< of the mean, if not
  typename Lanes::Value variance;
  typename Lanes::Value status;
};

/// `far`: from the mean. If both rates are 0, the variance stays.
template <typename Lanes>
constexpr typename Lanes::Value move_variance(const Rates& rates, typename Lanes::Value far,
                                              typename Lanes::Value variance) {
  const auto moved = move<Lanes>(variance, Lanes::add(far, Lanes::half(far)), Lanes::splat(rates.up),
                                 Lanes::splat(rates.down));
  return Lanes::min(Lanes::max(moved, Lanes::splat(kMinVariance)), Lanes::splat(kMaxVariance));
}

/// Whether counts may reach their end in a frame. `ghosts`: see Thresholds.
constexpr bool counts_differing(const Rates& rates, bool ghosts) {
  return rates.count != 0 || ghosts;
}

/// How long a pixel has differed.
template <typename Lanes>
struct Count {
  typename Lanes::Value learned;  ///< a mask: the count has reached its end, and the value becomes the mean
  typename Lanes::Value count;    ///< the status without kDiffered
};

template <typename Lanes>
constexpr Count<Lanes> count_differing(const Rates& rates, typename Lanes::Value differs,
                                       typename Lanes::Value status) {
  const auto tick = Lanes::splat(rates.count);
  const auto before = Lanes::without(status, Lanes::splat(kDiffered));
  const auto now =
      Lanes::select(differs, Lanes::add(before, tick), Lanes::subtract(before, Lanes::add(tick, tick)));
  const auto learned = Lanes::at_least(now, Lanes::splat(kLearnedCount));
  return {learned, Lanes::without(now, learned)};
}

/// In selective learning. `counts`: see counts_differing().
template <typename Lanes>
constexpr Change<Lanes> learn_selectively(const Rates& rates, bool counts, typename Lanes::Value far,
                                          typename Lanes::Value differs, typename Lanes::Value variance,
                                          typename Lanes::Value status) {
  const auto differed = Lanes::splat(kDiffered);
  const Count<Lanes> counted = counts ? count_differing<Lanes>(rates, differs, status)
                                      : Count<Lanes>{Lanes::splat(0), Lanes::without(status, differed)};
  return {counted.learned, Lanes::without(mean_step<Lanes>(rates, variance), differs),
          Lanes::select(differs, variance, move_variance<Lanes>(rates, far, variance)),
          Lanes::either(counted.count, Lanes::both(differs, differed))};
}

template <typename Lanes>
constexpr Change<Lanes> learn(const Rates& rates, bool counts, typename Lanes::Value far,
                              typename Lanes::Value differs, typename Lanes::Value variance,
                              typename Lanes::Value status) {
  if (rates.warm_up == 0) {
    return learn_selectively<Lanes>(rates, counts, far, differs, variance, status);
  }
  return {Lanes::splat(0), Lanes::splat(rates.warm_up), move_variance<Lanes>(rates, far, variance),
          Lanes::both(differs, Lanes::splat(kDiffered))};
}

template <typename Lanes>
constexpr typename Lanes::Value learn_mean(const Change<Lanes>& change, typename Lanes::Value mean,
                                           typename Lanes::Value value) {
  return Lanes::select(change.learned, value, move<Lanes>(mean, value, change.step, change.step));
}

/// Luma. `old` is the state that classify() has read.
template <typename Lanes>
constexpr Pixel<Lanes> update(const Thresholds& thresholds, const Rates& rates, const Pixel<Lanes>& old,
                              typename Lanes::Value value) {
  const auto far = distance<Lanes>(value, old.mean);
  const Change<Lanes> change =
      learn<Lanes>(rates, counts_differing(rates, thresholds.ghosts), far,
                   differs<Lanes>(thresholds, far, old.variance), old.variance, old.status);
  return {learn_mean<Lanes>(change, old.mean, value), change.variance, change.status};
}

/// M of a pixel that does not differ, in selective learning.
template <typename Lanes>
constexpr typename Lanes::Value move_mean(const Rates& rates, typename Lanes::Value mean,
                                          typename Lanes::Value variance, typename Lanes::Value value) {
  const auto step = mean_step<Lanes>(rates, variance);
  return move<Lanes>(mean, value, step, step);
}

/// A chroma pixel's state: each field is a plane.
template <typename Lanes>
struct ChromaPixel {
  typename Lanes::Value mean_u;
  typename Lanes::Value mean_v;
  typename Lanes::Value variance;
  typename Lanes::Value status;
};

template <typename Lanes>
constexpr ChromaPixel<Lanes> update_chroma(const Thresholds& thresholds, const Rates& rates,
                                           const ChromaPixel<Lanes>& old, typename Lanes::Value u,
                                           typename Lanes::Value v) {
  const auto far = chroma_distance<Lanes>(u, v, old.mean_u, old.mean_v);
  const auto differs = above<Lanes>(far, Lanes::add(old.variance, Lanes::splat(thresholds.chroma)));
  const Change<Lanes> change =
      learn<Lanes>(rates, counts_differing(rates, thresholds.ghosts), far, differs, old.variance, old.status);
  return {learn_mean<Lanes>(change, old.mean_u, u), learn_mean<Lanes>(change, old.mean_v, v), change.variance,
          change.status};
}

/// The state of the first frame of a model.
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
  return is_kept ? Pixel<ByteLane>{relit, variance, kDiffered} : Pixel<ByteLane>{value, variance, 0};
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
  const bool is_kept = how.keeps_objects && (is_hidden || old.status >= kDiffered);
  const uint32_t variance = light::relight_variance(old.variance, how.margin, how.gain, kUnknownVariance);
  return {u, v, is_kept && variance < kUnknownVariance ? kUnknownVariance : variance, 0};
}

}  // namespace ccl::sigma_delta
