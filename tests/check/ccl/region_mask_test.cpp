// SPDX-License-Identifier: LGPL-2.1-or-later
/// Regions as bits: every pixel compared with the definition, for polygons of every awkward kind.
#include <gtest/gtest.h>

#include <random>

#include "ccl/regions.h"

namespace ccl::test {

namespace {

/// By the definition: a ray from the point to the right crosses the outline an odd number of times.
bool is_inside(const std::vector<Point>& polygon, double x, double y) {
  bool inside = false;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % polygon.size()];
    if ((a.y <= y) != (b.y <= y)) {
      const Point& upper = a.y < b.y ? a : b;
      const Point& lower = a.y < b.y ? b : a;
      inside ^= upper.x + (y - upper.y) / (lower.y - upper.y) * (lower.x - upper.x) > x;
    }
  }
  return inside;
}

bool counts(const Regions& regions, uint32_t width, uint32_t height, uint32_t x, uint32_t y) {
  const auto is_in_one = [&](const std::vector<Region>& list) {
    for (Region region : list) {
      for (Point& point : region.polygon) {
        point.x *= regions.is_relative ? width : 1;
        point.y *= regions.is_relative ? height : 1;
      }
      if (is_inside(region.polygon, x + 0.5, y + 0.5)) {
        return true;
      }
    }
    return false;
  };
  return (regions.include.empty() || is_in_one(regions.include)) && !is_in_one(regions.exclude);
}

bool bit_of(const RegionMask& mask, uint32_t x, uint32_t y) {
  return (mask.bits()[size_t{y} * bit_row_words(mask.width()) + x / 32] >> (x % 32) & 1) != 0;
}

void expect_definition(const Regions& regions, uint32_t width, uint32_t height) {
  const RegionMask mask(regions, width, height);
  ASSERT_EQ(mask.width(), width);
  ASSERT_EQ(mask.height(), height);
  ASSERT_EQ(mask.bits().size(), size_t{bit_row_words(width)} * height);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < bit_row_words(width) * 32; ++x) {
      const bool expected = x < width && counts(regions, width, height, x, y);
      ASSERT_EQ(bit_of(mask, x, y), expected)
          << "pixel " << x << "," << y << " of " << width << "x" << height;
    }
  }
}

struct Size {
  uint32_t width, height;
};
constexpr Size kSizes[] = {{1, 1}, {2, 3}, {31, 7}, {32, 5}, {33, 40}, {128, 9}, {129, 65}};

Region named(std::vector<Point> polygon) {
  return {.name = "polygon", .polygon = std::move(polygon)};
}

const Region kTriangle = named({{0.1, 0.2}, {0.9, 0.3}, {0.4, 0.95}});
const Region kStar = named({{0.5, 0.0}, {0.8, 1.0}, {0.0, 0.4}, {1.0, 0.4}, {0.2, 1.0}});
const Region kOutside = named({{-3, -2}, {-1, -2}, {-1, 5}});
const Region kAround = named({{-3, -2}, {7, -2}, {7, 5}, {-3, 5}});
const Region kLine = named({{0.1, 0.1}, {0.9, 0.9}, {0.1, 0.1}});
const Region kTwice = named({{0, 0}, {1, 0}, {1, 1}, {0, 1}, {0, 0}, {1, 0}, {1, 1}, {0, 1}});

}  // namespace

TEST(RegionMask, EveryPixelIsAsTheDefinitionSays) {
  const std::vector<Region> none;
  const std::vector<Region> lists[] = {none,      {kTriangle}, {kStar},  {kOutside},
                                       {kAround}, {kLine},     {kTwice}, {kTriangle, kStar}};
  for (const Size& size : kSizes) {
    for (const std::vector<Region>& include : lists) {
      for (const std::vector<Region>& exclude : lists) {
        expect_definition({.is_relative = true, .include = include, .exclude = exclude}, size.width,
                          size.height);
      }
    }
  }
}

TEST(RegionMask, RandomPolygonsInPixels) {
  std::minstd_rand random(7);
  const auto between = [&](int low, int high) {
    return low + static_cast<double>(random() % 4096) / 4096 * (high - low);
  };
  for (int round = 0; round < 200; ++round) {
    const Size size = kSizes[random() % std::size(kSizes)];
    std::vector<Point> polygon;
    for (uint32_t i = 0; i < 3 + random() % 12; ++i) {
      polygon.push_back({between(-20, static_cast<int>(size.width) + 20),
                         between(-20, static_cast<int>(size.height) + 20)});
    }
    expect_definition({.is_relative = false, .include = {named(polygon)}, .exclude = {}}, size.width,
                      size.height);
  }
}

/// Pixels whose centre is on an edge belong to one of the two polygons that share it.
TEST(RegionMask, NeighboursNeitherOverlapNorLeaveGaps) {
  for (const Size& size : kSizes) {
    const Point corners[] = {{0, 0}, {1, 0}, {1, 1}, {0, 1}};
    const Point centre{0.37, 0.58};
    std::vector<int> covered(size_t{size.width} * size.height);
    for (int i = 0; i < 4; ++i) {
      const RegionMask mask({.is_relative = true,
                             .include = {named({corners[i], corners[(i + 1) % 4], centre})},
                             .exclude = {}},
                            size.width, size.height);
      for (uint32_t y = 0; y < size.height; ++y) {
        for (uint32_t x = 0; x < size.width; ++x) {
          covered[size_t{y} * size.width + x] += bit_of(mask, x, y);
        }
      }
    }
    EXPECT_EQ(covered, std::vector<int>(covered.size(), 1)) << size.width << "x" << size.height;
  }
}

/// Coordinates that no frame has are no reason to loop over them.
TEST(RegionMask, FarPointsTakeNoTime) {
  const double far = 1e300;
  expect_definition({.is_relative = false,
                     .include = {named({{-far, -far}, {far, -far}, {far, far}, {-far, far}})},
                     .exclude = {}},
                    40, 30);
}

TEST(RegionMask, EachHasAnIdOfItsOwn) {
  const RegionMask a({}, 8, 8);
  const RegionMask b({}, 8, 8);
  EXPECT_NE(a.id(), b.id());
}

}  // namespace ccl::test
