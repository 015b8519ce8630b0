// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/zones.h"

#include <algorithm>
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

/// Twice the area of the triangle, negative if `point` is to the left of the line from a to b.
Wide cross_of(const FixedPoint& a, const FixedPoint& b, const FixedPoint& point) {
  return Wide{b.x - a.x} * (point.y - a.y) - Wide{b.y - a.y} * (point.x - a.x);
}

/// Which side of the line from a to b the point is on: negative to the left, 0 on the line.
int side_of(const FixedPoint& a, const FixedPoint& b, const FixedPoint& point) {
  const Wide cross = cross_of(a, b, point);
  return cross < 0 ? -1 : cross > 0 ? 1 : 0;
}

Wide squared_distance(const FixedPoint& a, const FixedPoint& b) {
  return Wide{b.x - a.x} * (b.x - a.x) + Wide{b.y - a.y} * (b.y - a.y);
}

/// Rounded down.
int64_t distance_between(const FixedPoint& a, const FixedPoint& b) {
  const Wide square = squared_distance(a, b);
  int64_t root = 0;
  for (int64_t bit = int64_t{1} << 45; bit != 0; bit >>= 1) {
    root |= Wide{root | bit} * (root | bit) <= square ? bit : 0;
  }
  return root;
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

/// Whether it is along the frame's border, or outside one side of the frame.
bool is_beyond_the_frame(const Edge& edge, const PlaneScale& scale) {
  const auto [left, right] = std::minmax(edge.from.x, edge.to.x);
  const auto [top, bottom] = std::minmax(edge.from.y, edge.to.y);
  return right <= 0 || bottom <= 0 || left >= int64_t{scale.width} * kUnitsPerPixel ||
         top >= int64_t{scale.height} * kUnitsPerPixel;
}

/// A polygon without what is beyond a straight line: where depth_of() is negative.
template <typename DepthOf>
std::vector<FixedPoint> cut(const std::vector<FixedPoint>& polygon, DepthOf depth_of) {
  std::vector<FixedPoint> kept;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const FixedPoint& a = polygon[i];
    const FixedPoint& b = polygon[(i + 1) % polygon.size()];
    const Wide at_a = depth_of(a);
    const Wide at_b = depth_of(b);
    if (at_a >= 0) {
      kept.push_back(a);
    }
    if ((at_a < 0) != (at_b < 0)) {
      kept.push_back({a.x + static_cast<int64_t>((b.x - a.x) * at_a / (at_a - at_b)),
                      a.y + static_cast<int64_t>((b.y - a.y) * at_a / (at_a - at_b))});
    }
  }
  return kept;
}

/// What is in the frame.
std::vector<FixedPoint> visible_part(const std::vector<FixedPoint>& polygon, const PlaneScale& scale) {
  const int64_t right = int64_t{scale.width} * kUnitsPerPixel;
  const int64_t bottom = int64_t{scale.height} * kUnitsPerPixel;
  std::vector<FixedPoint> part = cut(polygon, [](const FixedPoint& p) { return p.x; });
  part = cut(part, [](const FixedPoint& p) { return p.y; });
  part = cut(part, [=](const FixedPoint& p) { return right - p.x; });
  return cut(part, [=](const FixedPoint& p) { return bottom - p.y; });
}

/// Half of area / perimeter.
int64_t half_thickness(const std::vector<FixedPoint>& polygon) {
  Wide twice_area = 0;
  Wide perimeter = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const FixedPoint& next = polygon[(i + 1) % polygon.size()];
    twice_area += cross_of(polygon[0], polygon[i], next);
    perimeter += distance_between(polygon[i], next);
  }
  return static_cast<int64_t>((twice_area < 0 ? -twice_area : twice_area) / std::max<Wide>(4 * perimeter, 1));
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

int64_t margin_of(const CclTrack& track, double margin) {
  return std::llround(margin * (track.width + track.height) * kHalfPixel);
}

Edge::Edge(const FixedPoint& from, const FixedPoint& to)
    : from(from), to(to), length(distance_between(from, to)) {}

bool Edge::is_near(const FixedPoint& point, int64_t distance) const {
  const Wide along = Wide{to.x - from.x} * (point.x - from.x) + Wide{to.y - from.y} * (point.y - from.y);
  if (along <= 0 || along >= squared_distance(from, to)) {
    return squared_distance(along <= 0 ? from : to, point) < Wide{distance} * distance;
  }
  const Wide cross = cross_of(from, to, point);
  return (cross < 0 ? -cross : cross) < Wide{distance} * length;
}

ZoneShape::ZoneShape(const Zone& zone, const PlaneScale& scale) {
  for (const Point& point : zone.polygon) {
    polygon_.push_back(to_fixed(point, scale));
  }
  for (size_t i = 0; i < polygon_.size(); ++i) {
    const Edge edge(polygon_[i], polygon_[(i + 1) % polygon_.size()]);
    if (!is_beyond_the_frame(edge, scale)) {
      edges_.push_back(edge);
    }
  }
  largest_margin_ = half_thickness(visible_part(polygon_, scale));
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

bool ZoneShape::is_at_edge(const FixedPoint& point, int64_t margin) const {
  const int64_t distance = std::min(margin, largest_margin_);
  return std::any_of(edges_.begin(), edges_.end(),
                     [&](const Edge& edge) { return edge.is_near(point, distance); });
}

LineShape::LineShape(const Line& line, const PlaneScale& scale)
    : edge_(to_fixed(line.from, scale), to_fixed(line.to, scale)) {}

Crossing LineShape::crossed_by(const FixedPoint& from, const FixedPoint& to) const {
  const bool was_left = is_on_left(edge_.from, edge_.to, from);
  if (was_left == is_on_left(edge_.from, edge_.to, to)) {
    return Crossing::kNone;
  }
  // Both points of the move are moved as in is_on_left(). An end of the line that was on the move is then on
  // its right side, seen in the direction in which it goes down.
  const bool is_forward = goes_down(from, to);
  const FixedPoint& begin = is_forward ? from : to;
  const FixedPoint& end = is_forward ? to : from;
  if ((side_of(begin, end, edge_.from) < 0) == (side_of(begin, end, edge_.to) < 0)) {
    return Crossing::kNone;
  }
  return was_left ? Crossing::kToRight : Crossing::kToLeft;
}

}  // namespace ccl
