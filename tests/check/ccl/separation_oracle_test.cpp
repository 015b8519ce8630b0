// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is expected of separated components: distances against a loop over all pixels, frames whose parts are
/// known, and what is true of the parts of any frame.
#include "separation.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "images.h"
#include "oracle.h"
#include "separation_cases.h"

namespace ccl::test {

namespace {

/* Distances */

std::vector<uint32_t> all_pairs(const ExpectedFrame& frame, uint32_t aspect) {
  std::vector<uint32_t> squares;
  const int64_t n_pixels = int64_t{frame.width} * frame.height;
  for (int64_t p = 0; p < n_pixels; ++p) {
    const uint32_t root = frame.root_map[static_cast<size_t>(p)];
    int64_t best = kNoSquare;
    for (int64_t q = 0; q < n_pixels; ++q) {
      if (frame.root_map[static_cast<size_t>(q)] != root) {
        const int64_t dx = aspect * (p % frame.width - q % frame.width);
        const int64_t dy = p / frame.width - q / frame.width;
        best = std::min(best, dx * dx + dy * dy);
      }
    }
    squares.push_back(root == 0 ? 0 : static_cast<uint32_t>(best));
  }
  return squares;
}

TEST(ExpectedSquares, EqualALoopOverAllPixels) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {1u, 40u}, {40u, 1u}, {17u, 26u}, {23u, 19u}}) {
    std::vector<Image> images = value_set(width, height);
    images.push_back(touching_ellipses(width, height, 1, 1));
    images.push_back(noise(width, height, 1, 97, 1));
    for (const Image& image : images) {
      for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
        const ExpectedFrame frame =
            expect_labels(image, {.connectivity = connectivity, .rule = {.foreground = Foreground::kValues}});
        for (const uint32_t aspect : {1u, 2u, 5u, 16u}) {
          ASSERT_EQ(expect_squares(frame.root_map, width, height, aspect), all_pairs(frame, aspect))
              << image.name << ", aspect " << aspect;
        }
      }
    }
  }
}

/// The square of 2¹⁶ rows is the first one that is too large, and so is that of 2¹² columns of 16 rows each.
TEST(ExpectedSquares, LargestDistances) {
  std::vector<uint32_t> row(5000, 1);
  row[0] = 0;
  const std::vector<uint32_t> squares = expect_squares(row, 5000, 1, 16);
  EXPECT_EQ(squares[4095], 65520u * 65520u);
  EXPECT_EQ(squares[4096], kNoSquare);
  EXPECT_EQ(squares[4999], kNoSquare);
  EXPECT_EQ(expect_squares({1, 1, 1, 1}, 2, 2, 1), std::vector<uint32_t>(4, kNoSquare));
}

/* Heights */

/// Distances of 1, √2 and 2 are heights of 16, 22 and 32 before they are smoothed.
TEST(ExpectedHeights, AreSmoothed) {
  const ExpectedFrame frame = expect_labels(picture({".....", ".###.", ".###.", ".###.", "....."}), {});
  const uint32_t corner = (4 * 16 + 2 * 16 + 2 * 16 + 32 + 8) / 16;
  const uint32_t edge = (4 * 16 + 2 * 16 + 2 * 16 + 2 * 32 + 16 + 16 + 8) / 16;
  const uint32_t middle = (4 * 32 + 4 * 2 * 16 + 4 * 16 + 8) / 16;
  EXPECT_EQ(expect_heights(frame.root_map, 5, 5, 1), (std::vector<uint32_t>{0, 0,      0,      0,      0,  //
                                                                            0, corner, edge,   corner, 0,  //
                                                                            0, edge,   middle, edge,   0,  //
                                                                            0, corner, edge,   corner, 0,  //
                                                                            0, 0,      0,      0,      0}));
}

