// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a frame needs from the steps of the CPU's `runs`.
#pragma once

#include <cstdint>

#include "ccl/config.h"

namespace ccl::host {

/// Found once per frame, from its settings. Every step reads it, and none looks at another step.
struct FrameNeeds {
  Connectivity connectivity;
  bool pairs;    ///< rows are labelled in pairs (pair_labeler.h), which needs equal segments and corners
  bool values;   ///< runs have segments of different values
  bool areas;    ///< not all components are too small for the filter
  bool marks;    ///< some component may be left out, so marks differ from areas
  bool sums;     ///< the filter reads other sums than areas, so all components are measured
  bool moments;  ///< records have second moments, or the filter reads them
  bool shapes;   ///< records have the perimeter or the Euler number, or the filter reads the perimeter

  /// Whether sums need each row's runs. Without features, the sums of a pair of rows are enough.
  bool rows() const { return moments || shapes; }
};

constexpr FrameNeeds find_needs(const Settings& settings, uint32_t n_pixels, bool has_hysteresis) {
  const bool values = settings.rule.foreground == Foreground::kValues;
  const uint32_t features = measured_features(settings);
  return {.connectivity = settings.connectivity,
          .pairs = settings.connectivity == Connectivity::k8 && !values,
          .values = values,
          .areas = settings.filter.can_keep(n_pixels) || has_hysteresis,
          .marks = settings.filter.is_active(n_pixels) || has_hysteresis,
          .sums = settings.filter.needs() != 0,
          .moments = (features & kFeatureMoments) != 0,
          .shapes = (features & (kFeaturePerimeter | kFeatureEuler)) != 0};
}

}  // namespace ccl::host
