// SPDX-License-Identifier: LGPL-2.1-or-later
/// Outlines of components, from their definitions: contours enclose exactly the pixels, a hull is the
/// smallest convex polygon around them, a rectangle the smallest of all that lie along an edge of the hull.
#include "ccl/shape.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

int64_t bend(const Corner& a, const Corner& b, const Corner& c) {
  return int64_t{b.x - a.x} * (c.y - b.y) - int64_t{b.y - a.y} * (c.x - b.x);
}

/// Of a component: its pixels in its box, row by row.
std::vector<uint8_t> mask_of(const ExpectedFrame& frame, const CclComponent& c) {
  std::vector<uint8_t> mask;
  for (uint32_t y = c.y; y < c.y + c.height; ++y) {
    for (uint32_t x = c.x; x < c.x + c.width; ++x) {
      mask.push_back(frame.labels[size_t{y} * frame.width + x] == c.label ? 1 : 0);
    }
  }
  return mask;
}

/// Which pixels of the box a contour encloses, by the even-odd rule.
std::vector<uint8_t> filled(const Contours& contours, const CclComponent& c) {
  std::vector<uint8_t> mask(size_t{c.width} * c.height);
  for (const Ring& ring : contours.rings) {
    for (size_t i = 0; i < ring.n_corners; ++i) {
      const Corner a = contours.corners[ring.first + i];
      const Corner b = contours.corners[ring.first + (i + 1) % ring.n_corners];
      for (int32_t y = std::min(a.y, b.y); y < std::max(a.y, b.y); ++y) {
        for (uint32_t x = static_cast<uint32_t>(a.x); x < c.x + c.width; ++x) {
          mask[(static_cast<size_t>(y) - c.y) * c.width + (x - c.x)] ^= 1;
        }
      }
    }
  }
  return mask;
}

void check_ring(const Contours& contours, const Ring& ring) {
  const auto at = [&](size_t i) { return contours.corners[ring.first + i % ring.n_corners]; };
  ASSERT_GE(ring.n_corners, 4u);
  int64_t doubled_area = 0;
  for (size_t i = 0; i < ring.n_corners; ++i) {
    const bool is_horizontal = at(i).y == at(i + 1).y;
    ASSERT_NE(is_horizontal, at(i).x == at(i + 1).x) << "along the edges of pixels";
    ASSERT_NE(is_horizontal, at(i + 1).y == at(i + 2).y) << "another direction behind every corner";
    const bool starts_first = at(0).y != at(i).y ? at(0).y < at(i).y : at(0).x <= at(i).x;
    ASSERT_TRUE(starts_first) << "the first corner is the uppermost, of these the leftmost";
    doubled_area += int64_t{at(i).x} * at(i + 1).y - int64_t{at(i).y} * at(i + 1).x;
  }
  ASSERT_EQ(doubled_area < 0, ring.is_hole) << "holes run counterclockwise";
}

void check_contours(const Contours& contours, const ExpectedFrame& frame, const CclComponent& c) {
  ASSERT_EQ(contours.rings.size(), static_cast<size_t>(2 - c.euler))
      << "the outer ring and one for each hole";
  uint32_t length = 0;
  size_t n_corners = 0;
  for (const Ring& ring : contours.rings) {
    ASSERT_EQ(ring.is_hole, &ring != contours.rings.data());
    ASSERT_EQ(ring.first, n_corners);
    n_corners += ring.n_corners;
    check_ring(contours, ring);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    for (size_t i = 0; i < ring.n_corners; ++i) {
      const Corner a = contours.corners[ring.first + i];
      const Corner b = contours.corners[ring.first + (i + 1) % ring.n_corners];
      length += static_cast<uint32_t>(std::abs(a.x - b.x) + std::abs(a.y - b.y));
    }
  }
  ASSERT_EQ(contours.corners.size(), n_corners);
  ASSERT_EQ(length, c.perimeter);
  ASSERT_EQ(filled(contours, c), mask_of(frame, c));
}

