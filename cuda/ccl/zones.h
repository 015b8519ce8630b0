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
/// its lower edge.
FixedPoint anchor_of(const CclTrack& track, Anchor anchor);

/// The last point of a frame: its right and lower edges are outside.
FixedPoint last_point(uint32_t width, uint32_t height);

/// Width and height of the frame, and whether points are fractions of them.
struct PlaneScale {
  bool is_relative;
  uint32_t width;
  uint32_t height;
};

/// How far a track must be away from a line or an edge before it counts on the other side. `margin` is in
/// sizes of the track, a size being the mean of width and height of its box.
int64_t margin_of(const CclTrack& track, double margin);

/// A straight line between two points.
struct Edge {
  Edge(const FixedPoint& from, const FixedPoint& to);

  /// Whether the point is nearer than `distance`. Distances to the line between the ends are exact to a unit.
  bool is_near(const FixedPoint& point, int64_t distance) const;

  FixedPoint from;
  FixedPoint to;
  int64_t length;  ///< rounded down
};

/// A zone of one frame size.
class ZoneShape {
 public:
  ZoneShape(const Zone& zone, const PlaneScale& scale);

  /// By the even-odd rule. A point on a left or upper edge is inside, one on a right or lower edge outside,
  /// so zones that share an edge share no point and leave no gap.
  bool contains(const FixedPoint& point) const;

  /// Whether the point, inside or outside, is nearer to the outline than `margin`, of which at most half of
  /// area / perimeter counts, of the zone's part in the frame: each zone whose outline does not cross itself
  /// has points that are deeper in it, however small it is. Edges along the frame's border, or outside it, do
  /// not count: nothing passes them.
  bool is_at_edge(const FixedPoint& point, int64_t margin) const;

 private:
  std::vector<FixedPoint> polygon_;
  std::vector<Edge> edges_;  ///< those in the frame
  int64_t largest_margin_;
};

enum class Crossing { kNone, kToLeft, kToRight };

/// A line of one frame size.
class LineShape {
 public:
  LineShape(const Line& line, const PlaneScale& scale);

  /// Whether a straight move crosses the line. Left is seen from its first point to its second one, y
  /// pointing down. Points on the line are on the side that ZoneShape has them on: to the right of it on the
  /// screen, or below it if it is level. So lines that share end points leave no gap, and the lines around a
  /// zone are crossed inwards once more than outwards by exactly the moves into the zone. Nothing crosses a
  /// line of no length.
  Crossing crossed_by(const FixedPoint& from, const FixedPoint& to) const;

  /// Whether the point is nearer than `margin`.
  bool is_at(const FixedPoint& point, int64_t margin) const { return edge_.is_near(point, margin); }

 private:
  Edge edge_;
};

}  // namespace ccl
