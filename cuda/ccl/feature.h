// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is measured of components.
#pragma once

#include <cstdint>

namespace ccl {

/// What takes time to measure and can be left out.
enum Feature : uint32_t {
  kFeatureMoments = 1u << 0,
  kFeaturePerimeter = 1u << 1,
  kFeatureEuler = 1u << 2,
  kAllFeatures = kFeatureMoments | kFeaturePerimeter | kFeatureEuler,  ///< all fields of the record
  kFeatureGrey = 1u << 3,                                              ///< FrameResult::grey
  // Made from the labels of a frame that is finished (ccl/shape.h). Engines do nothing for them.
  kFeatureRectangle = 1u << 4,
  kFeatureHull = 1u << 5,
  kFeatureContour = 1u << 6,
  kFeatureInradius = 1u << 7,
  kShapeFeatures = kFeatureRectangle | kFeatureHull | kFeatureContour | kFeatureInradius,
};

}  // namespace ccl
