// SPDX-License-Identifier: LGPL-2.1-or-later
/// Zones and lines: which points are inside, and which moves cross.
#include <gtest/gtest.h>

#include <random>
#include <utility>

#include "ccl/zones.h"

namespace ccl::test {

namespace {

constexpr uint32_t kSize = 24;
constexpr PlaneScale kPixels = {.is_relative = false, .width = kSize, .height = kSize};

/// A point in pixels.
FixedPoint at(double x, double y) {
  return {std::llround(x * 256), std::llround(y * 256)};
}

CclTrack track_at(uint16_t x, uint16_t y, uint16_t width, uint16_t height, float cx, float cy) {
  CclTrack track{};
  track.x = x;
  track.y = y;
  track.width = width;
  track.height = height;
  track.cx = cx;
  track.cy = cy;
  return track;
}

Crossing crossing(const Line& line, const FixedPoint& from, const FixedPoint& to) {
  return LineShape(line, kPixels).crossed_by(from, to);
}

/// Or on the line that an edge is part of.
bool is_on_an_edge(const std::vector<Point>& polygon, double x, double y) {
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point& a = polygon[i];
    const Point& b = polygon[(i + 1) % polygon.size()];
    if ((b.x - a.x) * (y - a.y) == (b.y - a.y) * (x - a.x)) {
      return true;
    }
  }
  return false;
}

/// How often a move goes to the right less how often it goes to the left.
int to_right(const std::vector<LineShape>& lines, const FixedPoint& from, const FixedPoint& to) {
  int count = 0;
  for (const LineShape& line : lines) {
    const Crossing crossing = line.crossed_by(from, to);
    count += crossing == Crossing::kToRight ? 1 : crossing == Crossing::kToLeft ? -1 : 0;
  }
  return count;
}

}  // namespace

TEST(Anchors, BottomIsTheMiddleOfTheLowestRow) {
  EXPECT_EQ(anchor_of(track_at(4, 6, 3, 2, 5, 6.5F), Anchor::kBottom), at(5.5, 7.5));
  EXPECT_EQ(anchor_of(track_at(0, 0, 1, 1, 0, 0), Anchor::kBottom), at(0.5, 0.5));
  EXPECT_EQ(anchor_of(track_at(0, 0, 65535, 65535, 0, 0), Anchor::kBottom), at(32767.5, 65534.5));
}

/// In 1/256 pixel, halves away from zero. A centroid of (0, 0) is half a pixel from the corner.
TEST(Anchors, CentroidIsRounded) {
  EXPECT_EQ(anchor_of(track_at(0, 0, 1, 1, 0, 0), Anchor::kCentroid), at(0.5, 0.5));
  EXPECT_EQ(anchor_of(track_at(0, 0, 9, 9, 3.25F, 4.75F), Anchor::kCentroid), at(3.75, 5.25));
  EXPECT_EQ(anchor_of(track_at(0, 0, 9, 9, 3 + 1.5F / 256, 3 + 1.25F / 256), Anchor::kCentroid),
            (FixedPoint{3 * 256 + 2 + 128, 3 * 256 + 1 + 128}));
}

/// The mask of regions fills polygons by the same rule. It rounds, so centres on an edge are left out.
TEST(ZoneShapes, HaveThePixelsOfAMask) {
  std::mt19937 random(7);
  std::uniform_int_distribution<int> coordinate(-8, 2 * static_cast<int>(kSize) + 8);
  int compared = 0;
  for (int i = 0; i < 200; ++i) {
    Zone zone;
    for (int p = 0; p < 3 + i % 5; ++p) {
      zone.polygon.push_back({coordinate(random) / 2.0, coordinate(random) / 2.0});
    }
    const ZoneShape shape(zone, kPixels);
    const RegionMask mask(
        {.is_relative = false, .include = {{.name = "", .polygon = zone.polygon}}, .exclude = {}}, kSize,
        kSize);
    for (uint32_t y = 0; y < kSize; ++y) {
      for (uint32_t x = 0; x < kSize; ++x) {
        if (!is_on_an_edge(zone.polygon, x + 0.5, y + 0.5)) {
          ASSERT_EQ(shape.contains(at(x + 0.5, y + 0.5)),
                    (mask.bits()[size_t{y} * bit_row_words(kSize)] >> x & 1) != 0)
              << i << ": " << x << "," << y;
          ++compared;
        }
      }
    }
  }
  EXPECT_GT(compared, 50000);
}

/// Also points on their edges and corners: two triangles, and a square beside them, make a rectangle.
TEST(ZoneShapes, ThatShareEdgesShareNoPoint) {
  const ZoneShape parts[] = {
      ZoneShape({.name = "", .polygon = {{2, 2}, {10, 2}, {2, 14}}}, kPixels),
      ZoneShape({.name = "", .polygon = {{10, 2}, {10, 14}, {2, 14}}}, kPixels),
      ZoneShape({.name = "", .polygon = {{10, 2}, {22, 2}, {22, 14}, {10, 14}}}, kPixels)};
  for (int y = 0; y <= 64; ++y) {
    for (int x = 0; x <= 96; ++x) {
      const FixedPoint point = at(x / 4.0, y / 4.0);
      const int count = parts[0].contains(point) + parts[1].contains(point) + parts[2].contains(point);
      const bool is_inside = x >= 8 && x < 88 && y >= 8 && y < 56;
      ASSERT_EQ(count, is_inside ? 1 : 0) << x / 4.0 << "," << y / 4.0;
    }
  }
}

