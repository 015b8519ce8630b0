// SPDX-License-Identifier: LGPL-2.1-or-later
/// A mixture of Gaussians with a variable number of modes.
///
/// Z. Zivkovic, "Improved adaptive Gaussian mixture model for background subtraction", ICPR 2004; Z.
/// Zivkovic, F. van der Heijden, Pattern Recognition Letters 27, 2006.
///
/// Each pixel has up to kModes modes: values that it takes, each with a weight (the part of the time in which
/// it takes them), a mean and a variance. A value that is near a mode belongs to it and moves it; any other
/// value begins a mode, in place of the lightest one. Modes without support lose weight and vanish. Modes of
/// enough weight are the background, and a pixel is foreground if it belongs to none of them.
///
/// In fixed point, and where this differs:
/// - Weights: 0..65535 is 0..1. A mode whose weight is at least kBackgroundWeight is background, so
///   the number of background modes is not computed from their sum.
/// - Means and variances have 8 fraction bits. They move faster than weights, so that slow changes of
///   light are followed, however long the learning time is.
/// - U and V have means of 8 bits that move by 1 at a time. One variance serves the sum of the squared
///   distances of Y, U and V.
/// - A pixel must also differ from the heaviest modes of the pixels around: a camera that moves by a
///   pixel changes nothing.
/// - A cast shadow is darker, and its chroma is nearer to neutral by the same factor. Without chroma
///   there are no shadows.
///
/// Modes are in the order of their weights, so those without weight are the last ones: only one mode gains
/// weight in a frame, and it moves up as far as it has to.
///
/// State: eight bytes a mode, 24 a pixel. A fourth mode changes no figure of docs/foreground.md by 0.003.
#pragma once

#include <cstdint>

#include "ccl/segment/light.h"
#include "ccl/segment/word_lanes.h"

namespace ccl::mixture {

inline constexpr uint32_t kModes = 3;
inline constexpr uint32_t kFullWeight = 65535;
inline constexpr uint32_t kBackgroundWeight = 8192;  ///< 1/8
/// −ln(1 − 1/8) of 65536: at this rate per learning time, a new mode weighs kBackgroundWeight after that
/// time.
inline constexpr uint32_t kLearnedWeight = 8751;
/// A smaller rate waits for later frames: products of weights and rates are rounded, so a mode without
/// support keeps a weight of less than 32768 divided by the rate, which must not be background.
inline constexpr uint32_t kLeastRate = 8;
static_assert(32768 / kLeastRate < kBackgroundWeight);
/// See learning_us(). Less than with Σ-Δ, because it costs less: the old background is not forgotten.
inline constexpr uint32_t kAgePart = 2;
inline constexpr uint32_t kPrunePart = 20;    ///< modes lose this part of the weight rate
inline constexpr uint32_t kGhost = 1u << 15;  ///< bit of the first mode's variance: see is_ghost()
inline constexpr uint32_t kGhostWeight = kBackgroundWeight / 4;  ///< smallest weight of a ghost
inline constexpr uint32_t kGhostNeighbors = 3;                   ///< of 8, whose background is like a ghost
inline constexpr uint32_t kNewWeight = 64;
/// Weights of what the frame shows where the light changed, and of what was known before, if they are no
/// first modes.
inline constexpr uint32_t kSeenWeight = kBackgroundWeight;
inline constexpr uint32_t kKnownWeight = 24576;
inline constexpr uint32_t kHalfWeight = 32768;  ///< a second mode of less is not kept when the light changes
inline constexpr uint32_t kLightMargin = 16;    ///< luma: see light::fits()
inline constexpr uint32_t kMeanBits = 8;        ///< fraction bits of means and variances
inline constexpr uint32_t kMinVariance = 4 << kMeanBits;
inline constexpr uint32_t kMaxVariance = 75 << kMeanBits;
inline constexpr uint32_t kInitialVariance = 15 << kMeanBits;
inline constexpr uint32_t kRateBits = 12;
inline constexpr uint32_t kFit = 9;  ///< squared distance of values that belong to a mode, in variances
inline constexpr uint32_t kNeutral = 128;

/// What a frame decides by: a function of the sensitivity.
struct Thresholds {
  uint16_t variances = 16;  ///< squared distance of foreground from its background, in variances
  uint8_t around = 4;       ///< distance from the means around
  uint8_t shadow = 2;       ///< by which the chroma of a shadow may differ
  bool shadows = true;
  bool ghosts = false;  ///< whether this frame looks for ghosts

