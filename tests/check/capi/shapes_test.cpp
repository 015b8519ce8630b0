// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics and polygons through the C interface.
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "c_engine.h"
#include "compare.h"

namespace ccl::test {

namespace {

/// Two squares of one value, the larger one below, with a hole of one pixel.
Image two_squares() {
  return drawn("squares", 61, 47, [](uint32_t x, uint32_t y) {
    const bool is_small = x >= 2 && x < 4 && y >= 1 && y < 3;
    const bool is_large = x >= 10 && x < 15 && y >= 10 && y < 15 && !(x == 12 && y == 12);
    return is_small || is_large;
  });
}

TEST(CShapesTest, AreGreyStatisticsAndPolygons) {
  const Image image = two_squares();
  const uint32_t value = image.at(2, 1);
  CEngine c(image);
  c.settings.features = CUDACCL_FEATURE_GREY | CUDACCL_FEATURE_HULL | CUDACCL_FEATURE_CONTOUR;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  const cudaccl::Shapes shapes = c.engine.shapes();
  ASSERT_EQ(shapes.n_grey, 2u);
  for (size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(shapes.grey[i].label, c.result.records[i].label);
    EXPECT_EQ(shapes.grey[i].sum, uint64_t{value} * c.result.records[i].area);
    EXPECT_EQ(shapes.grey[i].max, value);
  }
  EXPECT_EQ(shapes.truncated, 0u);
  std::vector<std::pair<uint32_t, uint32_t>> polygons;
  for (size_t i = 0; i < shapes.n_polygons; ++i) {
    polygons.emplace_back(shapes.polygons[i].label, shapes.polygons[i].kind);
    EXPECT_EQ(shapes.polygons[i].n_vertices, 4u);
  }
  const std::vector<std::pair<uint32_t, uint32_t>> expected = {{2, CCL_POLYGON_HULL},
                                                               {2, CCL_POLYGON_OUTLINE},
                                                               {2, CCL_POLYGON_HOLE},
                                                               {1, CCL_POLYGON_HULL},
                                                               {1, CCL_POLYGON_OUTLINE}};
  EXPECT_EQ(polygons, expected);
  ASSERT_EQ(shapes.n_vertices, 20u);
  const CclVertex& corner = shapes.vertices[shapes.polygons[3].first];
  EXPECT_EQ(corner.x, 2);
  EXPECT_EQ(corner.y, 1);
}

TEST(CShapesTest, AreCircles) {
  const Image image = two_squares();
  CEngine c(image);
  c.settings.features = CUDACCL_FEATURE_INRADIUS;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  const cudaccl::Shapes shapes = c.engine.shapes();
  ASSERT_EQ(shapes.n_polygons, 2u);
  ASSERT_EQ(shapes.n_vertices, 4u);
  // The larger square has the hole in its middle, at a diagonal step from the farthest pixel.
  const std::pair<float, float> centers[] = {{11.5f, 11.5f}, {2.5f, 1.5f}};
  const double radii[] = {std::sqrt(2) - 0.5, 0.5};
  for (uint32_t i = 0; i < 2; ++i) {
    const CclPolygon& polygon = shapes.polygons[i];
    EXPECT_EQ(polygon.label, 2 - i);
    EXPECT_EQ(polygon.kind, uint32_t{CCL_POLYGON_CIRCLE});
    ASSERT_EQ(polygon.n_vertices, 2u);
    const CclVertex* v = shapes.vertices + polygon.first;
    EXPECT_EQ(std::pair(v[0].x, v[0].y), centers[i]);
    EXPECT_NEAR(ccl_circle_radius(v), radii[i], 1e-6);
  }
}

TEST(CShapesTest, AreThoseOfTheLargestObjectsOfTheFrameThatWasPopped) {
  const Image image = two_squares();
  CEngine c(image);
  cudaccl::Shapes shapes;
  const auto refusal = [&] {
    EXPECT_EQ(cudaccl_engine_shapes(c.engine.get(), 1, &shapes), CUDACCL_INVALID_ARGUMENT);
    return says(c.error(), "pop one, and list them before another call");
  };
  EXPECT_TRUE(refusal());
  c.settings.features = CUDACCL_FEATURE_RECTANGLE;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  shapes = c.engine.shapes(1);
  ASSERT_EQ(shapes.n_polygons, 1u);
  EXPECT_EQ(shapes.polygons[0].label, 2u);
  EXPECT_EQ(shapes.n_grey, 0u);
  EXPECT_GT(c.result.records[1].area, c.result.records[0].area) << "the result is still valid";
  c.settings.features = CUDACCL_FEATURE_ALL;
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.engine.shapes().n_polygons, 0u) << "the frame did not ask for any";
  c.engine.push(c.frame);
  EXPECT_TRUE(refusal());
  shapes.struct_size = 0;
  EXPECT_EQ(cudaccl_engine_shapes(c.engine.get(), 1, &shapes), CUDACCL_INVALID_ARGUMENT);
  EXPECT_TRUE(says(c.error(), "cudaccl_shapes_init"));
}

}  // namespace

}  // namespace ccl::test