TEST(ZoneShapes, OfFractionsHaveTheFramesSize) {
  const Zone half = {.name = "", .polygon = {{0.5, 0}, {1, 0}, {1, 1}, {0.5, 1}}};
  const ZoneShape shape(half, {.is_relative = true, .width = 640, .height = 480});
  EXPECT_FALSE(shape.contains(at(319.5, 479.5)));
  EXPECT_TRUE(shape.contains(at(320, 479.5)));
  EXPECT_TRUE(shape.contains(at(639.5, 0)));
  EXPECT_FALSE(shape.contains(at(640, 0)));
}

TEST(ZoneShapes, OfTheLargestCoordinates) {
  const PlaneScale large = {.is_relative = true, .width = 32768, .height = 32768};
  const ZoneShape all({.name = "", .polygon = {{-1e6, -1e6}, {1e6, -1e6}, {1e6, 1e6}, {-1e6, 1e6}}}, large);
  EXPECT_TRUE(all.contains(at(16384, 16384)));
  const ZoneShape lower({.name = "", .polygon = {{-1e6, -1e6}, {1e6, 1e6}, {-1e6, 1e6}}}, large);
  EXPECT_TRUE(lower.contains(at(1000, 1001)));
  EXPECT_FALSE(lower.contains(at(1001, 1000)));
  EXPECT_TRUE(lower.is_at_edge(at(1000, 1001), 256));
  EXPECT_FALSE(lower.is_at_edge(at(1000, 1002), 256)) << "√2 pixels away";
  const LineShape diagonal({.name = "", .from = {-1e6, -1e6}, .to = {1e6, 1e6}}, large);
  EXPECT_TRUE(diagonal.is_at(at(1000, 1001), 256));
  EXPECT_FALSE(diagonal.is_at(at(1000, 1002), 256));
  const ZoneShape outside({.name = "", .polygon = {{2, 2}, {3, 2}, {3, 3}}}, large);
  EXPECT_FALSE(outside.contains(at(32767, 32767)));
}

TEST(LineShapes, DirectionIsSeenFromTheFirstPoint) {
  const Line east = {.name = "", .from = {2, 10}, .to = {20, 10}};
  EXPECT_EQ(crossing(east, at(8, 12), at(9, 7)), Crossing::kToLeft) << "up";
  EXPECT_EQ(crossing(east, at(8, 7), at(9, 12)), Crossing::kToRight) << "down";
  const Line west = {.name = "", .from = {20, 10}, .to = {2, 10}};
  EXPECT_EQ(crossing(west, at(8, 12), at(9, 7)), Crossing::kToRight);
  const Line south = {.name = "", .from = {10, 2}, .to = {10, 20}};
  EXPECT_EQ(crossing(south, at(8, 8), at(12, 8)), Crossing::kToLeft) << "to the right of the screen";
}

TEST(LineShapes, OnlyMovesThroughTheirLengthCross) {
  const Line line = {.name = "", .from = {5, 10}, .to = {10, 10}};
  EXPECT_EQ(crossing(line, at(2, 12), at(4, 7)), Crossing::kNone) << "before it";
  EXPECT_EQ(crossing(line, at(12, 12), at(11, 7)), Crossing::kNone) << "behind it";
  EXPECT_EQ(crossing(line, at(6, 12), at(9, 11)), Crossing::kNone) << "beside it";
  EXPECT_EQ(crossing(line, at(0, 16), at(14, 5)), Crossing::kToLeft) << "a long move";
  EXPECT_EQ(crossing(line, at(6, 10), at(9, 10)), Crossing::kNone) << "along it";
  EXPECT_EQ(crossing(line, at(6, 12), at(6, 12)), Crossing::kNone) << "no move";
}

/// A point on a line is on the side to the right of it on the screen, or below it if the line is level, so a
/// move that pauses there crosses once.
TEST(LineShapes, APointOnTheLineIsOnOneSide) {
  const Line east = {.name = "", .from = {2, 10}, .to = {20, 10}};
  EXPECT_EQ(crossing(east, at(8, 7), at(8, 10)), Crossing::kToRight);
  EXPECT_EQ(crossing(east, at(8, 10), at(8, 12)), Crossing::kNone);
  EXPECT_EQ(crossing(east, at(8, 12), at(8, 10)), Crossing::kNone);
  EXPECT_EQ(crossing(east, at(8, 10), at(8, 7)), Crossing::kToLeft);
  const Line west = {.name = "", .from = {20, 10}, .to = {2, 10}};
  EXPECT_EQ(crossing(west, at(8, 7), at(8, 10)), Crossing::kToLeft);
  EXPECT_EQ(crossing(west, at(8, 10), at(8, 12)), Crossing::kNone);
  const Line south = {.name = "", .from = {10, 2}, .to = {10, 20}};
  EXPECT_EQ(crossing(south, at(8, 8), at(10, 8)), Crossing::kToLeft);
  EXPECT_EQ(crossing(south, at(10, 8), at(12, 8)), Crossing::kNone);
}