void check_hull(std::span<const Corner> hull, const ExpectedFrame& frame, const CclComponent& c) {
  ASSERT_GE(hull.size(), 4u);
  std::set<std::pair<int32_t, int32_t>> corners;
  const std::vector<uint8_t> mask = mask_of(frame, c);
  for (size_t i = 0; i < mask.size(); ++i) {
    for (uint32_t corner = 0; mask[i] != 0 && corner < 4; ++corner) {
      corners.insert({static_cast<int32_t>(c.x + i % c.width + corner % 2),
                      static_cast<int32_t>(c.y + i / c.width + corner / 2)});
    }
  }
  for (size_t i = 0; i < hull.size(); ++i) {
    const Corner a = hull[i];
    const Corner b = hull[(i + 1) % hull.size()];
    ASSERT_TRUE(corners.contains({a.x, a.y}));
    ASSERT_TRUE(hull[0].y != a.y ? hull[0].y < a.y : hull[0].x <= a.x);
    ASSERT_GT(bend(a, b, hull[(i + 2) % hull.size()]), 0) << "strictly convex and clockwise";
    for (const auto& [x, y] : corners) {
      ASSERT_GE(bend(a, b, {x, y}), 0) << "all pixels are inside";
    }
  }
}

/// Area of the smallest rectangle around the hull with a side in the direction (x, y).
long double area_along(std::span<const Corner> hull, long double x, long double y) {
  long double range[4] = {INFINITY, -INFINITY, INFINITY, -INFINITY};
  for (const Corner& corner : hull) {
    const long double along = corner.x * x + corner.y * y;
    const long double across = corner.y * x - corner.x * y;
    range[0] = std::min(range[0], along);
    range[1] = std::max(range[1], along);
    range[2] = std::min(range[2], across);
    range[3] = std::max(range[3], across);
  }
  return (range[1] - range[0]) * (range[3] - range[2]) / (x * x + y * y);
}

void check_rectangle(const Rectangle& rectangle, std::span<const Corner> hull) {
  const CclVertex* v = rectangle.corners;
  long double least = INFINITY;
  for (size_t i = 0; i < hull.size(); ++i) {
    const Corner b = hull[(i + 1) % hull.size()];
    least = std::min(least, area_along(hull, b.x - hull[i].x, b.y - hull[i].y));
  }
  for (uint32_t degrees = 0; degrees < 90; degrees += 7) {
    const double angle = degrees * std::numbers::pi / 180;
    ASSERT_GE(area_along(hull, std::cos(angle), std::sin(angle)), least * (1 - 1e-9L));
  }
  const double tolerance = 1e-5 * (1 + std::max(std::fabs(v[0].x), std::fabs(v[0].y)));
  ASSERT_NEAR(ccl_rectangle_width(v) * ccl_rectangle_height(v), static_cast<double>(least),
              tolerance * (ccl_rectangle_width(v) + ccl_rectangle_height(v)));
  for (uint32_t i = 0; i < 4; ++i) {
    const CclVertex& a = v[i];
    const CclVertex& b = v[(i + 1) % 4];
    const double length = std::hypot(b.x - a.x, b.y - a.y);
    for (const Corner& corner : hull) {
      const double distance = ((b.x - a.x) * (corner.y - a.y) - (b.y - a.y) * (corner.x - a.x)) / length;
      ASSERT_GE(distance, -tolerance) << "inside, and clockwise";
    }
  }
  ASSERT_EQ(ccl_rectangle_angle(v), std::atan2(double{v[1].y} - v[0].y, double{v[1].x} - v[0].x));
}

/// Components of the frame, at most `most` of them, as the library reports them.
std::vector<CclComponent> components_of(const ExpectedFrame& frame, const Settings& settings, size_t most) {
  std::vector<CclComponent> components;
  const std::vector<ExpectedRecord> records = expect_records(frame, settings, 1u << 20);
  for (size_t i = 0; i < records.size(); i += std::max<size_t>(1, records.size() / most)) {
    components.push_back(records[i].integers);
  }
  return components;
}

