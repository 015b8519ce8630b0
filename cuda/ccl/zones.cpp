// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/zones.h"

#include <cmath>
#include <cstddef>
#include <tuple>

namespace ccl {

namespace {

constexpr int64_t kUnitsPerPixel = 256;
constexpr int64_t kHalfPixel = kUnitsPerPixel / 2;

/// Coordinates reach 10^6 frames of 32768 pixels: products of differences have up to 89 bits.
__extension__ using Wide = __int128;

FixedPoint to_fixed(const Point& point, const PlaneScale& scale) {
  const double x = scale.is_relative ? point.x * scale.width : point.x;
  const double y = scale.is_relative ? point.y * scale.height : point.y;
  return {std::llround(x * kUnitsPerPixel), std::llround(y * kUnitsPerPixel)};
}

/// Which side of the line from a to b the point is on: negative to the left, 0 on the line.
int side_of(const FixedPoint& a, const FixedPoint& b, const FixedPoint& point) {
  const Wide cross = Wide{b.x - a.x} * (point.y - a.y) - Wide{b.y - a.y} * (point.x - a.x);
  return cross < 0 ? -1 : cross > 0 ? 1 : 0;
}

/// Whether a move or line goes down, or exactly to the left.
bool goes_down(const FixedPoint& from, const FixedPoint& to) {
  return std::tie(from.y, to.x) < std::tie(to.y, from.x);
}

/// As if the point were moved to the right by far less than a unit, and down by still far less. So it is
/// never on the line, and all lines and zones see it at the same place.
bool is_on_left(const FixedPoint& a, const FixedPoint& b, const FixedPoint& point) {
  const int side = side_of(a, b, point);
  return side != 0 ? side < 0 : goes_down(a, b);
}

}  // namespace

FixedPoint anchor_of(const CclTrack& track, Anchor anchor) {
  if (anchor == Anchor::kBottom) {
    return {track.x * kUnitsPerPixel + track.width * kHalfPixel,
            (int64_t{track.y} + track.height) * kUnitsPerPixel - kHalfPixel};
  }
  // The centroid of a pixel is at its centre.
  return {std::llround(double{track.cx} * kUnitsPerPixel) + kHalfPixel,
          std::llround(double{track.cy} * kUnitsPerPixel) + kHalfPixel};
}

FixedPoint last_point(uint32_t width, uint32_t height) {
  return {width * kUnitsPerPixel - 1, height * kUnitsPerPixel - 1};
}

ZoneShape::ZoneShape(const Zone& zone, const PlaneScale& scale) {
  for (const Point& point : zone.polygon) {
    polygon_.push_back(to_fixed(point, scale));
  }
}

bool ZoneShape::contains(const FixedPoint& point) const {
  bool is_inside = false;
  for (size_t i = 0; i < polygon_.size(); ++i) {
    const FixedPoint& a = polygon_[i];
    const FixedPoint& b = polygon_[(i + 1) % polygon_.size()];
    if ((a.y <= point.y) != (b.y <= point.y)) {
      // An edge counts if it is before the point in the row. Seen from the edge's upper end to its lower one,
      // the point is then on the left side.
      is_inside ^= goes_down(a, b) ? is_on_left(a, b, point) : is_on_left(b, a, point);
    }
  }
  return is_inside;
}

LineShape::LineShape(const Line& line, const PlaneScale& scale)
    : from_(to_fixed(line.from, scale)), to_(to_fixed(line.to, scale)) {}

Crossing LineShape::crossed_by(const FixedPoint& from, const FixedPoint& to) const {
  const bool was_left = is_on_left(from_, to_, from);
  if (was_left == is_on_left(from_, to_, to)) {
    return Crossing::kNone;
  }
  // Both points of the move are moved as in is_on_left(). An end of the line that was on the move is then on
  // its right side, seen in the direction in which it goes down.
  const bool is_forward = goes_down(from, to);
  const FixedPoint& begin = is_forward ? from : to;
  const FixedPoint& end = is_forward ? to : from;
  if ((side_of(begin, end, from_) < 0) == (side_of(begin, end, to_) < 0)) {
    return Crossing::kNone;
  }
  return was_left ? Crossing::kToRight : Crossing::kToLeft;
}

}  // namespace ccl