/// Distances are those to the nearest point, and end before the margin.
TEST(LineShapes, AreNearAroundTheirEnds) {
  const Line line = {.name = "", .from = {4, 10}, .to = {12, 10}};
  const LineShape shape(line, kPixels);
  for (const auto& [x, y] : {std::pair{8.0, 13.0}, {8.0, 7.0}, {1.0, 10.0}, {15.0, 10.0}, {6.4, 12.2}}) {
    EXPECT_FALSE(shape.is_at(at(x, y), y == 12.2 ? 2 * 256 : 3 * 256)) << x << "," << y;
    EXPECT_TRUE(shape.is_at(at(x, y), 3 * 256 + 1)) << x << "," << y;
  }
  EXPECT_FALSE(shape.is_at(at(1.8, 12.4), 3 * 256)) << "beside an end, by more";
  EXPECT_FALSE(shape.is_at(at(8, 10), 0));
}

/// Of a zone that is drawn beyond the frame the part in it counts: that is where a track can be.
TEST(ZoneShapes, HaveTheMarginOfWhatIsInTheFrame) {
  const auto box = [](double left, double top, double right, double bottom) {
    return ZoneShape({.name = "", .polygon = {{left, top}, {right, top}, {right, bottom}, {left, bottom}}},
                     kPixels);
  };
  const double past = kSize + 500.0;
  const std::pair<ZoneShape, ZoneShape> pairs[] = {
      {box(kSize - 4.0, 0, kSize, kSize), box(kSize - 4.0, -500, past, past)},
      {box(0, 0, 5, 8), box(-500, -500, 5, 8)},
      {box(0, kSize - 3.0, 7, kSize), box(-500, kSize - 3.0, 7, past)},
      {box(6, 0, 9, 6), box(6, -500, 9, 6)}};
  int n_inside = 0;
  for (const auto& [in_frame, drawn_on] : pairs) {
    for (double x = 0.5; x < kSize; ++x) {
      for (double y = 0.5; y < kSize; ++y) {
        EXPECT_EQ(in_frame.contains(at(x, y)), drawn_on.contains(at(x, y)));
        EXPECT_EQ(in_frame.is_at_edge(at(x, y), 100 * 256), drawn_on.is_at_edge(at(x, y), 100 * 256));
        n_inside += drawn_on.contains(at(x, y)) && !drawn_on.is_at_edge(at(x, y), 100 * 256) ? 1 : 0;
      }
    }
  }
  EXPECT_GT(n_inside, 20);
  EXPECT_TRUE(box(kSize + 1.0, 0, past, kSize).is_at_edge(at(kSize - 1, 5), 0) == false);
}

TEST(LineShapes, NothingCrossesALineOfNoLength) {
  const Line point = {.name = "", .from = {10, 10}, .to = {10, 10}};
  for (double dx = -3; dx <= 3; ++dx) {
    for (double dy = -3; dy <= 3; ++dy) {
      EXPECT_EQ(crossing(point, at(10 + dx, 10 + dy), at(10 - dx, 10 - dy)), Crossing::kNone);
    }
  }
}

/// Lines around a polygon: a move that ends inside crosses one more inwards than outwards, also through
/// corners and from or to corners and edges.
TEST(LineShapes, AroundAPolygonCountWhatIsInside) {
  const std::vector<Point> corners = {{4, 4}, {16, 6}, {20, 18}, {8, 20}, {2, 12}};
  const ZoneShape zone({.name = "", .polygon = corners}, kPixels);
  std::vector<LineShape> lines;
  for (size_t i = 0; i < corners.size(); ++i) {
    const Line line = {.name = "", .from = corners[i], .to = corners[(i + 1) % corners.size()]};
    lines.emplace_back(line, kPixels);
  }
  std::mt19937 random(3);
  std::uniform_int_distribution<int> coordinate(0, kSize);
  int through_corners = 0, to_corners = 0;
  for (int i = 0; i < 30000; ++i) {
    const FixedPoint from = at(coordinate(random), coordinate(random));
    FixedPoint to = at(coordinate(random), coordinate(random));
    const FixedPoint corner = at(corners[i % 5].x, corners[i % 5].y);
    if (i % 3 == 0) {
      to = {2 * corner.x - from.x, 2 * corner.y - from.y};
      ++through_corners;
    } else if (i % 3 == 1) {
      to = corner;
      ++to_corners;
    }
    ASSERT_EQ(to_right(lines, from, to), zone.contains(to) - zone.contains(from)) << i;
    ASSERT_EQ(to_right(lines, to, from), zone.contains(from) - zone.contains(to)) << i;
  }
  EXPECT_GT(through_corners, 1000);
  EXPECT_GT(to_corners, 1000);
}

}  // namespace ccl::test
