// SPDX-License-Identifier: LGPL-2.1-or-later
/// Morphology on bit images: what both backends must find, and how they find it.
///
/// A dilation makes a pixel foreground if some pixel of the structuring element around it is, an erosion if
/// all are. Dilations see background outside the frame and erosions foreground, as OpenCV's morphologyEx()
/// with its default border. So an erosion is the dilation of the complement within the frame, and backends
/// need dilations only.
#pragma once

#include <cstdint>

#include "ccl/segment.h"

namespace ccl {

/// Whether the structuring element of `radius` has the pixel at this distance.
constexpr bool is_in_element(Element element, int32_t radius, int32_t dx, int32_t dy) {
  return dx >= -radius && dx <= radius && dy >= -radius && dy <= radius &&
         (element == Element::kSquare || dx == 0 || dy == 0);
}

struct MorphologyStep {
  bool is_erosion;
  uint8_t radius;  ///< 1..2 · kMaxMorphologyRadius
};

/// The erosions and dilations of a frame, in order.
struct MorphologySteps {
  MorphologyStep steps[4];
  uint32_t count = 0;

  constexpr void add(bool is_erosion, uint32_t radius) {
    steps[count++] = {is_erosion, static_cast<uint8_t>(radius)};
  }
};

/// Opening, then closing. The two dilations in the middle are one if the element is a square: squares of
/// radius a and b dilate like a square of radius a + b, borders included.
constexpr MorphologySteps morphology_steps(const Morphology& morphology) {
  const uint32_t open = morphology.open_radius;
  const uint32_t close = morphology.close_radius;
  MorphologySteps steps{};
  if (open > 0) {
    steps.add(true, open);
  }
  if (morphology.element == Element::kSquare && open + close > 0) {
    steps.add(false, open + close);
  } else {
    if (open > 0) {
      steps.add(false, open);
    }
    if (close > 0) {
      steps.add(false, close);
    }
  }
  if (close > 0) {
    steps.add(true, close);
  }
  return steps;
}

/// How far the steps reach: a pixel of the result depends on no pixel further away along either axis.
constexpr uint32_t morphology_reach(const Morphology& morphology) {
  return 2u * (morphology.open_radius + morphology.close_radius);
}

/// A window of n pixels is the union of windows of powers of two: starting with single pixels, or-ing with a
/// copy shifted by each of these distances in order gives the window that begins at a pixel. For n pixels,
/// the shift after a window of `done` pixels:
constexpr uint32_t next_window_shift(uint32_t done, uint32_t n) {
  return done < n - done ? done : n - done;
}

/// Holes are components of the background that do not touch the frame's border. They connect the other way
/// than foreground, so that a closed line of foreground separates its inside from its outside.
constexpr Connectivity hole_connectivity(Connectivity of_foreground) {
  return of_foreground == Connectivity::k8 ? Connectivity::k4 : Connectivity::k8;
}

/// Whether a hole is filled. `touches_border`: it has a pixel in the frame's first or last row or column.
constexpr bool fills_hole(const Morphology& morphology, uint32_t area, bool touches_border) {
  return !touches_border && area <= morphology.fill_holes;
}

}  // namespace ccl
