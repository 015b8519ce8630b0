// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where tracks are: zones and lines in the pixels of one frame size, with exact tests.
///
/// Coordinates are integers in 1/256 pixel, rounded to the nearest one (halves away from zero); (0, 0) is the
/// corner of the first pixel. Tests compute with 128 bits, so no coordinate that a Regions may have
/// overflows.
#pragma once

#include <cstdint>
#include <vector>

#include "ccl/regions.h"
#include "ccl/track.h"

namespace ccl {

struct FixedPoint {
  int64_t x;
  int64_t y;

  bool operator==(const FixedPoint&) const = default;
};

/// The anchor of a track. The bottom anchor is in the middle of the lowest row of its box, half a pixel above
/// its lower edge, so it is inside the frame.
FixedPoint anchor_of(const CclTrack& track, Anchor anchor);

/// Width and height of the frame, and whether points are fractions of them.
struct PlaneScale {
  bool is_relative;
  uint32_t width;
  uint32_t height;
};

/// A zone of one frame size.
class ZoneShape {
 public:
  ZoneShape(const Zone& zone, const PlaneScale& scale);

  /// By the even-odd rule. A point on a left or upper edge is inside, one on a right or lower edge outside,
  /// so zones that share an edge share no point and leave no gap.
  bool contains(const FixedPoint& point) const;

 private:
  std::vector<FixedPoint> polygon_;
};

enum class Crossing { kNone, kToLeft, kToRight };

/// A line of one frame size.
class LineShape {
 public:
  LineShape(const Line& line, const PlaneScale& scale);

  /// Whether a straight move crosses the line. Left is seen from its first point to its second one, y
  /// pointing down. A point on the line is on its right side. Lines that share end points leave no gap: a
  /// move through such a point crosses one of the two if the other line is on the move's other side; else
  /// both or none. Nothing crosses a line of no length.
  Crossing crossed_by(const FixedPoint& from, const FixedPoint& to) const;

 private:
  FixedPoint from_;
  FixedPoint to_;
};

}  // namespace ccl
