// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a background model keeps when the light changes.
///
/// A model that begins again from one frame would learn the objects in it as background, and each of them
/// would leave a ghost when it moves on. So where there is an object, the model does not take the new value,
/// but what it knew, in the new light: its mean times a gain. The gain is by how much the other pixels became
/// lighter.
///
/// There is an object where a pixel differed from the model in the frame before the change, and where its new
/// value does not fit the gain: it was covered in this frame, or the object was like the background in the
/// old light. If many pixels do not fit, the light has not changed by one gain, and only the first rule
/// holds.
///
/// What is learnt of a dark frame is less exact in a lighter one, so variances grow with the gain.
///
/// The mixture has room for both: what the frame shows, and what the model knew, in the new light. So it
/// needs the chroma in the new light too. A light may have a colour: it adds the same chroma to each level of
/// luma. A mean that is cut off at white has lost how light the background is. So all such pixels are
/// expected to show the same: their average in the new light.
#pragma once

#include <cstdint>

namespace ccl::light {

inline constexpr uint32_t kGainBits = 12;  ///< of the gain's fraction
inline constexpr uint32_t kUnchanged = 1u << kGainBits;
inline constexpr uint32_t kMaxGain = 0xffff;
/// Luma from here on may be cut off: it does not show how much lighter it became. Video of limited range is
/// cut off at 235.
inline constexpr uint32_t kClipped = 230;
/// Luma of black in video of limited range. Full range is close enough to a gain from there.
inline constexpr uint32_t kBlack = 16;
/// If more than this part of the frame differed before the change, it was no object.
inline constexpr uint32_t kObjectsPart = 4;
/// If more than this part of the frame does not fit the gain, the light did not change by a gain.
inline constexpr uint32_t kMisfitsPart = 16;
/// A part of the expected value: a colour of the light changes some pixels more than others.
inline constexpr uint32_t kTolerancePart = 16;

/// Sums of luma above kBlack over pixels that did not differ from the model in the frame before the change.
struct Sums {
  uint64_t now;     ///< of the frame's pixels
  uint64_t before;  ///< of the model's means
};

/// Whether a pixel is summed, if it did not differ.
constexpr bool counts(uint32_t value, uint32_t mean) {
  return value >= kBlack && value < kClipped && mean >= kBlack && mean < kClipped;
}

/// Whether the model keeps anything. `n_differed`: pixels that differed in the frame before the change.
constexpr bool keeps_objects(uint32_t n_differed, uint64_t n_pixels) {
  return uint64_t{n_differed} * kObjectsPart <= n_pixels;
}

/// Rounded to nearest. 1 if there is nothing to compare.
constexpr uint32_t gain(const Sums& sums) {
  if (sums.before == 0) {
    return kUnchanged;
  }
  const uint64_t ratio = ((sums.now << kGainBits) + sums.before / 2) / sums.before;
  return ratio < kMaxGain ? static_cast<uint32_t>(ratio) : kMaxGain;
}

/// A variance in the new light, at most `most` unless it was more. A model knows its background up to the
/// variance and the margin. In a lighter frame that is worth more levels. Noise does not fall with the light.
constexpr uint32_t relight_variance(uint32_t variance, uint32_t margin, uint32_t gain, uint32_t most) {
  if (gain <= kUnchanged || variance >= most) {
    return variance;
  }
  const uint32_t relit = (((variance + margin) * gain) >> kGainBits) - margin;
  return relit < most ? relit : most;
}

/// A mean (0..255) in the new light: rounded to nearest, at most 255.
constexpr uint32_t relight(uint32_t mean, uint32_t gain) {
  if (mean < kBlack) {
    return mean;
  }
  const uint32_t relit = kBlack + (((mean - kBlack) * gain + (kUnchanged >> 1)) >> kGainBits);
  return relit < 255 ? relit : 255;
}

/// Sums over pixels that count: `now` of the frame, `before` of the model. Chroma is its distance from kGrey.
/// `white`: what the frame shows where the model's mean is cut off.
struct ColorSums {
  Sums luma;
  int64_t u_now;
  int64_t v_now;
  int64_t u_before;
  int64_t v_before;
  uint64_t n_white;  ///< pixels
  uint64_t y_white;
  uint64_t u_white;  ///< not a distance, and so is v_white
  uint64_t v_white;
};

inline constexpr int32_t kGrey = 128;  ///< chroma of grey
inline constexpr int64_t kMaxTint = kUnchanged;

/// A colour of 8 bits each.
struct Color {
  uint32_t y = 0;
  uint32_t u = 0;
  uint32_t v = 0;

