// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a background model keeps when the light changes.
///
/// A model that begins again from one frame would learn the objects in it as background, and each of them
/// would leave a ghost when it moves on. So where a pixel differed from the model in the frame before the
/// change, the model does not take the new value, but what it knew, in the new light: its mean times a gain.
/// The gain is by how much the other pixels became lighter.
#pragma once

#include <cstdint>

namespace ccl::light {

inline constexpr uint32_t kGainBits = 12;  ///< of the gain's fraction
inline constexpr uint32_t kUnchanged = 1u << kGainBits;
inline constexpr uint32_t kMaxGain = 0xffff;
/// Luma from here on may be cut off: it does not show how much lighter it became.
inline constexpr uint32_t kClipped = 250;
/// If more than this part of the frame differed before the change, it was no object.
inline constexpr uint32_t kObjectsPart = 4;

/// Sums of luma (0..255) over pixels that did not differ from the model in the frame before the change.
struct Sums {
  uint64_t now;     ///< of the frame's pixels
  uint64_t before;  ///< of the model's means
};

/// Whether a pixel is summed, if it did not differ.
constexpr bool counts(uint32_t value, uint32_t mean) {
  return value < kClipped && mean < kClipped;
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

/// A mean in the new light: rounded to nearest, at most `most`. Means are at most 65535.
constexpr uint32_t relight(uint32_t mean, uint32_t gain, uint32_t most) {
  const uint32_t product = (mean * gain + (kUnchanged >> 1)) >> kGainBits;
  return product < most ? product : most;
}

}  // namespace ccl::light