/// Beyond the frame, pixels are as high as those at its border.
TEST(ExpectedHeights, AreRepeatedBeyondTheFrame) {
  EXPECT_EQ(expect_heights({1, 1, 1, 0}, 4, 1, 1), (std::vector<uint32_t>{44, 32, 16, 0}));
  EXPECT_EQ(expect_heights({1, 1, 1, 0}, 1, 4, 1), (std::vector<uint32_t>{44, 32, 16, 0}));
  EXPECT_EQ(expect_heights({1, 1, 1, 0}, 4, 1, 3), (std::vector<uint32_t>{132, 96, 48, 0}));
  EXPECT_EQ(expect_heights({1, 1, 1, 0}, 1, 4, 3), (std::vector<uint32_t>{44, 32, 16, 0}));
  EXPECT_EQ(expect_heights({1, 1, 1, 1}, 2, 2, 1), std::vector<uint32_t>(4, 65535));
}

/* Parts */

class KnownPartsTest : public testing::TestWithParam<SeparationCase> {};

TEST_P(KnownPartsTest, AreExpected) {
  const Image image = GetParam().image();
  const ExpectedFrame frame = expect_labels(image, GetParam().settings());
  EXPECT_EQ(draw_labels(frame.labels, image.width), GetParam().rows());
}

INSTANTIATE_TEST_SUITE_P(Cases, KnownPartsTest, testing::ValuesIn(separation_cases()));

/// The perimeter of a part has the edges to its neighbours; a hole that two parts share is no hole of either.
TEST(ExpectedParts, AreMeasuredAlone) {
  const Image image = separation_cases().front().image();
  const Settings settings{.separation = {.neck = 993}};
  const std::vector<ExpectedRecord> records = expect_records(expect_labels(image, settings), settings, 9);
  ASSERT_EQ(records.size(), 2u);
  const CclComponent& left = records[0].integers;
  const CclComponent& right = records[1].integers;
  EXPECT_EQ(left.area, 26u);
  EXPECT_EQ(left.x, 1u);
  EXPECT_EQ(left.width, 6u);
  EXPECT_EQ(left.perimeter, 22u);
  EXPECT_EQ(left.euler, 1);
  EXPECT_EQ(right.area, 25u);
  EXPECT_EQ(right.x, 7u);
  EXPECT_EQ(right.width, 5u);
  EXPECT_EQ(right.perimeter, 20u);
  EXPECT_EQ(right.euler, 1);
}

std::vector<Image> frames() {
  std::vector<Image> images = value_set(67, 53);
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    const uint32_t aspect = seed % 3 + 1;
    images.push_back(touching_ellipses(101, 83, aspect, seed));
    images.push_back(split_foreground(touching_ellipses(101, 83, aspect, seed + 100)));
    images.push_back(noise(71, 65, 1 + seed % 3, 40 + 5 * seed, seed));
  }
  return images;
}

constexpr std::array<Separation, 4> kSeparations = {{{.neck = 1, .aspect = 1},
                                                     {.neck = 922, .aspect = 2},
                                                     {.neck = 993, .aspect = 1},
                                                     {.neck = 1024, .aspect = 16}}};

/// The components of the frame by flood fill through `roots`: equal if each part is connected.
std::vector<uint32_t> flood_through(const std::vector<uint32_t>& roots, const ExpectedFrame& frame) {
  const int64_t width = frame.width;
  const int64_t height = frame.height;
  std::vector<uint32_t> flooded(roots.size());
  for (size_t start = 0; start < roots.size(); ++start) {
    std::vector<size_t> stack;
    const auto enter = [&](size_t i) {
      if (flooded[i] == 0 && roots[i] == roots[start] && roots[i] != 0) {
        flooded[i] = static_cast<uint32_t>(start + 1);
        stack.push_back(i);
      }
    };
    enter(start);
    while (!stack.empty()) {
      const auto at = static_cast<int64_t>(stack.back());
      stack.pop_back();
      for (int64_t step = 0; step < 9; ++step) {
        const int64_t dx = step % 3 - 1;
        const int64_t dy = step / 3 - 1;
        const int64_t x = at % width + dx;
        const int64_t y = at / width + dy;
        const bool connects = dx == 0 || dy == 0 || frame.connectivity == Connectivity::k8;
        if (connects && x >= 0 && y >= 0 && x < width && y < height) {
          enter(static_cast<size_t>(y * width + x));
        }
      }
    }
  }
  return flooded;
}

void expect_connected(const ExpectedFrame& whole, const ExpectedFrame& parts) {
  ASSERT_EQ(flood_through(parts.root_map, whole), parts.root_map);
}

