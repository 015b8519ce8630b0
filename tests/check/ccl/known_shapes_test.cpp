// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records of shapes that can be counted by hand, and of the largest frame, whose sums have closed forms.
/// They check the oracle as well as the library.
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "ccl/sums.h"
#include "compare.h"
#include "fixture.h"
#include "oracle.h"

namespace ccl::test {

namespace {

class KnownShapesTest : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  KnownShapesTest() { runner_.config.algorithm = GetParam().algorithm; }

  std::vector<CclComponent> measure(const std::vector<std::string>& rows, Connectivity connectivity,
                                    Foreground foreground = Foreground::kBinary) {
    const Image image = picture(rows);
    const Settings settings{.connectivity = connectivity, .rule = {.foreground = foreground}};
    const std::vector<CclComponent> records = runner_.run(image, settings).records;
    EXPECT_TRUE(same_records(records, expect_records(expect_labels(image, settings), settings, 1000)));
    return records;
  }

  FrameRunner runner_;
};

TEST_P(KnownShapesTest, OnePixel) {
  const std::vector<CclComponent> records = measure({"...", "..#", "..."}, Connectivity::k8);
  ASSERT_EQ(records.size(), 1u);
  const CclComponent& c = records[0];
  EXPECT_EQ(c.label, 1u);
  EXPECT_EQ(c.id, 1u);
  EXPECT_EQ(c.area, 1u);
  EXPECT_EQ(c.x, 2u);
  EXPECT_EQ(c.y, 1u);
  EXPECT_EQ(c.width, 1u);
  EXPECT_EQ(c.height, 1u);
  EXPECT_EQ(c.cx, 2.0f);
  EXPECT_EQ(c.cy, 1.0f);
  EXPECT_EQ(c.mxx, 0.0f);
  EXPECT_EQ(c.mxy, 0.0f);
  EXPECT_EQ(c.myy, 0.0f);
  EXPECT_EQ(c.perimeter, 4u);
  EXPECT_EQ(c.euler, 1);
  EXPECT_EQ(c.flags, CCL_COMPONENT_TOUCHES_BORDER);
  EXPECT_EQ(c.value, 255u);
  EXPECT_EQ(c.age, 0u);
}

/// A ring whose corners are open is one component with a hole over corners, and four without over edges.
TEST_P(KnownShapesTest, DiamondRing) {
  const std::vector<std::string> rows = {".....", "..#..", ".#.#.", "..#..", "....."};
  const std::vector<CclComponent> over_corners = measure(rows, Connectivity::k8);
  ASSERT_EQ(over_corners.size(), 1u);
  EXPECT_EQ(over_corners[0].area, 4u);
  EXPECT_EQ(over_corners[0].euler, 0);
  EXPECT_EQ(over_corners[0].perimeter, 16u);
  EXPECT_EQ(over_corners[0].flags, 0u);
  EXPECT_EQ(over_corners[0].mxx, 0.5f);
  EXPECT_EQ(over_corners[0].mxy, 0.0f);
  EXPECT_EQ(over_corners[0].myy, 0.5f);
  EXPECT_EQ(measure(rows, Connectivity::k4).size(), 4u);
}

/// Two holes that touch at a corner: the background connects there if the component does not.
TEST_P(KnownShapesTest, HolesThatTouchAtACorner) {
  const std::vector<std::string> rows = {"####", "#.##", "##.#", "####"};
  const std::vector<CclComponent> over_corners = measure(rows, Connectivity::k8);
  ASSERT_EQ(over_corners.size(), 1u);
  EXPECT_EQ(over_corners[0].euler, -1);
  const std::vector<CclComponent> over_edges = measure(rows, Connectivity::k4);
  ASSERT_EQ(over_edges.size(), 1u);
  EXPECT_EQ(over_edges[0].euler, 0);
  EXPECT_EQ(over_edges[0].perimeter, 24u);
}

/// A component in the hole of another is no part of it, yet the hole stays one.
TEST_P(KnownShapesTest, TargetOfRings) {
  const std::vector<CclComponent> records =
      measure({"#####", "#...#", "#.#.#", "#...#", "#####"}, Connectivity::k8);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].area, 16u);
  EXPECT_EQ(records[0].euler, 0);
  EXPECT_EQ(records[0].perimeter, 32u);
  EXPECT_EQ(records[0].cx, 2.0f);
  EXPECT_EQ(records[1].area, 1u);
  EXPECT_EQ(records[1].flags, 0u);
}

