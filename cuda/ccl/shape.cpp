// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/shape.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

namespace ccl {

namespace {

constexpr uint32_t kBits = 64;

int64_t cross(const Corner& a, const Corner& b) {
  return int64_t{a.x} * b.y - int64_t{a.y} * b.x;
}

int64_t dot(const Corner& a, const Corner& b) {
  return int64_t{a.x} * b.x + int64_t{a.y} * b.y;
}

Corner operator-(const Corner& a, const Corner& b) {
  return {a.x - b.x, a.y - b.y};
}

bool is_above_or_left(const Corner& a, const Corner& b) {
  return a.y != b.y ? a.y < b.y : a.x < b.x;
}

/// Appends a corner to a convex chain, which bends to the right at each of its corners.
void extend(std::vector<Corner>* chain, const Corner& corner) {
  while (chain->size() >= 2) {
    const Corner& last = chain->back();
    if (cross(last - (*chain)[chain->size() - 2], corner - last) > 0) {
      break;
    }
    chain->pop_back();
  }
  chain->push_back(corner);
}

/// Twice the area that a ring encloses, positive if it runs clockwise on the screen.
int64_t doubled_area(std::span<const Corner> ring) {
  int64_t sum = cross(ring.back(), ring.front());
  for (size_t i = 1; i < ring.size(); ++i) {
    sum += cross(ring[i - 1], ring[i]);
  }
  return sum;
}

}  // namespace

/* Hull */

/// Only the first and the last pixel of each row matter. The corners at a height between two rows come from
/// the row that reaches further.
std::span<const Corner> ShapeFinder::hull(const LabelImage& image, uint32_t label, const PixelBox& box) {
  constexpr int32_t kNone = std::numeric_limits<int32_t>::max();
  left_.clear();
  chain_.clear();
  int32_t above_left = kNone;
  int32_t above_right = -1;
  for (uint32_t row = 0; row <= box.height; ++row) {
    int32_t row_left = kNone;
    int32_t row_right = -1;
    if (row < box.height) {
      const uint32_t* begin = image.labels + size_t{box.y + row} * image.stride + box.x;
      const uint32_t* end = begin + box.width;
      if (const uint32_t* first = std::find(begin, end, label); first != end) {
        const uint32_t* last = end - 1;
        while (*last != label) {
          --last;
        }
        row_left = static_cast<int32_t>(box.x + (first - begin));
        row_right = static_cast<int32_t>(box.x + (last - begin) + 1);
      }
    }
    if (const int32_t x = std::max(above_right, row_right); x >= 0) {
      const auto y = static_cast<int32_t>(box.y + row);
      left_.push_back({std::min(above_left, row_left), y});
      extend(&chain_, {x, y});
    }
    above_left = row_left;
    above_right = row_right;
  }
  hull_.clear();
  if (left_.empty()) {
    return hull_;
  }
  hull_.push_back(left_.front());
  hull_.insert(hull_.end(), chain_.begin(), chain_.end());
  chain_.clear();
  std::for_each(left_.rbegin(), left_.rend(), [this](const Corner& corner) { extend(&chain_, corner); });
  hull_.insert(hull_.end(), chain_.begin(), chain_.end() - 1);
  return hull_;
}

/* Rectangle */

namespace {

/// A rectangle along an edge of the hull, times the length of that edge.
struct Fit {
  Corner origin;  ///< where the edge begins
  Corner edge;
  int64_t least;   ///< from the origin along the edge
  int64_t most;    ///< likewise
  int64_t height;  ///< across the edge

