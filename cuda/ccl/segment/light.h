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

/// A mean (0..255) in the new light: rounded to nearest, at most 255.
constexpr uint32_t relight(uint32_t mean, uint32_t gain) {
  if (mean < kBlack) {
    return mean;
  }
  const uint32_t relit = kBlack + (((mean - kBlack) * gain + (kUnchanged >> 1)) >> kGainBits);
  return relit < 255 ? relit : 255;
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