TEST_P(KnownShapesTest, SlantedLineHasACovariance) {
  const std::vector<CclComponent> records = measure({"#..", ".#.", "..#"}, Connectivity::k8);
  ASSERT_EQ(records.size(), 1u);
  const auto two_thirds = static_cast<float>(2.0 / 3);
  EXPECT_EQ(records[0].mxx, two_thirds);
  EXPECT_EQ(records[0].mxy, two_thirds);
  EXPECT_EQ(records[0].myy, two_thirds);
  const std::vector<CclComponent> other_way = measure({"..#", ".#.", "#.."}, Connectivity::k8);
  ASSERT_EQ(other_way.size(), 1u);
  EXPECT_EQ(other_way[0].mxy, -two_thirds);
}

/// Two diagonals of different values cross without meeting.
TEST_P(KnownShapesTest, ValuesCrossOverCorners) {
  const std::vector<CclComponent> records = measure({"12", "21"}, Connectivity::k8, Foreground::kValues);
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0].value, 1u);
  EXPECT_EQ(records[0].area, 2u);
  EXPECT_EQ(records[0].perimeter, 8u);
  EXPECT_EQ(records[0].euler, 1);
  EXPECT_EQ(records[1].value, 2u);
  EXPECT_EQ(records[1].area, 2u);
  EXPECT_EQ(measure({"12", "21"}, Connectivity::k4, Foreground::kValues).size(), 4u);
}

TEST_P(KnownShapesTest, ValuesCutEachOther) {
  const std::vector<CclComponent> records =
      measure({"11211", "11211", ".....", "3...3"}, Connectivity::k8, Foreground::kValues);
  ASSERT_EQ(records.size(), 5u);
  EXPECT_EQ(records[1].value, 2u);
  EXPECT_EQ(records[1].perimeter, 6u);
  EXPECT_EQ(records[2].value, 1u);
  EXPECT_EQ(records[3].value, 3u);
  EXPECT_EQ(records[4].x, 4u);
}

/// Angles, axes and eccentricities that a record's moments give.
TEST_P(KnownShapesTest, EllipseOfAComponent) {
  const CclComponent flat = measure({"####", "####"}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_orientation(&flat), 0);
  EXPECT_DOUBLE_EQ(ccl_component_major_axis(&flat), 4 * std::sqrt(1.25));
  EXPECT_DOUBLE_EQ(ccl_component_minor_axis(&flat), 4 * std::sqrt(0.25));
  EXPECT_DOUBLE_EQ(ccl_component_eccentricity(&flat), std::sqrt(0.8));
  const CclComponent upright = measure({"#", "#", "#"}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_orientation(&upright), std::numbers::pi / 2);
  EXPECT_DOUBLE_EQ(ccl_component_minor_axis(&upright), 0);
  EXPECT_DOUBLE_EQ(ccl_component_eccentricity(&upright), 1);
  const CclComponent falling = measure({"#..", ".#.", "..#"}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_orientation(&falling), std::numbers::pi / 4);
  const CclComponent rising = measure({"..#", ".#.", "#.."}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_orientation(&rising), -std::numbers::pi / 4);
  const CclComponent square = measure({"##", "##"}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_eccentricity(&square), 0);
  const CclComponent dot = measure({"#"}, Connectivity::k8).at(0);
  EXPECT_DOUBLE_EQ(ccl_component_eccentricity(&dot), 0);
}

INSTANTIATE_TEST_SUITE_P(Labelers, KnownShapesTest, testing::ValuesIn(labelers()), test_name<AlgorithmInfo>);