/// Finds and checks all shapes of an image.
void check(const Image& image, Connectivity connectivity, ShapeFinder* finder, size_t most = 100) {
  const Settings settings{.connectivity = connectivity, .rule = {.threshold = 128}};
  const ExpectedFrame frame = expect_labels(image, settings);
  const LabelImage labels{frame.labels.data(), frame.width};
  for (const CclComponent& c : components_of(frame, settings, most)) {
    const std::string what = image.name + ", label " + std::to_string(c.label);
    ASSERT_TRUE(finder->contours(labels, c.label, box_of(c), connectivity, SIZE_MAX)) << what;
    check_contours(finder->found(), frame, c);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << what;
    const std::vector<Corner> corners = finder->found().corners;
    ASSERT_TRUE(finder->contours(labels, c.label, box_of(c), connectivity, corners.size(), c.perimeter));
    ASSERT_EQ(finder->found().corners, corners) << what;
    ASSERT_FALSE(finder->contours(labels, c.label, box_of(c), connectivity, corners.size() - 1));
    ASSERT_TRUE(finder->found().rings.empty());
    const std::span<const Corner> hull = finder->hull(labels, c.label, box_of(c));
    check_hull(hull, frame, c);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << what;
    check_rectangle(smallest_rectangle(hull), hull);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << what;
  }
}

void check_both(const Image& image, size_t most = 100) {
  ShapeFinder finder;
  check(image, Connectivity::k4, &finder, most);
  check(image, Connectivity::k8, &finder, most);
}

TEST(ShapeTest, EverySmallImage) {
  constexpr std::array<uint8_t, 2> kStates = {0, 255};
  for (const auto& [width, height] : {std::pair{3u, 3u}, {4u, 3u}, {2u, 5u}}) {
    check_both(all_patterns(width, height, kStates), 1u << 20);
    ASSERT_FALSE(HasFatalFailure());
  }
}

