// SPDX-License-Identifier: LGPL-2.1-or-later
/// The segment stage: from a frame to its foreground.
///
/// A *bit image* has one bit a pixel, in rows of 32-bit words: bit i of word w is pixel 32·w + i, and 1 is
/// foreground. Padding bits are 0. All rules are integer or fixed-point arithmetic, or IEEE operations in a
/// defined order, so that both backends give the same bits.
///
/// The plain threshold and `values` make no bit image: labelers apply them while they read the frame. All
/// other rules do, in this order: rule → open → close → fill holes → regions. Labelers then read the bits as
/// Foreground::kBinary.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"
#include "ccl/setting.h"

namespace ccl {

/// Rows of a bit image are whole vectors of this many words.
inline constexpr uint32_t kBitRowAlignment = 4;

/// Words from one row's start to the next one's.
constexpr uint32_t bit_row_words(uint32_t width) {
  return (width + 32 * kBitRowAlignment - 1) / (32 * kBitRowAlignment) * kBitRowAlignment;
}

inline constexpr uint32_t kMaxLocalRadius = limits::local_radius.largest;
inline constexpr int32_t kMaxLocalOffset = limits::local_offset.largest;
inline constexpr uint32_t kMaxSensitivity = limits::motion_sensitivity.largest;
inline constexpr uint32_t kMaxMorphologyRadius = limits::open_radius.largest;
static_assert(limits::close_radius.largest == kMaxMorphologyRadius);
inline constexpr uint32_t kFractionBits = 10;  ///< of fixed-point settings: 1024 is 1.0
inline constexpr uint32_t kOne = 1u << kFractionBits;

/// Foreground::kLocal. The window is the square of 2·radius + 1 pixels around the pixel, cut off at the
/// frame's borders. See segment/local.h.
struct LocalThreshold {
  uint8_t radius = defaults::local_radius;  ///< 1..kMaxLocalRadius
  /// Subtracted from the threshold: −kMaxLocalOffset..kMaxLocalOffset.
  int16_t offset = defaults::local_offset;
  /// 0: the threshold is the mean; else k of Sauvola and Pietikäinen 2000, 1024 is 1.0.
  uint16_t deviation = fixed_point(defaults::local_deviation, kOne);

  bool operator==(const LocalThreshold&) const = default;
};

enum class BackgroundModel : uint8_t {
  kSigmaDelta,  ///< Manzanera, Richefeu 2007, in the Zipfian form of Manzanera 2007
  kMixture,     ///< mixture of Gaussians: Zivkovic 2004
};

/// Foreground::kMotion.
struct Motion {
  BackgroundModel model = BackgroundModel::kSigmaDelta;
  uint8_t sensitivity = defaults::motion_sensitivity;  ///< 0..kMaxSensitivity: higher finds more, also noise
  bool shadows = defaults::motion_shadows;             ///< cast shadows are background, where they are known
  uint32_t learning_ms = defaults::motion_learning_time;  ///< time after which what stays is background
  uint32_t warm_up_ms = defaults::motion_warm_up;         ///< after a reset: nothing is foreground
  /// The part of the background that may change at once, in 1/1024; more is a change of light.
  uint16_t max_change = fixed_point(defaults::motion_max_change, kOne);

  bool operator==(const Motion&) const = default;
};

/// The structuring element of a radius r.
enum class Element : uint8_t {
  kSquare,  ///< |dx| ≤ r and |dy| ≤ r
  kCross,   ///< the pixels of the square with dx = 0 or dy = 0
};

struct Morphology {
  uint8_t open_radius = 0;   ///< 0..kMaxMorphologyRadius: erosion, then dilation
  uint8_t close_radius = 0;  ///< 0..kMaxMorphologyRadius: dilation, then erosion
  Element element = Element::kSquare;
  uint32_t fill_holes = 0;  ///< holes of at most this many pixels become foreground

  constexpr bool is_active() const { return open_radius > 0 || close_radius > 0 || fill_holes > 0; }
  bool operator==(const Morphology&) const = default;
};

/// The settings of the segment stage, beside the ForegroundRule.
struct Segmentation {
  /// With Foreground::kBinary and more than 8 bits a pixel, in place of ForegroundRule::threshold: 0 for
  /// that.
  uint16_t wide_threshold = 0;
  /// With Foreground::kBinary: pixels that are at least this value connect, and a component is kept if one of
  /// its pixels reaches the threshold (hysteresis). 0: no hysteresis. Not with `invert`: then the two change
  /// roles, see segment/hysteresis.h.
  uint16_t threshold_low = 0;
  LocalThreshold local = {};
  Motion motion = {};
  Morphology morphology = {};

  bool operator==(const Segmentation&) const = default;
};

/// Whether frames with these settings are read from a bit image.
constexpr bool makes_bits(const ForegroundRule& rule, const Segmentation& segmentation, bool has_regions) {
  if (rule.foreground == Foreground::kValues) {
    return false;
  }
  return rule.foreground != Foreground::kBinary || segmentation.morphology.is_active() ||
         segmentation.threshold_low > 0 || segmentation.wide_threshold > 0 || has_regions;
}

/// The rule by which labelers read a bit image, or an image of its bits as bytes that are 0 or 255.
inline constexpr ForegroundRule kBitRule = {
    .foreground = Foreground::kBinary, .threshold = 1, .invert = false};

}  // namespace ccl