  int64_t area() const { return (most - least) * height; }
  int64_t squared_length() const { return dot(edge, edge); }
};

/// The areas are area() / squared_length(): below 2⁶² / 2³¹.
bool is_smaller(const Fit& a, const Fit& b) {
  return static_cast<__int128>(a.area()) * b.squared_length() <
         static_cast<__int128>(b.area()) * a.squared_length();
}

/// The point `along` the edge and `across` it from the origin, both times the length of the edge.
CclVertex corner_at(const Fit& fit, int64_t along, int64_t across) {
  const int64_t n = fit.squared_length();
  const int64_t x = fit.origin.x * n + fit.edge.x * along - fit.edge.y * across;
  const int64_t y = fit.origin.y * n + fit.edge.y * along + fit.edge.x * across;
  return {static_cast<float>(static_cast<double>(x) / static_cast<double>(n)),
          static_cast<float>(static_cast<double>(y) / static_cast<double>(n))};
}

}  // namespace

Rectangle smallest_rectangle(std::span<const Corner> hull) {
  const size_t n = hull.size();
  const auto at = [&](size_t i) { return hull[i % n]; };
  Fit best{};
  size_t right = 1;   // the corner that is furthest along the edge
  size_t bottom = 1;  // across it
  size_t left = 1;    // against it
  for (size_t i = 0; i < n; ++i) {
    const Corner edge = at(i + 1) - at(i);
    const auto move = [&](size_t from, auto is_further) {
      while (is_further(at(from + 1) - at(from))) {
        ++from;
      }
      return from;
    };
    right = move(std::max(right, i + 1), [&](const Corner& step) { return dot(edge, step) > 0; });
    bottom = move(std::max(bottom, right), [&](const Corner& step) { return cross(edge, step) > 0; });
    left = move(std::max(left, bottom), [&](const Corner& step) { return dot(edge, step) < 0; });
    const Fit fit{.origin = at(i),
                  .edge = edge,
                  .least = dot(edge, at(left) - at(i)),
                  .most = dot(edge, at(right) - at(i)),
                  .height = cross(edge, at(bottom) - at(i))};
    if (i == 0 || is_smaller(fit, best)) {
      best = fit;
    }
  }
  return {{corner_at(best, best.least, 0), corner_at(best, best.most, 0),
           corner_at(best, best.most, best.height), corner_at(best, best.least, best.height)}};
}

/* Contours */

/// A walk along edges of pixels from corner to corner, with the component on the right. Directions are east,
/// south, west, north: 0 to 3.
struct ShapeFinder::Walk {
  const LabelImage& image;
  uint32_t label;
  int32_t left, top, right, bottom;  ///< the box: first, and one after the last
  Connectivity connectivity;

  bool contains(int32_t x, int32_t y) const {
    return x >= left && y >= top && x < right && y < bottom &&
           image.labels[static_cast<size_t>(y) * image.stride + static_cast<size_t>(x)] == label;
  }

