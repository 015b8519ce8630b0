// SPDX-License-Identifier: LGPL-2.1-or-later
/// Filters: each rule at its limit, and frames whose components are filtered in every way that the pipelines
/// have.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "ccl/setting_names.h"
#include "compare.h"
#include "exact_test.h"
#include "filters.h"
#include "fixture.h"
#include "images.h"
#include "painting.h"
#include "segmentation.h"

namespace ccl::test {

namespace {

/* The rules */

/// The sums of a rectangle with its corner at (x, y), in a frame that it does not touch the border of.
FilterSums rectangle(uint64_t width, uint64_t height, uint64_t x = 1, uint64_t y = 1) {
  const auto sum = [](uint64_t first, uint64_t n) { return n * first + n * (n - 1) / 2; };
  const auto squares = [&](uint64_t first, uint64_t n) {
    return n * first * first + first * n * (n - 1) + (n - 1) * n * (2 * n - 1) / 6;
  };
  return {.area = static_cast<uint32_t>(width * height),
          .width = static_cast<uint32_t>(width),
          .height = static_cast<uint32_t>(height),
          .touches_border = false,
          .perimeter = static_cast<uint32_t>(2 * (width + height)),
          .x = sum(x, width) * height,
          .y = sum(y, height) * width,
          .xx = squares(x, width) * height,
          .xy = sum(x, width) * sum(y, height),
          .yy = squares(y, height) * width};
}

uint32_t failed(const Filter& filter, const FilterSums& sums) {
  return filter.failed_condition(sums);
}

TEST(FilterTest, NeutralFiltersKeepAll) {
  for (const Filter& filter : {Filter{}, Filter::neutral(), Filter{.max_area = 1u << 30, .min_width = 1}}) {
    EXPECT_FALSE(filter.is_active(1u << 30));
    EXPECT_EQ(filter.needs(), 0u);
    EXPECT_EQ(failed(filter, rectangle(1, 1)), kPassed);
    EXPECT_EQ(failed(filter, rectangle(32768, 32768)), kPassed);
  }
}

TEST(FilterTest, LimitsOfTheBox) {
  const FilterSums box = rectangle(7, 5);
  EXPECT_EQ(failed({.min_width = 7, .min_height = 5, .max_width = 7, .max_height = 5}, box), kPassed);
  EXPECT_EQ(failed({.min_width = 8}, box), kMinWidth);
  EXPECT_EQ(failed({.min_height = 6}, box), kMinHeight);
  EXPECT_EQ(failed({.max_width = 6}, box), kMaxWidth);
  EXPECT_EQ(failed({.max_height = 4}, box), kMaxHeight);
  EXPECT_EQ(failed({.clear_border = true}, box), kPassed);
  FilterSums at_border = box;
  at_border.touches_border = true;
  EXPECT_EQ(failed({.clear_border = true}, at_border), kClearBorder);
}

TEST(FilterTest, ExtentIsExact) {
  FilterSums box = rectangle(32768, 32768);
  EXPECT_EQ(failed({.min_extent = kFilterOne}, box), kPassed);
  --box.area;
  EXPECT_EQ(failed({.min_extent = kFilterOne}, box), kMinExtent);
  box.area = 1u << 29;
  EXPECT_EQ(failed({.min_extent = kFilterOne / 2}, box), kPassed);
  EXPECT_EQ(failed({.min_extent = kFilterOne / 2 + 1}, box), kMinExtent);
  --box.area;
  EXPECT_EQ(failed({.min_extent = kFilterOne / 2}, box), kMinExtent);
}

/// 16 area / perimeter²: 1 for a square, 8/9 for two of them side by side, 3/4 for three.
TEST(FilterTest, CircularityIsExact) {
  for (const uint32_t side : {1u, 2u, 100u, 16384u}) {
    EXPECT_EQ(failed({.min_circularity = kFilterOne}, rectangle(side, side)), kPassed) << side;
    EXPECT_EQ(failed({.min_circularity = kFilterOne}, rectangle(side, side + 1)), kMinCircularity) << side;
    const uint32_t limit = kFilterOne * 8 / 9;
    EXPECT_EQ(failed({.min_circularity = limit}, rectangle(2 * side, side)), kPassed) << side;
    EXPECT_EQ(failed({.min_circularity = limit + 1}, rectangle(2 * side, side)), kMinCircularity) << side;
    const uint32_t three = kFilterOne / 4 * 3;
    EXPECT_EQ(failed({.min_circularity = three}, rectangle(side, 3 * side)), kPassed) << side;
    EXPECT_EQ(failed({.min_circularity = three + 1}, rectangle(side, 3 * side)), kMinCircularity) << side;
  }
  // The longest perimeter: every second pixel of the largest frame, joined at corners.
  const FilterSums chessboard{.area = 1u << 29, .perimeter = 1u << 31};
  EXPECT_EQ(failed({.min_circularity = 1}, chessboard), kMinCircularity);
}

/// A rectangle of 15 × 13 pixels has the eccentricity 1/2: 1 − (13² − 1) / (15² − 1) = 1/4.
TEST(FilterTest, EccentricityIsExact) {
  for (const uint32_t origin : {0u, 1u, 32000u}) {
    for (const bool is_upright : {false, true}) {
      const FilterSums sums = is_upright ? rectangle(13, 15, origin, 7) : rectangle(15, 13, 7, origin);
      EXPECT_EQ(failed({.max_eccentricity = kFilterOne / 2}, sums), kPassed);
      EXPECT_EQ(failed({.max_eccentricity = kFilterOne / 2 - 1}, sums), kMaxEccentricity);
    }
  }
  EXPECT_EQ(failed({.max_eccentricity = 0}, rectangle(1, 1)), kPassed);
  EXPECT_EQ(failed({.max_eccentricity = 0}, rectangle(32768, 32768, 0, 0)), kPassed);
  EXPECT_EQ(failed({.max_eccentricity = 0}, rectangle(32768, 32767, 0, 0)), kMaxEccentricity);
  // √(1 − (32767² − 1) / (32768² − 1)) is 0.0078124, which is 511.99 / 65536.
  EXPECT_EQ(failed({.max_eccentricity = 512}, rectangle(32768, 32767, 0, 0)), kPassed);
  EXPECT_EQ(failed({.max_eccentricity = 511}, rectangle(32768, 32767, 0, 0)), kMaxEccentricity);
  EXPECT_EQ(failed({.max_eccentricity = kFilterOne - 1}, rectangle(32768, 1)), kMaxEccentricity);
  EXPECT_EQ(failed({.max_eccentricity = kFilterOne}, rectangle(32768, 1)), kPassed);
}

/// A line on a diagonal, with as many pixels as a line has at most.
TEST(FilterTest, EccentricityOfDiagonals) {
  for (const bool falls : {false, true}) {
    FilterSums line{.area = 0};
    for (uint64_t i = 0; i < 32768; ++i) {
      const uint64_t y = falls ? i : 32767 - i;
      ++line.area;
      line.x += i;
      line.y += y;
      line.xx += i * i;
      line.xy += i * y;
      line.yy += y * y;
    }
    EXPECT_EQ(failed({.max_eccentricity = kFilterOne - 1}, line), kMaxEccentricity);
    EXPECT_EQ(failed({.max_eccentricity = kFilterOne}, line), kPassed);
  }
}

/// 256-bit sums with and without carries.
TEST(FilterTest, WideSums) {
  using UInt = unsigned __int128;
  const auto square = [](UInt v) {
    WideSum sum;
    sum.add_square(v);
    return sum;
  };
  const UInt ones = ~UInt{0};
  EXPECT_TRUE(square(ones).high == ones - 1 && square(ones).low == 1);
  EXPECT_TRUE(square(UInt{1} << 64).high == 1 && square(UInt{1} << 64).low == 0);
  EXPECT_TRUE(square(UInt{1} << 127).high == UInt{1} << 126);
  WideSum sum = square((UInt{1} << 64) - 1);
  sum.add_square((UInt{1} << 64) - 1);
  EXPECT_TRUE(sum.high == 1 && sum.low == ones - (UInt{1} << 66) + 3);
  EXPECT_TRUE(square(3) <= square(3));
  EXPECT_FALSE(square(UInt{1} << 64) <= square((UInt{1} << 64) - 1));
}

/// A component that fails several conditions counts for the first one.
TEST(FilterTest, Order) {
  FilterSums sums = rectangle(20, 2);
  sums.area = 30;
  sums.touches_border = true;
  sums.perimeter = 60;
  Filter filter{.min_area = 31,
                .max_area = 29,
                .min_width = 21,
                .min_height = 3,
                .max_width = 19,
                .max_height = 1,
                .clear_border = true,
                .min_extent = kFilterOne,
                .min_circularity = kFilterOne,
                .max_eccentricity = 0};
  uint32_t next = 0;
  const auto expect_next = [&](FilterCondition condition, auto&& switch_off) {
    EXPECT_EQ(condition, next++);
    EXPECT_EQ(failed(filter, sums), condition);
    switch_off();
  };
  expect_next(kMinArea, [&] { filter.min_area = 1; });
  expect_next(kMaxArea, [&] { filter.max_area = 100; });
  expect_next(kMinWidth, [&] { filter.min_width = 0; });
  expect_next(kMinHeight, [&] { filter.min_height = 0; });
  expect_next(kMaxWidth, [&] { filter.max_width = 0; });
  expect_next(kMaxHeight, [&] { filter.max_height = 0; });
  expect_next(kClearBorder, [&] { filter.clear_border = false; });
  expect_next(kMinExtent, [&] { filter.min_extent = 0; });
  expect_next(kMinCircularity, [&] { filter.min_circularity = 0; });
  expect_next(kMaxEccentricity, [&] { filter.max_eccentricity = kFilterOne; });
  EXPECT_EQ(next, kTopN) << "every condition of one component";
  EXPECT_EQ(failed(filter, sums), kPassed);
}

/* Frames */

/// The shapes that rules are about, far from each other: squares, bars, discs, rings, diagonals, and one at
/// each border.
Image shapes(uint32_t width, uint32_t height) {
  Image image = plain("shapes", width, height);
  const auto put = [&](int64_t x, int64_t y) {
    if (x >= 0 && y >= 0 && x < width && y < height) {
      image.at(static_cast<uint32_t>(x), static_cast<uint32_t>(y)) = 255;
    }
  };
  constexpr int64_t kCell = 24;
  uint32_t kind = 0;
  for (int64_t y0 = 0; y0 < height; y0 += kCell) {
    for (int64_t x0 = 0; x0 < width; x0 += kCell, ++kind) {
      const int64_t size = 1 + kind % 11;
      for (int64_t y = -size; y <= size; ++y) {
        for (int64_t x = -size; x <= size; ++x) {
          const int64_t square = x * x + y * y;
          const bool is_in[] = {true,
                                y == 0,
                                2 * x <= size && -2 * x <= size,
                                square <= size * size,
                                square <= size * size && 2 * square >= size * size,
                                x == y,
                                x + y == 0 || x + y == 1,
                                x >= y};
          if (is_in[kind / 11 % 8]) {
            put(x0 + 11 + x, y0 + 11 + y);
          }
        }
      }
    }
  }
  put(0, height / 2);
  put(width - 1, height / 2);
  put(width / 2, 0);
  put(width / 2, height - 1);
  return image;
}

/// The tests below compare pipelines with the oracle, for all cases. A condition that no case has, or that
/// the oracle does not know, would have no test.
TEST(FilterCasesTest, HaveEveryConditionAlone) {
  const ExpectedFrame frame = expect_labels(shapes(155, 146), {});
  for (uint32_t condition = 0; condition < kFilterConditions; ++condition) {
    const bool is_alone = std::ranges::any_of(filter_cases(), [&](const Filter& filter) {
      const FrameCounts counts = expect_counts(frame, {.filter = filter});
      const uint32_t n_removed = counts.n_removed[condition];
      return n_removed > 0 && counts.n_components > 0 && counts.n_components + n_removed == counts.n_labels;
    });
    EXPECT_TRUE(is_alone) << kFilterConditionNames[condition];
  }
}

class FilteredFrameTest : public ExactTest {
 protected:
  FilteredFrameTest() : ExactTest(1u << 20) { runner_.with_maps = false; }