  bool operator==(const Thresholds&) const = default;
};

/// What a frame learns: a function of the time since the previous one.
struct Rates {
  uint16_t weight = 0;  ///< of 65536
  uint16_t prune = 0;   ///< weight that every mode loses
  uint16_t mean = 0;    ///< of 2^kRateBits: also of the variance
  uint8_t chroma = 0;   ///< by how much a mean of U and V may move

  bool operator==(const Rates&) const = default;
};

/// The rates of a warm-up: the means of all values since it began.
constexpr Rates warm_up_rates(const Rates& rates, uint32_t duration_us, uint32_t elapsed_us) {
  const uint64_t total_us = uint64_t{elapsed_us} + duration_us;
  const auto part = static_cast<uint32_t>(total_us == 0 ? 0 : (uint64_t{duration_us} << 16) / total_us);
  Rates fast = rates;
  fast.weight = static_cast<uint16_t>(part > rates.weight ? part : rates.weight);
  fast.prune = 0;
  const uint32_t mean = part >> (16 - kRateBits);
  fast.mean = static_cast<uint16_t>(mean > rates.mean ? mean : rates.mean);
  fast.chroma = 2;
  return fast;
}

/// A value of the frame. Without chroma, U and V are kNeutral.
template <typename Lanes>
struct Color {
  typename Lanes::Value y;
  typename Lanes::Value u;
  typename Lanes::Value v;
};

/// A mode; each of weight, mean, variance and chroma is a plane of 16 bits.
template <typename Lanes>
struct Mode {
  typename Lanes::Value weight;
  typename Lanes::Value mean;
  typename Lanes::Value variance;
  typename Lanes::Value chroma;  ///< mean of U, and in the high byte mean of V

