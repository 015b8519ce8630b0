// SPDX-License-Identifier: LGPL-2.1-or-later
/// Outlines of components, made on the host from the labels of a frame that is finished: convex hull,
/// rectangle of the smallest area, contours, and the largest circle inside. All decisions compare integers,
/// so the same labels give the same polygons everywhere.
///
/// Coordinates are those of pixel corners: see polygon.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/inscribed.h"
#include "ccl/label_image.h"
#include "ccl/polygon.h"

namespace ccl {

/// A corner of a pixel.
struct Corner {
  int32_t x;
  int32_t y;

  bool operator==(const Corner&) const = default;
};

/// A boundary in Contours::corners. The outer boundary runs clockwise on the screen, that of a hole
/// counterclockwise: the component is always on the right.
struct Ring {
  bool is_hole;
  size_t first;
  size_t n_corners;
};

struct Contours {
  std::vector<Ring> rings;  ///< first the outer one, then the holes in raster order of the row below them
  std::vector<Corner> corners;
};

/// Finds shapes, one component at a time. Keeps its memory. A label with pixels in several components has the
/// hull of all, and an outer boundary for each.
class ShapeFinder {
 public:
  /// The convex hull of the pixels of a label, which must lie in `box`, each of its four sides at one of
  /// them. Clockwise on the screen, from the uppermost corner on, of these the leftmost; no three in a line.
  /// Valid until the next call.
  std::span<const Corner> hull(const LabelImage& image, uint32_t label, const PixelBox& box);

  /// The contours of the pixels of a label in `box`, a corner wherever they change direction, each from its
  /// uppermost corner on, of these the leftmost. False, and no contours, if they have more than
  /// `max_corners`. `perimeter`: CclComponent::perimeter, with which the search ends when all is found, or 0.
  /// Valid until the next call.
  bool contours(const LabelImage& image, uint32_t label, const PixelBox& box, Connectivity connectivity,
                size_t max_corners, uint32_t perimeter = 0);
  const Contours& found() const { return contours_; }

 private:
  struct Walk;

  bool follow(const Walk& walk, const PixelBox& box, uint32_t x, uint32_t y, size_t max_corners,
              uint64_t* length);

  std::vector<Corner> left_;   ///< corners on the left side, from the top
  std::vector<Corner> chain_;  ///< of the hull: first its right side from the top, then its left from below
  std::vector<Corner> hull_;
  Contours contours_;
  std::vector<uint64_t> seen_;  ///< a bit for each pixel of the box: a ring runs along its upper edge
};

/// The rectangle of the smallest area around a convex hull as hull() returns it (Freeman and Shapira 1975: a
/// side lies along an edge of the hull; Toussaint 1983: rotating calipers). See CCL_POLYGON_RECTANGLE.
struct Rectangle {
  CclVertex corners[4];
};
Rectangle smallest_rectangle(std::span<const Corner> hull);

/// The labels of a finished frame, and the components whose polygons are wanted.
struct ShapeFrame {
  LabelImage image;
  uint32_t width, height;
  Connectivity connectivity;
  uint32_t features;  ///< Feature bits, of which kShapeFeatures count
  std::span<const CclComponent> components;
};

/// Makes the polygons of frames. Its memory grows with the frames that it sees, up to the limit of vertices.
class PolygonMaker {
 public:
  explicit PolygonMaker(size_t max_vertices) : max_vertices_(max_vertices) {}

  /// For one component after the other, in the order of the frame: rectangle, hull, outline, holes, circle,
  /// as far as wanted. A component whose polygons need more vertices than are left has none. Throws
  /// std::bad_alloc.
  void make(const ShapeFrame& frame);

  // What the last frame has. They are valid until the next call of make().
  std::span<const CclPolygon> polygons() const { return polygons_; }
  std::span<const CclVertex> vertices() const { return vertices_; }
  /// Whether a component was left out.
  bool is_truncated() const { return is_truncated_; }

 private:
  // They return false if there is no room.
  bool add_component(const ShapeFrame& frame, const CclComponent& component);
  bool add_hull(const ShapeFrame& frame, const CclComponent& component);
  bool add_contours(const ShapeFrame& frame, const CclComponent& component);
  bool add_circle(const ShapeFrame& frame, const CclComponent& component);
  template <typename Point>
  bool add(const CclComponent& component, uint32_t kind, std::span<const Point> points);

  size_t max_vertices_;
  ShapeFinder finder_;
  InscribedCircleFinder circles_;
  std::vector<CclPolygon> polygons_;
  std::vector<CclVertex> vertices_;
  bool is_truncated_ = false;
};

}  // namespace ccl