TEST(ShapeTest, DifficultImages) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {9u, 1u}, {1u, 9u}, {66u, 41u}}) {
    for (const Image& image : adversarial_set(width, height)) {
      check_both(image, 20);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(ShapeTest, RandomImages) {
  for (uint32_t seed = 0; seed < 12; ++seed) {
    check_both(noise(60 + seed, 50, 1 + seed % 3, 20 + 5 * seed, seed), 20);
    check_both(blobs(90, 80, seed), 20);
    ASSERT_FALSE(HasFatalFailure());
  }
}

/* By hand */

struct Found {
  std::vector<Corner> hull;
  Rectangle rectangle;
  Contours contours;
};

Found find(const Image& image, Connectivity connectivity = Connectivity::k8) {
  const Settings settings{.connectivity = connectivity};
  const ExpectedFrame frame = expect_labels(image, settings);
  const CclComponent c = components_of(frame, settings, 100).at(0);
  ShapeFinder finder;
  const LabelImage labels{frame.labels.data(), frame.width};
  const std::span<const Corner> hull = finder.hull(labels, 1, box_of(c));
  EXPECT_TRUE(finder.contours(labels, 1, box_of(c), connectivity, SIZE_MAX));
  return {{hull.begin(), hull.end()}, smallest_rectangle(hull), finder.found()};
}

TEST(ShapeTest, Pixel) {
  const Found found = find(picture({"...", ".#.", "..."}));
  const std::vector<Corner> square = {{1, 1}, {2, 1}, {2, 2}, {1, 2}};
  EXPECT_EQ(found.hull, square);
  EXPECT_EQ(found.contours.corners, square);
  EXPECT_EQ(ccl_rectangle_width(found.rectangle.corners), 1);
  EXPECT_EQ(ccl_rectangle_height(found.rectangle.corners), 1);
  EXPECT_EQ(ccl_rectangle_angle(found.rectangle.corners), 0);
}

TEST(ShapeTest, Diagonal) {
  const Image image = picture({"#..", ".#.", "..#"});
  const Found found = find(image);
  EXPECT_EQ(found.hull, (std::vector<Corner>{{0, 0}, {1, 0}, {3, 2}, {3, 3}, {2, 3}, {0, 1}}));
  EXPECT_NEAR(ccl_rectangle_width(found.rectangle.corners), 3 * std::sqrt(2), 1e-6);
  EXPECT_NEAR(ccl_rectangle_height(found.rectangle.corners), std::sqrt(2), 1e-6);
  EXPECT_NEAR(ccl_rectangle_angle(found.rectangle.corners), std::numbers::pi / 4, 1e-6);
  EXPECT_EQ(
      found.contours.corners,
      (std::vector<Corner>{
          {0, 0}, {1, 0}, {1, 1}, {2, 1}, {2, 2}, {3, 2}, {3, 3}, {2, 3}, {2, 2}, {1, 2}, {1, 1}, {0, 1}}));
  EXPECT_EQ(find(image, Connectivity::k4).contours.corners.size(), 4u);
}

TEST(ShapeTest, Hole) {
  const Contours contours = find(picture({"###", "#.#", "###"})).contours;
  ASSERT_EQ(contours.rings.size(), 2u);
  EXPECT_EQ(contours.corners,
            (std::vector<Corner>{{0, 0}, {3, 0}, {3, 3}, {0, 3}, {1, 1}, {1, 2}, {2, 2}, {2, 1}}));
}

/* Tables */

TEST(ShapeTest, Tables) {
  const Image image = picture({"###...", "#.#.##", "###.##"});
  const Settings settings;
  const ExpectedFrame expected = expect_labels(image, settings);
  std::vector<CclComponent> components = components_of(expected, settings, 100);
  ASSERT_EQ(components.size(), 2u);
  components[0].id = 77;
  std::swap(components[0], components[1]);
  const ShapeFrame frame{.image = {expected.labels.data(), expected.width},
                         .width = expected.width,
                         .height = expected.height,
                         .connectivity = Connectivity::k8,
                         .features = kFeatureRectangle | kFeatureHull | kFeatureContour,
                         .components = components};
  PolygonMaker maker(28);
  maker.make(frame);
  EXPECT_FALSE(maker.is_truncated());
  ASSERT_EQ(maker.vertices().size(), 28u);
  const std::vector<std::pair<uint32_t, uint32_t>> want = {
      {2, CCL_POLYGON_RECTANGLE}, {2, CCL_POLYGON_HULL}, {2, CCL_POLYGON_OUTLINE},
      {1, CCL_POLYGON_RECTANGLE}, {1, CCL_POLYGON_HULL}, {1, CCL_POLYGON_OUTLINE},
      {1, CCL_POLYGON_HOLE}};
  ASSERT_EQ(maker.polygons().size(), want.size());
  for (uint32_t i = 0; i < want.size(); ++i) {
    const CclPolygon& polygon = maker.polygons()[i];
    EXPECT_EQ(std::pair(polygon.label, polygon.kind), want[i]);
    EXPECT_EQ(polygon.id, polygon.label == 1 ? 77u : 2u);
    EXPECT_EQ(polygon.first, 4 * i);
    EXPECT_EQ(polygon.n_vertices, 4u);
  }
  // Without room for one of its polygons, a component has none.
  for (const uint32_t n : {27u, 12u, 11u, 3u, 0u}) {
    PolygonMaker small(n);
    small.make(frame);
    EXPECT_TRUE(small.is_truncated());
    EXPECT_EQ(small.polygons().size(), n >= 12 ? 3u : 0u);
    EXPECT_EQ(small.vertices().size(), n >= 12 ? 12u : 0u);
  }
  maker.make(
      {frame.image, frame.width, frame.height, frame.connectivity, kAllFeatures | kFeatureGrey, components});
  EXPECT_TRUE(maker.polygons().empty());
  EXPECT_TRUE(maker.vertices().empty());
}

/// The largest frame: no sum of 32 bits would do.
TEST(ShapeTest, LargeCoordinates) {
  const std::vector<uint32_t> row(kMaxDimension, 1);
  const LabelImage labels{row.data(), 0};  // all rows are the same
  ShapeFinder finder;
  const PixelBox box{0, 0, kMaxDimension, kMaxDimension};
  const std::span<const Corner> hull = finder.hull(labels, 1, box);
  const auto n = static_cast<int32_t>(kMaxDimension);
  EXPECT_EQ(std::vector<Corner>(hull.begin(), hull.end()),
            (std::vector<Corner>{{0, 0}, {n, 0}, {n, n}, {0, n}}));
  const std::vector<Corner> slanted = {{0, 0}, {1, 0}, {n, n - 2}, {n, n}, {n - 1, n}, {0, 2}};
  const Rectangle rectangle = smallest_rectangle(slanted);
  EXPECT_NEAR(ccl_rectangle_angle(rectangle.corners), std::numbers::pi / 4, 1e-4);
  EXPECT_NEAR(ccl_rectangle_width(rectangle.corners), kMaxDimension * std::sqrt(2), 3);
}

}  // namespace

}  // namespace ccl::test