  constexpr typename Lanes::Value u() const { return chroma & 0xff; }
  constexpr typename Lanes::Value v() const { return chroma >> 8; }
};

template <typename Lanes>
struct Pixel {
  Mode<Lanes> modes[kModes];
};

/// The smallest and largest background luma of the 3×3 pixels around a pixel, itself included. Pixels outside
/// the frame do not count.
template <typename Lanes>
struct Around {
  typename Lanes::Value low;
  typename Lanes::Value high;
};

template <typename Lanes>
struct Class {
  typename Lanes::Value differs;     ///< a mask: counts towards a change of light
  typename Lanes::Value foreground;  ///< a mask: differs, and is no shadow
};

/// The background of a pixel, from the planes of its first mode.
template <typename Lanes>
constexpr typename Lanes::Value background_luma(typename Lanes::Value mean) {
  return (mean + (1u << (kMeanBits - 1))) >> kMeanBits;
}

template <typename Lanes>
constexpr typename Lanes::Value square(typename Lanes::Value a) {
  return a * a;
}

/// Squares have kMeanBits fraction bits.
template <typename Lanes>
struct Distance {
  typename Lanes::Value luma;
  typename Lanes::Value chroma;
};

template <typename Lanes>
constexpr Distance<Lanes> distance_from(const Mode<Lanes>& mode, const Color<Lanes>& color) {
  const auto far = difference<Lanes>(color.y << kMeanBits, mode.mean) >> (kMeanBits / 2);
  const auto du = difference<Lanes>(color.u, mode.u());
  const auto dv = difference<Lanes>(color.v, mode.v());
  return {square<Lanes>(far), (square<Lanes>(du) + square<Lanes>(dv)) << (kMeanBits + 1)};
}

/// Whether the color is a shadow on the mode: a·mode with 3/8 ≤ a < 7/8.
template <typename Lanes>
constexpr typename Lanes::Value is_shadow(const Thresholds& thresholds, const Mode<Lanes>& mode,
                                          const Color<Lanes>& color) {
  const auto mean = background_luma<Lanes>(mode.mean);
  const auto darker = Lanes::at_least(mean * 7, color.y * 8 + 1) & Lanes::at_least(color.y * 8, mean * 3);
  // |(u − 128)·mean − (mode.u − 128)·y| ≤ shadow·mean, without negative numbers.
  const auto neutral = excess<Lanes>(mean, color.y) * kNeutral;
  const auto limit = mean * thresholds.shadow;
  const auto fits_u = Lanes::at_least(limit, difference<Lanes>(color.u * mean, mode.u() * color.y + neutral));
  const auto fits_v = Lanes::at_least(limit, difference<Lanes>(color.v * mean, mode.v() * color.y + neutral));
  return darker & fits_u & fits_v;
}

/// `around` returns the Around of the pixel. It is called only if it can matter.
template <typename Lanes, typename LoadAround>
constexpr Class<Lanes> classify(const Thresholds& thresholds, const Pixel<Lanes>& pixel,
                                const Color<Lanes>& color, LoadAround around, bool has_chroma) {
  auto known = Lanes::splat(0);
  auto has_chroma_of = Lanes::splat(0);  // a background mode
  for (const Mode<Lanes>& mode : pixel.modes) {
    const auto is_background = Lanes::at_least(mode.weight, Lanes::splat(kBackgroundWeight));
    if (!Lanes::any(is_background)) {
      break;
    }
    const Distance<Lanes> far = distance_from<Lanes>(mode, color);
    const auto limit = mode.variance * thresholds.variances;
    known = known | (is_background & Lanes::at_least(limit, far.luma + far.chroma));
    has_chroma_of = has_chroma_of | (is_background & Lanes::at_least(limit, far.chroma));
  }
  if (Lanes::any(has_chroma_of & ~known)) {
    const Around<Lanes> near = around();
    const auto outside = greatest<Lanes>(excess<Lanes>(near.low, color.y), excess<Lanes>(color.y, near.high));
    known = known | (has_chroma_of & Lanes::at_least(Lanes::splat(thresholds.around), outside));
  }
  const auto differs = ~known;
  if (!thresholds.shadows || !has_chroma || !Lanes::any(differs)) {
    return {differs, differs};
  }
  auto shadow = Lanes::splat(0);
  for (const Mode<Lanes>& mode : pixel.modes) {
    const auto is_background = Lanes::at_least(mode.weight, Lanes::splat(kBackgroundWeight));
    if (!Lanes::any(is_background)) {
      break;
    }
    shadow = shadow | (is_background & is_shadow<Lanes>(thresholds, mode, color));
  }
  return {differs, differs & ~shadow};
}

/// How far a color is from the first mode of a pixel, its background.
template <typename Lanes>
constexpr typename Lanes::Value background_distance(const Color<Lanes>& color, typename Lanes::Value mean,
                                                    typename Lanes::Value chroma) {
  return greatest<Lanes>(
      difference<Lanes>(color.y, background_luma<Lanes>(mean)),
      greatest<Lanes>(difference<Lanes>(color.u, chroma & 0xff), difference<Lanes>(color.v, chroma >> 8)));
}

/// The background of a pixel: its first mode.
template <typename Lanes>
struct Background {
  typename Lanes::Value mean;
  typename Lanes::Value chroma;
};

/// Looks for ghosts: what an object has left behind, and not an object that stands. Around a ghost's
/// outermost pixels there is background that is more like the frame than like what the model believes of
/// them. So they become background, and then the next ones. An object that stands differs from the background
/// around it more than the background that it hides does.
///
/// Returns a mask. `around(i)` returns the background of pixel i of the 8 around; it is called only if it can
/// matter.
template <typename Lanes, typename LoadBackground>
constexpr typename Lanes::Value is_ghost(const Thresholds& thresholds, const Pixel<Lanes>& pixel,
                                         const Color<Lanes>& color, LoadBackground around) {
  auto known = Lanes::splat(0);
  auto stands = Lanes::splat(0);
  for (const Mode<Lanes>& mode : pixel.modes) {
    if (!Lanes::any(Lanes::at_least(mode.weight, Lanes::splat(kGhostWeight)))) {
      break;
    }
    const Distance<Lanes> distance = distance_from<Lanes>(mode, color);
    const auto sum = distance.luma + distance.chroma;
    known = known | (Lanes::at_least(mode.weight, Lanes::splat(kBackgroundWeight)) &
                     Lanes::at_least(mode.variance * thresholds.variances, sum));
    stands = stands | (Lanes::at_least(mode.weight, Lanes::splat(kGhostWeight)) &
                       Lanes::at_least(mode.variance * kFit, sum));
  }
  if (!Lanes::any(stands & ~known)) {
    return Lanes::splat(0);
  }
  const Mode<Lanes>& first = pixel.modes[0];
  const Color<Lanes> believed = {background_luma<Lanes>(first.mean), first.u(), first.v()};
  auto n = Lanes::splat(0);
  for (uint32_t i = 0; i < 8; ++i) {
    const Background<Lanes> near = around(i);
    const auto far = background_distance<Lanes>(color, near.mean, near.chroma);
    const auto edge = background_distance<Lanes>(believed, near.mean, near.chroma);
    const auto limit = greatest<Lanes>(Lanes::splat(thresholds.around), edge >> 1);
    n = n + (Lanes::at_least(limit, far) & 1);
  }
  return ~known & stands & Lanes::at_least(n, Lanes::splat(kGhostNeighbors));
}

/// `value`, moved towards `target` by a part of the distance.
template <typename Lanes>
constexpr typename Lanes::Value approach(typename Lanes::Value value, typename Lanes::Value target,
                                         uint32_t rate) {
  const auto step = (difference<Lanes>(value, target) * rate + (1u << (kRateBits - 1))) >> kRateBits;
  return Lanes::select(Lanes::at_least(target, value), value + step, value - step);
}

/// `value`, moved by at most `step` towards `target`.
template <typename Lanes>
constexpr typename Lanes::Value walk(typename Lanes::Value value, typename Lanes::Value target,
                                     uint32_t step) {
  return greatest<Lanes>(least<Lanes>(target, value + step), excess<Lanes>(value, Lanes::splat(step)));
}

template <typename Lanes>
constexpr Mode<Lanes> select_mode(typename Lanes::Value mask, const Mode<Lanes>& a, const Mode<Lanes>& b) {
  return {Lanes::select(mask, a.weight, b.weight), Lanes::select(mask, a.mean, b.mean),
          Lanes::select(mask, a.variance, b.variance), Lanes::select(mask, a.chroma, b.chroma)};
}

/// A mode that the color belongs to.
template <typename Lanes>
constexpr Mode<Lanes> adapt(const Rates& rates, const Mode<Lanes>& mode, const Color<Lanes>& color,
                            typename Lanes::Value far) {
  const auto square = least<Lanes>(far, Lanes::splat(0xffff));
  const auto variance = approach<Lanes>(mode.variance, square, rates.mean);
  return {mode.weight, approach<Lanes>(mode.mean, color.y << kMeanBits, rates.mean),
          least<Lanes>(greatest<Lanes>(variance, Lanes::splat(kMinVariance)), Lanes::splat(kMaxVariance)),
          walk<Lanes>(mode.u(), color.u, rates.chroma) | (walk<Lanes>(mode.v(), color.v, rates.chroma) << 8)};
}

template <typename Lanes>
constexpr Mode<Lanes> new_mode(const Color<Lanes>& color, typename Lanes::Value weight,
                               typename Lanes::Value variance) {
  return {weight, color.y << kMeanBits, variance, color.u | (color.v << 8)};
}

/// A mode after a frame. `is_free` is a mask of the pixels that belong to no mode before this one; those that
/// belong to it are removed. If it has learned what it should (a ghost), it has at least the weight
/// `learned`.
template <typename Lanes>
constexpr Mode<Lanes> learn_mode(const Rates& rates, const Mode<Lanes>& mode, const Color<Lanes>& color,
                                 typename Lanes::Value learned, typename Lanes::Value* is_free) {
  const Distance<Lanes> distance = distance_from<Lanes>(mode, color);
  const auto far = distance.luma + distance.chroma;
  const auto exists = Lanes::at_least(mode.weight, Lanes::splat(1));
  const auto fits = *is_free & exists & Lanes::at_least(mode.variance * kFit, far);
  *is_free = *is_free & ~fits;
  Mode<Lanes> next = select_mode<Lanes>(fits, adapt<Lanes>(rates, mode, color, far), mode);
  const auto share = Lanes::select(fits, Lanes::splat(kFullWeight * rates.weight), Lanes::splat(0));
  const auto weight = excess<Lanes>((mode.weight * (65536u - rates.weight) + share + 32768u) >> 16,
                                    Lanes::splat(rates.prune));
  next.weight = greatest<Lanes>(weight, fits & learned);
  return next;
}

/// Ends that a first mode is a ghost. Returns the weight that it gets for it, else 0.
template <typename Lanes>
constexpr typename Lanes::Value take_ghost(Mode<Lanes>* first) {
  const auto learned = Lanes::at_least(first->variance, Lanes::splat(kGhost)) & kFullWeight;
  first->variance = first->variance & (kGhost - 1);
  return learned;
}

/// The first mode after a frame.
template <typename Lanes>
constexpr Mode<Lanes> learn_first(const Rates& rates, Mode<Lanes> first, const Color<Lanes>& color,
                                  typename Lanes::Value* is_free) {
  const auto learned = take_ghost<Lanes>(&first);
  return learn_mode<Lanes>(rates, first, color, learned, is_free);
}

template <typename Lanes>
constexpr Pixel<Lanes> update(const Rates& rates, const Pixel<Lanes>& old, const Color<Lanes>& color) {
  Pixel<Lanes> pixel = old;
  const auto learned = take_ghost<Lanes>(&pixel.modes[0]);
  auto is_free = Lanes::splat(~0u);
  for (Mode<Lanes>& mode : pixel.modes) {
    if (!Lanes::any(Lanes::at_least(mode.weight, Lanes::splat(1)))) {
      break;
    }
    mode = learn_mode<Lanes>(rates, mode, color, learned, &is_free);
  }
  if (!Lanes::any(is_free | Lanes::at_least(old.modes[1].weight, Lanes::splat(1)))) {
    return pixel;
  }
  Mode<Lanes>& last = pixel.modes[kModes - 1];
  const uint32_t weight = rates.weight > kNewWeight ? rates.weight : kNewWeight;
  last = select_mode<Lanes>(
      is_free, new_mode<Lanes>(color, Lanes::splat(weight), Lanes::splat(kInitialVariance)), last);
  for (uint32_t i = kModes - 1; i > 0; --i) {
    const Mode<Lanes> lower = pixel.modes[i];
    const Mode<Lanes> upper = pixel.modes[i - 1];
    const auto heavier = Lanes::at_least(lower.weight, upper.weight + 1);
    if (Lanes::any(heavier)) {
      pixel.modes[i - 1] = select_mode<Lanes>(heavier, lower, upper);
      pixel.modes[i] = select_mode<Lanes>(heavier, upper, lower);
    }
  }
  return pixel;
}

/// The state of a frame from which the model begins again. `keeps_variance`: after a change of light.
template <typename Lanes>
constexpr Pixel<Lanes> initialize(const Color<Lanes>& color, typename Lanes::Value variance,
                                  bool keeps_variance) {
  Pixel<Lanes> pixel = {};
  pixel.modes[0] = new_mode<Lanes>(color, Lanes::splat(kFullWeight),
                                   keeps_variance ? variance : Lanes::splat(kInitialVariance));
  return pixel;
}

/// Adds a pixel to the sums, if it counts. `first`: its first mode.
constexpr void add(const Mode<WordLane>& first, const Color<WordLane>& color, light::ColorSums* sums) {
  const uint32_t mean = background_luma<WordLane>(first.mean);
  if (mean >= light::kClipped) {
    sums->n_white += 1;
    sums->y_white += color.y;
    sums->u_white += color.u;
    sums->v_white += color.v;
  }
  if (!light::counts(color.y, mean)) {
    return;
  }
  const auto from_grey = [](uint32_t chroma) { return int64_t{chroma} - light::kGrey; };
  sums->luma.now += color.y - light::kBlack;
  sums->luma.before += mean - light::kBlack;
  sums->u_now += from_grey(color.u);
  sums->v_now += from_grey(color.v);
  sums->u_before += from_grey(first.u());
  sums->v_before += from_grey(first.v());
}

/// What a pixel is known to vary by, in the new light: rounded down twice. Noise does not fall with the
/// light.
constexpr uint32_t relight_variance(uint32_t variance, uint32_t gain) {
  if (gain <= light::kUnchanged) {
    return variance;
  }
  const uint64_t once = uint64_t{variance} * gain >> light::kGainBits;
  const uint64_t twice = once * gain >> light::kGainBits;
  return twice < kMaxVariance ? static_cast<uint32_t>(twice) : kMaxVariance;
}

/// A mode in the new light, without weight.
constexpr Mode<WordLane> relight(const light::Change& change, const Mode<WordLane>& mode) {
  const light::Color known =
      light::relight(change, {background_luma<WordLane>(mode.mean), mode.u(), mode.v()});
  const uint32_t variance = mode.variance & (kGhost - 1);
  return new_mode<WordLane>({known.y, known.u, known.v}, 0, relight_variance(variance, change.gain));
}

/// Whether the luma of a pixel fits the gain.
constexpr bool fits(const light::Change& change, const Mode<WordLane>& first, uint32_t value) {
  const uint32_t mean = background_luma<WordLane>(first.mean);
  return light::fits(value, mean, light::relight(mean, change.gain), kLightMargin);
}

constexpr bool belongs(const Mode<WordLane>& mode, const Color<WordLane>& color) {
  const Distance<WordLane> far = distance_from<WordLane>(mode, color);
  return far.luma + far.chroma <= mode.variance * kFit;
}

/// The first two modes of a pixel.
struct KnownModes {
  Mode<WordLane> first;
  Mode<WordLane> second;
};

/// The state of a frame in which the light changed (ccl/segment/light.h). Where the frame shows something
/// else than the first mode in the new light, there is a mode for both. If these pixels are objects
/// (`keeps_misfits`), what they hide is the first mode, and what they show has just enough weight to be
/// background: an object that moves is soon foreground. If they are too many for that, what the frame shows
/// is the first mode. A second mode of much weight may be the background behind an object that was learnt. In
/// any case the mode that is wrong gets no support and vanishes.
constexpr Pixel<WordLane> relearn(const light::Change& change, bool keeps_misfits, const KnownModes& old,
                                  const Color<WordLane>& color) {
  Mode<WordLane> first = relight(change, old.first);
  Mode<WordLane> second = relight(change, old.second);
  Mode<WordLane> seen = new_mode<WordLane>(color, kFullWeight, first.variance);
  const bool is_known = belongs(first, color);
  if (!is_known && !keeps_misfits) {
    first.weight = kKnownWeight;
    seen.weight = kFullWeight - kKnownWeight;
    return {{seen, first}};
  }
  const bool has_second = old.second.weight >= kHalfWeight && !belongs(second, color);
  second.weight = has_second ? kKnownWeight : 0;
  if (is_known) {
    seen.weight = kFullWeight - second.weight;
    return has_second ? Pixel<WordLane>{{seen, second}} : Pixel<WordLane>{{seen}};
  }
  seen.weight = kSeenWeight;
  first.weight = kFullWeight - kSeenWeight - second.weight;
  return has_second ? Pixel<WordLane>{{first, second, seen}} : Pixel<WordLane>{{first, seen}};
}

}  // namespace ccl::mixture