/// Each part is in one component, and each pixel of a component in a part.
void expect_cover(const ExpectedFrame& whole, const ExpectedFrame& parts) {
  for (size_t i = 0; i < whole.root_map.size(); ++i) {
    const uint32_t part = parts.root_map[i];
    ASSERT_EQ(part != 0, whole.root_map[i] != 0);
    ASSERT_TRUE(part == 0 || whole.root_map[part - 1] == whole.root_map[i]);
  }
}

/// Or as large as the component, if that is smaller.
void expect_large_enough(const ExpectedFrame& whole, const ExpectedFrame& parts, uint32_t min_area) {
  for (uint32_t label = 1; label <= parts.n_labels; ++label) {
    const uint32_t of_whole = whole.labels[parts.first_pixel[label]];
    ASSERT_GE(parts.areas[label], std::min(min_area, whole.areas[of_whole]));
  }
}

void expect_labels_in_raster_order(const ExpectedFrame& parts) {
  ASSERT_TRUE(std::is_sorted(parts.first_pixel.begin() + 1, parts.first_pixel.end()));
  for (uint32_t label = 1; label <= parts.n_labels; ++label) {
    ASSERT_EQ(parts.labels[parts.first_pixel[label]], label);
  }
}

void expect_properties(const ExpectedFrame& whole, const ExpectedFrame& parts, uint32_t min_area) {
  ASSERT_NO_FATAL_FAILURE(expect_connected(whole, parts));
  ASSERT_NO_FATAL_FAILURE(expect_cover(whole, parts));
  ASSERT_NO_FATAL_FAILURE(expect_large_enough(whole, parts, min_area));
  ASSERT_NO_FATAL_FAILURE(expect_labels_in_raster_order(parts));
}

TEST(ExpectedParts, OfAnyFrame) {
  uint32_t n_cut = 0;
  for (const Image& image : frames()) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      Settings settings{.connectivity = connectivity, .rule = {.foreground = Foreground::kValues}};
      const ExpectedFrame whole = expect_labels(image, settings);
      for (const Separation& separation : kSeparations) {
        for (const uint32_t min_area : {1u, 25u}) {
          settings.separation = separation;
          settings.filter.min_area = min_area;
          const ExpectedFrame parts = expect_labels(image, settings);
          n_cut += parts.n_labels > whole.n_labels ? 1 : 0;
          ASSERT_NO_FATAL_FAILURE(expect_properties(whole, parts, min_area))
              << image.name << ", neck " << separation.neck << ", areas from " << min_area;
        }
      }
    }
  }
  EXPECT_GT(n_cut, 50u);
}

TEST(ExpectedParts, AreTheComponentsIfNothingIsCut) {
  for (const Image& image : frames()) {
    Settings settings{.rule = {.foreground = Foreground::kValues}};
    settings.separation = {.neck = 0};
    settings.filter.min_area = 25;
    const ExpectedFrame frame = expect_labels(image, settings);
    ASSERT_EQ(flood_through(frame.root_map, frame), frame.root_map);
    ASSERT_EQ(expect_parts(frame.root_map, frame.width, frame.height, frame.connectivity, settings.separation,
                           settings.filter.min_area),
              frame.root_map);
  }
}

/// Components do not depend on what is in the frame beside them.
TEST(ExpectedParts, DoNotDependOnOtherComponents) {
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    const Image image = touching_ellipses(91, 77, 1, seed);
    const Settings settings{.separation = {.neck = 993}};
    const ExpectedFrame whole = expect_labels(image, {});
    const ExpectedFrame parts = expect_labels(image, settings);
    for (uint32_t label = 1; label <= whole.n_labels; label += 3) {
      const Image alone = drawn("one component", image.width, image.height, [&](uint32_t x, uint32_t y) {
        return whole.labels[size_t{y} * image.width + x] == label;
      });
      const ExpectedFrame its = expect_labels(alone, settings);
      for (size_t i = 0; i < its.root_map.size(); ++i) {
        ASSERT_EQ(its.root_map[i], whole.labels[i] == label ? parts.root_map[i] : 0)
            << image.name << ", component " << label << ", pixel " << i;
      }
    }
  }
}

}  // namespace

}  // namespace ccl::test