  testing::AssertionResult is_exact(const Image& image, const Filter& filter,
                                    uint32_t features = kAllFeatures) {
    Settings settings = GetParam().settings();
    settings.filter = filter;
    settings.features = features;
    return has_records(image, settings) << ", " << testing::PrintToString(filter);
  }
};

TEST_P(FilteredFrameTest, Shapes) {
  for (const auto& [width, height] : {std::pair{155u, 146u}, {304u, 60u}}) {
    const Image image = shapes(width, height);
    for (const Filter& filter : filter_cases()) {
      ASSERT_TRUE(is_exact(image, filter));
    }
  }
}

/// Records have the features that are asked for, whatever the filter reads.
TEST_P(FilteredFrameTest, Features) {
  const Image image = shapes(131, 97);
  for (uint32_t features = 0; features <= kAllFeatures; ++features) {
    for (const Filter& filter : {Filter{.min_width = 3},
                                 {.min_circularity = 30000},
                                 {.max_eccentricity = 50000},
                                 {.min_circularity = 20000, .max_eccentricity = 60000, .top_n = 5}}) {
      ASSERT_TRUE(is_exact(image, filter, features)) << ", features " << features;
    }
  }
}

/// Components that reach over strips and tiles, and all numbers of threads.
TEST_P(FilteredFrameTest, ThreadsAndLargeComponents) {
  for (const Image& image : {spiral(200, 170), shapes(200, 170), noise(211, 170, 1, 60, 3),
                             noise(200, 170, 16, 50, 4), plain("full", 90, 60, 255)}) {
    for (const uint32_t threads : {1u, 2u, 5u}) {
      runner_.config.threads = threads;
      for (const Filter& filter :
           {Filter{.clear_border = true},
            {.min_height = 20},
            {.max_width = 40},
            {.min_extent = 40000},
            {.min_circularity = 9000},
            {.max_eccentricity = 58000},
            {.top_n = 3},
            {.min_area = 5, .max_height = 100, .max_eccentricity = 65000, .top_n = 20}}) {
        ASSERT_TRUE(is_exact(image, filter)) << ", " << threads << " threads";
      }
    }
  }
}

TEST_P(FilteredFrameTest, Overflow) {
  const Image image = noise(150, 100, 2, 40, 5);
  for (const uint32_t max_components : {1u, 9u, 30u}) {
    runner_.config.max_components = max_components;
    for (const Filter& filter : {Filter{.min_width = 3},
                                 {.clear_border = true, .max_eccentricity = 60000},
                                 {.min_circularity = 20000},
                                 {.top_n = 20},
                                 {.min_extent = 30000, .top_n = 20},
                                 {.min_area = 3, .max_area = 30}}) {
      ASSERT_TRUE(is_exact(image, filter)) << ", " << max_components << " records at most";
    }
  }
}

/// From frame to frame each filter may be another, and counts of one never show up in the next.
TEST_P(FilteredFrameTest, ChangesFromFrameToFrame) {
  const Image image = noise(150, 100, 2, 40, 6);
  for (const Filter& filter : {Filter{.top_n = 4},
                               {},
                               {.min_width = 4},
                               {.min_area = 4},
                               {},
                               {.max_eccentricity = 50000},
                               {.max_area = 9},
                               {.min_area = 2, .max_area = 9},
                               {.min_circularity = 20000},
                               {.min_area = 100000},
                               {}}) {
    ASSERT_TRUE(is_exact(image, filter));
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, FilteredFrameTest, testing::ValuesIn(stage_cases()),
                         test_name<LabelerCase>);

/// Frames of many tiles: resident and, on most GPUs, parked ones. The CPU has no tiles.
TEST(FilteredLargeFrameTest, RecordsAndPixels) {
  std::vector<std::pair<uint32_t, uint32_t>> sizes = {{1920, 1080}};
  if (backend() == Backend::kCuda) {
    sizes.emplace_back(4099, 2300);
  }
  for (const auto& [width, height] : sizes) {
    const Image image = shapes(width, height);
    const ExpectedFrame want = expect_labels(image, {});
    for (const uint32_t features : {0u, uint32_t{kAllFeatures}}) {
      for (const Filter& filter :
           {Filter{.min_width = 5, .min_height = 9, .max_width = 20, .clear_border = true},
            {.min_extent = 40000, .min_circularity = 30000, .max_eccentricity = 60000},
            {.top_n = 100},
            {.min_area = 20, .max_area = 200}}) {
        const Settings settings{.filter = filter, .features = features};
        FrameRunner runner;
        runner.with_maps = false;
        runner.config.max_components = 1u << 16;
        runner.config.output = Output::kMask;
        const Outcome& got = runner.run(image, settings);
        ASSERT_TRUE(same_counts(got.counts, expect_counts(want, settings))) << testing::PrintToString(filter);
        ASSERT_TRUE(same_records(got.records, expect_records(want, settings, runner.config.max_components)));
        ASSERT_EQ(got.pixels, expect_pixels(image, want, runner.config, settings, {}));
      }
    }
  }
}

/// Components without a strong pixel count for no filter, and are not among the largest.
TEST(FilteredHysteresisTest, WeakComponentsAreNotCounted) {
  const Image image = random_levels(203, 131, 3, std::vector<uint8_t>{0, 100, 100, 150}, 4);
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Filter& filter : {Filter{},
                                   {.min_area = 10},
                                   {.min_area = 9, .max_area = 40},
                                   {.min_width = 4},
                                   {.clear_border = true},
                                   {.min_circularity = 30000},
                                   {.max_eccentricity = 50000},
                                   {.top_n = 7},
                                   {.min_area = 100000},
                                   {.min_extent = 40000, .top_n = 7}}) {
        const SegmentationCase c{
            .rule = {.threshold = 140}, .segmentation = {.threshold_low = 60}, .connectivity = connectivity};
        const Image bits = as_image(image, expect_foreground(image, c));
        const Settings of_bits{.connectivity = connectivity, .rule = kBitRule, .filter = filter};
        const ExpectedFrame want = expect_labels(bits, of_bits);
        const std::vector<bool> is_strong = expect_strong_labels(image, c, want);
        FrameRunner runner;
        runner.with_maps = false;
        runner.config.algorithm = labeler.algorithm;
        runner.segmentation = c.segmentation;
        const Outcome& got =
            runner.run(image, {.connectivity = connectivity, .rule = c.rule, .filter = filter});
        ASSERT_TRUE(same_counts(got.counts, expect_counts(want, of_bits, is_strong)))
            << labeler.nick << ", " << testing::PrintToString(filter);
        ASSERT_TRUE(
            same_records(got.records, expect_records(want, of_bits, runner.config.max_components, is_strong)))
            << labeler.nick << ", " << testing::PrintToString(filter);
      }
    }
  }
}

}  // namespace

}  // namespace ccl::test
