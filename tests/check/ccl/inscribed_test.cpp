// SPDX-License-Identifier: LGPL-2.1-or-later
/// The largest circle in a component, from its definition: over all pairs of a pixel of the component and one
/// of the frame that is not.
#include "ccl/inscribed.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ccl/config.h"
#include "ccl/shape.h"
#include "images.h"
#include "oracle.h"

namespace ccl::test {

namespace {

/// Of all labels.
std::vector<InscribedCircle> expect_circles(const ExpectedFrame& frame) {
  constexpr uint64_t kNone = std::numeric_limits<uint64_t>::max();
  std::vector<InscribedCircle> circles(size_t{frame.n_labels} + 1);
  const auto label_at = [&](uint32_t x, uint32_t y) { return frame.labels[size_t{y} * frame.width + x]; };
  for (uint32_t y = 0; y < frame.height; ++y) {
    for (uint32_t x = 0; x < frame.width; ++x) {
      uint64_t nearest = kNone;
      for (uint32_t other_y = 0; other_y < frame.height; ++other_y) {
        for (uint32_t other_x = 0; other_x < frame.width; ++other_x) {
          if (label_at(other_x, other_y) != label_at(x, y)) {
            const int64_t dx = int64_t{x} - other_x;
            const int64_t dy = int64_t{y} - other_y;
            nearest = std::min(nearest, static_cast<uint64_t>(dx * dx + dy * dy));
          }
        }
      }
      InscribedCircle& circle = circles[label_at(x, y)];
      if (nearest != kNone && nearest > circle.squared_distance) {
        circle = {x, y, static_cast<uint32_t>(nearest)};
      }
    }
  }
  return circles;
}

PixelBox box_of_label(const ExpectedFrame& frame, uint32_t label) {
  const Box& box = frame.boxes[label];
  return {box.x, box.y, box.width, box.height};
}

void check(const Image& image, const Settings& settings, InscribedCircleFinder* finder) {
  const ExpectedFrame frame = expect_labels(image, settings);
  const std::vector<InscribedCircle> expected = expect_circles(frame);
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    ASSERT_EQ(finder->find({frame.labels.data(), frame.width}, label, box_of_label(frame, label), frame.width,
                           frame.height),
              expected[label])
        << image.name << ", label " << label;
  }
}

/// With both connectivities, and where components of different values touch.
void check_all(const Image& image) {
  InscribedCircleFinder finder;
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    check(image, {.connectivity = connectivity, .rule = {.threshold = 128}}, &finder);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    check(image, {.connectivity = connectivity, .rule = {.foreground = Foreground::kValues}}, &finder);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}

InscribedCircle find(const std::vector<std::string>& rows, Foreground foreground = Foreground::kBinary) {
  const ExpectedFrame frame = expect_labels(picture(rows), {.rule = {.foreground = foreground}});
  return InscribedCircleFinder().find({frame.labels.data(), frame.width}, 1, box_of_label(frame, 1),
                                      frame.width, frame.height);
}

TEST(InscribedTest, EverySmallImage) {
  constexpr std::array<uint8_t, 3> kStates = {0, 128, 255};
  const std::pair<uint32_t, uint32_t> sizes[] = {{3, 2}, {2, 3}, {6, 1}, {1, 6}};
  constexpr uint32_t kPatterns = 3 * 3 * 3 * 3 * 3 * 3;
  for (const auto& [width, height] : sizes) {
    for (uint32_t pattern = 0; pattern < kPatterns; ++pattern) {
      Image image = plain("pattern " + std::to_string(pattern), width, height);
      for (uint32_t i = 0, rest = pattern; i < width * height; ++i, rest /= kStates.size()) {
        image.at(i % width, i / width) = kStates[rest % kStates.size()];
      }
      check_all(image);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

TEST(InscribedTest, DifficultImages) {
  const std::pair<uint32_t, uint32_t> sizes[] = {{1, 1}, {9, 1}, {1, 9}, {37, 22}};
  for (const auto& [width, height] : sizes) {
    for (const Image& image : adversarial_set(width, height)) {
      check_all(image);
      ASSERT_FALSE(HasFatalFailure());
    }
  }
}

/// Noise has small distances, blobs and ellipses have large ones, and all have components at the border.
TEST(InscribedTest, RandomImages) {
  constexpr std::array<uint8_t, 4> kLevels = {0, 90, 160, 255};
  for (uint32_t seed = 0; seed < 6; ++seed) {
    check_all(noise(30 + seed, 40, 1 + seed % 3, 30 + 12 * seed, seed));
    check_all(random_levels(41, 30 + seed, 3 + seed, kLevels, seed));
    check_all(blobs(52, 33 + seed, seed));
    check_all(touching_ellipses(45 + seed, 50, 1 + seed % 2, seed));
    ASSERT_FALSE(HasFatalFailure());
  }
}

/* By hand */

TEST(InscribedTest, OfEqualPixelsTheFirstIsTheCentre) {
  EXPECT_EQ(find({"....", ".##.", ".##.", "...."}), (InscribedCircle{1, 1, 1}));
  EXPECT_EQ(find({".......", ".#####.", ".#####.", ".#####.", "......."}), (InscribedCircle{2, 2, 4}));
  EXPECT_EQ(find({"......", "..##..", "..##..", "#.##.."}), (InscribedCircle{2, 1, 1}));
}

TEST(InscribedTest, TheBorderIsNoBackground) {
  EXPECT_EQ(find({"#"}), InscribedCircle{});
  EXPECT_EQ(find({"###", "###"}), InscribedCircle{}) << "the whole frame";
  EXPECT_EQ(find({"####."}), (InscribedCircle{0, 0, 16}));
  EXPECT_EQ(find({"...", "###", "###", "###"}), (InscribedCircle{0, 3, 9}));
  EXPECT_EQ(find({"##.", "##.", "##."}), (InscribedCircle{0, 0, 4}));
  EXPECT_EQ(find({"###", "###", "##."}), (InscribedCircle{0, 0, 8}));
}

TEST(InscribedTest, Ring) {
  EXPECT_EQ(find({"#######", "#######", "##...##", "##...##", "##...##", "#######", "#######"}),
            (InscribedCircle{0, 0, 8}));
  EXPECT_EQ(find({".........", ".#######.", ".#######.", ".#######.", ".###.###.", ".#######.", ".#######.",
                  ".#######.", "........."}),
            (InscribedCircle{2, 2, 4}));
}

/// A component that touches another one in its box is not of it.
TEST(InscribedTest, OtherComponentsAreNotOfTheComponent) {
  EXPECT_EQ(find({"aaaaa", "aaaaa", "aabaa", "aaaaa", "aaaaa"}, Foreground::kValues),
            (InscribedCircle{0, 0, 8}));
  EXPECT_EQ(find({"aaab", "aaab"}, Foreground::kValues), (InscribedCircle{0, 0, 9}));
}

/// The widest and the highest frame, of which all is one component but the last pixel: rows of labels lie so
/// that each is the one above, moved by a pixel.
TEST(InscribedTest, LargeFrames) {
  constexpr uint32_t kSmall = 2048;
  InscribedCircleFinder finder;
  const std::pair<uint32_t, uint32_t> sizes[] = {{kMaxDimension, kSmall}, {kSmall, kMaxDimension}};
  for (const auto& [width, height] : sizes) {
    std::vector<uint32_t> labels(width + height - 1, 1);
    labels.back() = 0;
    EXPECT_EQ(finder.find({labels.data(), 1}, 1, {0, 0, width, height}, width, height),
              (InscribedCircle{0, 0, (width - 1) * (width - 1) + (height - 1) * (height - 1)}));
    labels.back() = 1;
    EXPECT_EQ(finder.find({labels.data(), 1}, 1, {0, 0, width, height}, width, height), InscribedCircle{});
  }
}

/* Polygons */

TEST(InscribedTest, IsAPolygonOfTwoVertices) {
  const Image image = picture({"......", ".####.", ".####.", ".####.", ".####.", "......", "#....."});
  const ExpectedFrame expected = expect_labels(image, {});
  std::vector<CclComponent> components;
  for (const ExpectedRecord& record : expect_records(expected, {}, 100)) {
    components.push_back(record.integers);
  }
  ASSERT_EQ(components.size(), 2u);
  PolygonMaker maker(4);
  const ShapeFrame frame{.image = {expected.labels.data(), expected.width},
                         .width = expected.width,
                         .height = expected.height,
                         .connectivity = Connectivity::k8,
                         .features = kFeatureInradius,
                         .components = components};
  maker.make(frame);
  ASSERT_EQ(maker.polygons().size(), 2u);
  for (uint32_t i = 0; i < 2; ++i) {
    EXPECT_EQ(maker.polygons()[i].label, i + 1);
    EXPECT_EQ(maker.polygons()[i].kind, uint32_t{CCL_POLYGON_CIRCLE});
    EXPECT_EQ(maker.polygons()[i].first, 2 * i);
    EXPECT_EQ(maker.polygons()[i].n_vertices, 2u);
  }
  const CclVertex* v = maker.vertices().data();
  EXPECT_EQ(std::pair(v[0].x, v[0].y), std::pair(2.5f, 2.5f));
  EXPECT_EQ(std::pair(v[1].x, v[1].y), std::pair(4.0f, 2.5f));
  EXPECT_EQ(ccl_circle_radius(v), 1.5);
  EXPECT_EQ(std::pair(v[2].x, v[2].y), std::pair(0.5f, 6.5f));
  EXPECT_EQ(ccl_circle_radius(v + 2), 0.5) << "of a single pixel";
  PolygonMaker small(3);
  small.make(frame);
  EXPECT_TRUE(small.is_truncated());
  EXPECT_EQ(small.polygons().size(), 1u);
}

TEST(InscribedTest, AComponentThatIsTheFrameHasNoCircle) {
  const std::vector<uint32_t> labels(6, 1);
  CclComponent component{};
  component.label = 1;
  component.width = 3;
  component.height = 2;
  PolygonMaker maker(100);
  maker.make({.image = {labels.data(), 3},
              .width = 3,
              .height = 2,
              .connectivity = Connectivity::k8,
              .features = kFeatureInradius,
              .components = std::span(&component, 1)});
  EXPECT_TRUE(maker.polygons().empty());
  EXPECT_FALSE(maker.is_truncated());
}

}  // namespace

}  // namespace ccl::test