  /// The direction behind a corner that was reached in this direction. Ahead there is a pixel on the right
  /// and one on the left. Where only the one on the left belongs to the component, it touches the pixel
  /// behind on the right in the corner alone.
  uint32_t next_direction(const Corner& at, uint32_t direction) const {
    constexpr Corner kRight[4] = {{0, 0}, {-1, 0}, {-1, -1}, {0, -1}};
    constexpr Corner kLeft[4] = {{0, -1}, {0, 0}, {-1, 0}, {-1, -1}};
    const bool has_right = contains(at.x + kRight[direction].x, at.y + kRight[direction].y);
    const bool has_left = contains(at.x + kLeft[direction].x, at.y + kLeft[direction].y);
    constexpr uint32_t kTurnRight = 1;
    constexpr uint32_t kTurnLeft = 3;
    if (has_left && (has_right || connectivity == Connectivity::k8)) {
      return (direction + kTurnLeft) % 4;
    }
    return has_right ? direction : (direction + kTurnRight) % 4;
  }
};

/// Follows the ring along the upper edge of pixel (x, y). False if there are too many corners.
bool ShapeFinder::follow(const Walk& walk, const PixelBox& box, uint32_t x, uint32_t y, size_t max_corners,
                         uint64_t* length) {
  constexpr Corner kSteps[4] = {{1, 0}, {0, 1}, {-1, 0}, {0, -1}};
  constexpr uint32_t kEast = 0;
  const Corner start{static_cast<int32_t>(x), static_cast<int32_t>(y)};
  const size_t first = contours_.corners.size();
  Corner at = start;
  uint32_t direction = kEast;
  do {
    if (direction == kEast) {
      const uint64_t bit =
          (static_cast<uint64_t>(at.y) - box.y) * box.width + (static_cast<uint64_t>(at.x) - box.x);
      seen_[bit / kBits] |= uint64_t{1} << bit % kBits;
    }
    at = {at.x + kSteps[direction].x, at.y + kSteps[direction].y};
    ++*length;
    const uint32_t next = walk.next_direction(at, direction);
    if (next != direction) {
      if (contours_.corners.size() == max_corners) {
        return false;
      }
      contours_.corners.push_back(at);
    }
    direction = next;
  } while (at != start || direction != kEast);
  const auto begin = contours_.corners.begin() + static_cast<ptrdiff_t>(first);
  std::rotate(begin, std::min_element(begin, contours_.corners.end(), is_above_or_left),
              contours_.corners.end());
  const std::span<const Corner> ring(contours_.corners.data() + first, contours_.corners.size() - first);
  contours_.rings.push_back({doubled_area(ring) < 0, first, ring.size()});
  return true;
}

bool ShapeFinder::contours(const LabelImage& image, uint32_t label, const PixelBox& box,
                           Connectivity connectivity, size_t max_corners, uint32_t perimeter) {
  const Walk walk{.image = image,
                  .label = label,
                  .left = static_cast<int32_t>(box.x),
                  .top = static_cast<int32_t>(box.y),
                  .right = static_cast<int32_t>(box.x + box.width),
                  .bottom = static_cast<int32_t>(box.y + box.height),
                  .connectivity = connectivity};
  contours_.rings.clear();
  contours_.corners.clear();
  seen_.assign((uint64_t{box.width} * box.height + kBits - 1) / kBits, 0);
  uint64_t length = 0;
  for (uint32_t y = box.y; y < box.y + box.height; ++y) {
    const uint32_t* row = image.labels + size_t{y} * image.stride;
    const uint32_t* above = y > box.y ? row - image.stride : nullptr;
    for (uint32_t x = box.x; x < box.x + box.width; ++x) {
      if (row[x] != label || (above != nullptr && above[x] == label)) {
        continue;
      }
      const uint64_t bit = uint64_t{y - box.y} * box.width + (x - box.x);
      if ((seen_[bit / kBits] >> bit % kBits & 1) != 0) {
        continue;
      }
      if (!follow(walk, box, x, y, max_corners, &length)) {
        contours_ = {};
        return false;
      }
      if (length == perimeter) {
        return true;
      }
    }
  }
  return true;
}

/* Frames */

void PolygonMaker::make(const ShapeFrame& frame) {
  polygons_.clear();
  vertices_.clear();
  is_truncated_ = false;
  for (const CclComponent& component : frame.components) {
    const size_t n_polygons = polygons_.size();
    const size_t n_vertices = vertices_.size();
    if (!add_component(frame, component)) {
      polygons_.resize(n_polygons);
      vertices_.resize(n_vertices);
      is_truncated_ = true;
    }
  }
}

bool PolygonMaker::add_component(const ShapeFrame& frame, const CclComponent& component) {
  const auto has = [&](uint32_t features) { return (frame.features & features) != 0; };
  return (!has(kFeatureRectangle | kFeatureHull) || add_hull(frame, component)) &&
         (!has(kFeatureContour) || add_contours(frame, component)) &&
         (!has(kFeatureInradius) || add_circle(frame, component));
}

/// And the rectangle, which is made from it.
bool PolygonMaker::add_hull(const ShapeFrame& frame, const CclComponent& component) {
  const std::span<const Corner> hull = finder_.hull(frame.image, component.label, box_of(component));
  if ((frame.features & kFeatureRectangle) != 0 &&
      !add(component, CCL_POLYGON_RECTANGLE, std::span<const CclVertex>(smallest_rectangle(hull).corners))) {
    return false;
  }
  return (frame.features & kFeatureHull) == 0 || add(component, CCL_POLYGON_HULL, hull);
}

bool PolygonMaker::add_contours(const ShapeFrame& frame, const CclComponent& component) {
  if (!finder_.contours(frame.image, component.label, box_of(component), frame.connectivity,
                        max_vertices_ - vertices_.size(), component.perimeter)) {
    return false;
  }
  const Contours& contours = finder_.found();
  return std::all_of(contours.rings.begin(), contours.rings.end(), [&](const Ring& ring) {
    return add(component, ring.is_hole ? CCL_POLYGON_HOLE : CCL_POLYGON_OUTLINE,
               std::span<const Corner>(contours.corners).subspan(ring.first, ring.n_corners));
  });
}

/// A component that is the whole frame has no circle.
bool PolygonMaker::add_circle(const ShapeFrame& frame, const CclComponent& component) {
  const InscribedCircle circle =
      circles_.find(frame.image, component.label, box_of(component), frame.width, frame.height);
  if (circle.squared_distance == 0) {
    return true;
  }
  struct Point {
    double x, y;
  };
  const Point center = {circle.x + 0.5, circle.y + 0.5};
  const Point right = {center.x + std::sqrt(static_cast<double>(circle.squared_distance)) - 0.5, center.y};
  const Point points[] = {center, right};
  return add(component, CCL_POLYGON_CIRCLE, std::span<const Point>(points));
}

template <typename Point>
bool PolygonMaker::add(const CclComponent& component, uint32_t kind, std::span<const Point> points) {
  if (points.size() > max_vertices_ - vertices_.size()) {
    return false;
  }
  polygons_.push_back({component.label, component.id, kind, static_cast<uint32_t>(vertices_.size()),
                       static_cast<uint32_t>(points.size())});
  std::transform(points.begin(), points.end(), std::back_inserter(vertices_), [](const Point& point) {
    return CclVertex{static_cast<float>(point.x), static_cast<float>(point.y)};
  });
  return true;
}

}  // namespace ccl