/// Files and readers without a header know these offsets.
TEST(ComponentTest, LayoutNeverChanges) {
  EXPECT_EQ(CCL_COMPONENT_LAYOUT_VERSION, 1u);
  EXPECT_EQ(sizeof(CclComponent), 64u);
  EXPECT_EQ(offsetof(CclComponent, label), 0u);
  EXPECT_EQ(offsetof(CclComponent, id), 4u);
  EXPECT_EQ(offsetof(CclComponent, area), 8u);
  EXPECT_EQ(offsetof(CclComponent, x), 12u);
  EXPECT_EQ(offsetof(CclComponent, y), 16u);
  EXPECT_EQ(offsetof(CclComponent, width), 20u);
  EXPECT_EQ(offsetof(CclComponent, height), 24u);
  EXPECT_EQ(offsetof(CclComponent, cx), 28u);
  EXPECT_EQ(offsetof(CclComponent, cy), 32u);
  EXPECT_EQ(offsetof(CclComponent, mxx), 36u);
  EXPECT_EQ(offsetof(CclComponent, mxy), 40u);
  EXPECT_EQ(offsetof(CclComponent, myy), 44u);
  EXPECT_EQ(offsetof(CclComponent, perimeter), 48u);
  EXPECT_EQ(offsetof(CclComponent, euler), 52u);
  EXPECT_EQ(offsetof(CclComponent, flags), 56u);
  EXPECT_EQ(offsetof(CclComponent, value), 58u);
  EXPECT_EQ(offsetof(CclComponent, age), 60u);
}

/// No test can afford the largest frame itself. Its sums come from the formulas of 0 + 1 + … and of the
/// squares.
TEST(SumsTest, LargestFrameHasExactMoments) {
  constexpr uint64_t kSide = kMaxDimension;
  constexpr uint64_t kSumOfOneLine = kSide * (kSide - 1) / 2;
  constexpr uint64_t kSquaresOfOneLine = (kSide - 1) * kSide * (2 * kSide - 1) / 6;
  Sums sums;
  sums.x_min = sums.y_min = 0;
  sums.x_max = sums.y_max = kMaxDimension - 1;
  sums.x = sums.y = kSide * kSumOfOneLine;
  sums.xx = sums.yy = kSide * kSquaresOfOneLine;
  sums.xy = kSumOfOneLine * kSumOfOneLine;
  sums.perimeter = 4 * kMaxDimension;
  sums.euler = 1;
  const CclComponent c =
      make_component(1, kMaxDimension * kMaxDimension, 255, sums, kAllFeatures, kMaxDimension, kMaxDimension);
  EXPECT_EQ(c.cx, 16383.5f);
  EXPECT_EQ(c.cy, 16383.5f);
  const auto variance = static_cast<float>((static_cast<double>(kSide) * kSide - 1) / 12);
  EXPECT_EQ(c.mxx, variance);
  EXPECT_EQ(c.mxy, 0.0f);
  EXPECT_EQ(c.myy, variance);
  EXPECT_EQ(c.width, kMaxDimension);
  EXPECT_EQ(c.height, kMaxDimension);
}

/// Small areas have their moments from 64 bits, whose products may overflow: pixels in two corners of the
/// largest frame, which have the largest moments, around the area from which on 128 bits are taken.
TEST(SumsTest, SmallAreasHaveTheMomentsOf128Bits) {
  constexpr uint64_t kLast = kMaxDimension - 1;
  for (const uint32_t n :
       {1u, 2u, 3u, 1000u, kShortArea / 2, kShortArea - 1, kShortArea, kShortArea + 1, 4 * kShortArea}) {
    for (const uint64_t n_first : {uint64_t{0}, uint64_t{1}, uint64_t{n / 2}, uint64_t{n}}) {
      const uint64_t n_second = n - n_first;
      const uint64_t sum = n_second * kLast;      // of a coordinate that is 0 in the first corner
      const uint64_t opposite = n_first * kLast;  // of one that is 0 in the second
      const uint64_t square = n_second * kLast * kLast;
      const auto moment = [n](uint64_t ab, uint64_t a, uint64_t b) {
        const __int128 numerator = static_cast<__int128>(ab) * n - static_cast<__int128>(a) * b;
        return static_cast<float>(static_cast<double>(numerator) / static_cast<double>(uint64_t{n} * n));
      };
      EXPECT_EQ(central_moment(n, square, sum, sum), moment(square, sum, sum)) << n << ", " << n_first;
      EXPECT_EQ(central_moment(n, 0, sum, opposite), moment(0, sum, opposite)) << n << ", " << n_first;
    }
  }
}

}  // namespace

}  // namespace ccl::test
