// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which pixels are foreground, and which of them connect: the only settings that a labeler reads.
#pragma once

#include <cstdint>

#include "ccl/setting.h"

namespace ccl {

enum class Connectivity : uint8_t {
  k4 = 4,  ///< pixels that share an edge
  k8 = 8,  ///< pixels that share an edge or a corner
};

/// The values are those of the element's property, which applications keep: a new one is the last.
enum class Foreground : uint8_t {
  kBinary,  ///< value ≥ threshold, or with `invert` value < threshold; all foreground is one segment
  kValues,  ///< each non-zero value is a segment: equal values connect (Šťava, Beneš 2011)

  // The segment stage (segment.h) makes a bit image with these. Labelers never see them.
  kOtsu,    ///< value ≥ the level that Otsu's method finds for the frame
  kLocal,   ///< value ≥ a threshold that follows from the pixels around it
  kMotion,  ///< differs from what a background model expects
};

/// The segment of all binary foreground.
inline constexpr uint8_t kBinarySegment = 255;

/// Which pixels are foreground, and which of them may connect.
struct ForegroundRule {
  Foreground foreground = Foreground::kBinary;
  uint8_t threshold = defaults::threshold;  ///< binary only
  bool invert = false;                      ///< binary only
  uint8_t record_value = 0;                 ///< values in `runs` only: of all records; 0: of each segment

  /// The segment of a pixel value. 0 is background; only equal segments connect.
  constexpr uint8_t segment(uint8_t value) const {
    if (foreground == Foreground::kValues) {
      return value;
    }
    return ((value >= threshold) != invert) ? kBinarySegment : 0;
  }

  bool operator==(const ForegroundRule&) const = default;
};

}  // namespace ccl