  bool operator==(const Color&) const = default;
};

/// How a light has changed.
struct Change {
  uint32_t gain = kUnchanged;
  int32_t tint_u = 0;  ///< chroma that is added per level of luma above kBlack, with kGainBits of fraction
  int32_t tint_v = 0;
  Color white = {};  ///< what a mean that is cut off becomes; only if there is one

  bool operator==(const Change&) const = default;
};

/// Rounded towards zero, at most kMaxTint. 0 if there is nothing to compare. `luma`: Sums::now.
constexpr int32_t tint(int64_t now, int64_t before, uint64_t luma, uint32_t gain) {
  if (luma == 0) {
    return 0;
  }
  const int64_t added = (now * int64_t{kUnchanged} - before * int64_t{gain}) / static_cast<int64_t>(luma);
  return static_cast<int32_t>(added > kMaxTint ? kMaxTint : added < -kMaxTint ? -kMaxTint : added);
}

constexpr Change change(const ColorSums& sums) {
  const uint32_t now = gain(sums.luma);
  const uint64_t n_white = sums.n_white > 0 ? sums.n_white : 1;
  const auto of_white = [&](uint64_t sum) { return static_cast<uint32_t>(sum / n_white); };
  return {now,
          tint(sums.u_now, sums.u_before, sums.luma.now, now),
          tint(sums.v_now, sums.v_before, sums.luma.now, now),
          {of_white(sums.y_white), of_white(sums.u_white), of_white(sums.v_white)}};
}

/// A mean of U or V in the new light: rounded down, 0..255. `luma`: relight() of the mean of the luma.
constexpr uint32_t relight_chroma(uint32_t chroma, uint32_t gain, int32_t tint, uint32_t luma) {
  const int32_t above_black = luma > kBlack ? static_cast<int32_t>(luma - kBlack) : 0;
  const int32_t product =
      (static_cast<int32_t>(chroma) - kGrey) * static_cast<int32_t>(gain) + tint * above_black;
  const int32_t relit = kGrey + (product >> kGainBits);
  return static_cast<uint32_t>(relit < 0 ? 0 : relit > 255 ? 255 : relit);
}

/// A mean in the new light.
constexpr Color relight(const Change& change, const Color& mean) {
  if (mean.y >= kClipped) {
    return change.white;
  }
  const uint32_t luma = relight(mean.y, change.gain);
  return {luma, relight_chroma(mean.u, change.gain, change.tint_u, luma),
          relight_chroma(mean.v, change.gain, change.tint_v, luma)};
}

/// Whether a pixel of the background can have this value in the new light. `relit`: relight() of `mean`;
/// `margin`: what it may differ in any light.
constexpr bool fits(uint32_t value, uint32_t mean, uint32_t relit, uint32_t margin) {
  if (mean >= kClipped || (relit >= kClipped && value >= kClipped)) {
    return true;
  }
  const uint32_t far = value > relit ? value - relit : relit - value;
  return far <= margin + relit / kTolerancePart;
}

/// Whether pixels that do not fit are objects. `n_misfits`: those that did not differ before.
constexpr bool keeps_misfits(uint64_t n_misfits, uint64_t n_pixels) {
  return n_misfits * kMisfitsPart <= n_pixels;
}

}  // namespace ccl::light
