// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kBinary with Segmentation::threshold_low: J. Canny's hysteresis (1986), for components.
///
/// The *weak* pixels are the foreground, which goes through all later steps of the segment stage and is
/// labelled. A component is kept if one of its pixels is *strong*. What makes a pixel strong is its value in
/// the frame alone: morphology and regions change which pixels are in a component, not which are strong. A
/// component without strong pixels has a label and is then dropped like a filtered one: mark 0.
///
/// Without `invert`, weak is value ≥ threshold_low and strong is value ≥ threshold. With `invert` the two
/// change roles, so that strong pixels are always weak if threshold_low ≤ threshold: weak is value <
/// threshold and strong is value < threshold_low.
#pragma once

#include <cstdint>

#include "ccl/segment.h"

namespace ccl {

constexpr bool has_hysteresis(const ForegroundRule& rule, const Segmentation& segmentation) {
  return rule.foreground == Foreground::kBinary && segmentation.threshold_low > 0;
}

/// A threshold for pixels of any depth.
struct ThresholdRule {
  uint32_t threshold;
  bool invert;

  constexpr bool is_foreground(uint32_t value) const { return (value >= threshold) != invert; }
};

/// The thresholds of a frame with Foreground::kBinary that is read from a bit image.
struct HysteresisRule {
  ThresholdRule weak;    ///< of the foreground
  ThresholdRule strong;  ///< the same without hysteresis
};

/// `threshold` is ForegroundRule::threshold, or Segmentation::wide_threshold in its place.
constexpr HysteresisRule hysteresis_rule(uint32_t threshold, bool invert, uint32_t threshold_low) {
  const ThresholdRule high{threshold, invert};
  const ThresholdRule low{threshold_low > 0 ? threshold_low : threshold, invert};
  return invert ? HysteresisRule{high, low} : HysteresisRule{low, high};
}

}  // namespace ccl
