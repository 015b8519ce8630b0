// SPDX-License-Identifier: LGPL-2.1-or-later
/// Distances of pixels to what is not of their component, as a plane and as an output: those of the oracle in
/// components that the filter keeps.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "filters.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"
#include "plane_runner.h"
#include "separation.h"

namespace ccl::test {

namespace {

struct Distances {
  std::vector<uint32_t> squares;
  std::vector<uint32_t> heights;
};

/// Runs frames with the plane and the output of distances.
class DistanceRunner : public PlaneRunner {
 public:
  DistanceRunner() : PlaneRunner(kDistancePlane) { config.output = Output::kDistance; }

  Distances run(const Image& image, const Settings& settings) {
    job.settings = settings;
    PlaneRunner::run(image);
    Distances distances{.squares = squares, .heights = {}};
    for (size_t i = 0; config.output == Output::kDistance && i < pixels.size(); i += sizeof(uint16_t)) {
      distances.heights.push_back(pixels[i] + 256u * pixels[i + 1]);
    }
    return distances;
  }
};

/// Distances count within the components before they are separated; the filter counts behind it.
std::vector<uint32_t> kept_squares(const Image& image, const Settings& settings) {
  Settings whole = settings;
  whole.separation = {};
  std::vector<uint32_t> squares = expect_squares(expect_labels(image, whole).root_map, image.width,
                                                 image.height, settings.separation.aspect);
  const ExpectedFrame frame = expect_labels(image, settings);
  const std::vector<uint32_t> conditions = expect_conditions(settings.filter, frame);
  for (size_t i = 0; i < squares.size(); ++i) {
    const uint32_t label = frame.labels[i];
    squares[i] = label != 0 && conditions[label] == kPassed ? squares[i] : 0;
  }
  return squares;
}

testing::AssertionResult is_exact(DistanceRunner* runner, const Image& image, const Settings& settings) {
  const std::vector<uint32_t> squares = kept_squares(image, settings);
  const Distances got = runner->run(image, settings);
  const auto describe = [&](const char* what, const std::vector<uint32_t>& values,
                            const std::vector<uint32_t>& want) {
    const auto [value, wanted] = std::mismatch(values.begin(), values.end(), want.begin(), want.end());
    const auto at = static_cast<size_t>(value - values.begin());
    return testing::AssertionFailure() << image.name << ", aspect " << uint32_t{settings.separation.aspect}
                                       << ": the " << what << " is " << *value << " instead of " << *wanted
                                       << " at x " << at % image.width << ", y " << at / image.width;
  };
  if (got.squares != squares) {
    return describe("square", got.squares, squares);
  }
  const std::vector<uint32_t> heights = expect_raw_heights(squares);
  if (!got.heights.empty() && got.heights != heights) {
    return describe("height", got.heights, heights);
  }
  return testing::AssertionSuccess();
}

std::vector<Image> images() {
  std::vector<Image> list;
  for (const auto& [width, height] : {std::pair{1u, 1u}, {1u, 40u}, {40u, 1u}, {2u, 3u}, {67u, 41u}}) {
    list.push_back(plain("background", width, height));
    list.push_back(plain("whole frame", width, height, kForeground));
    list.push_back(noise(width, height, 1, 50, 1));
    list.push_back(noise(width, height, 5, 70, 2));
  }
  list.push_back(noise(77, 61, 1, 45, 2));
  list.push_back(noise(130, 70, 2, 98, 3));
  list.push_back(noise(33, 300, 1, 99, 4));
  list.push_back(spread(blobs(301, 67, 5), 1, 5));
  list.push_back(touching_ellipses(140, 131, 2, 6));
  list.push_back(spiral(64, 65));
  return list;
}

class DistanceTest : public testing::TestWithParam<LabelerCase> {
 protected:
  DistanceTest() { runner_.config.algorithm = GetParam().labeler.algorithm; }

  /// Of three values that touch, where values count.
  Image in_segments(const Image& image) const {
    return GetParam().foreground == Foreground::kBinary ? image : split_foreground(image);
  }

  DistanceRunner runner_;
};

TEST_P(DistanceTest, EverySizeAndAspect) {
  Settings settings = GetParam().settings();
  for (const uint32_t threads : {1u, 3u}) {
    runner_.config.threads = threads;
    for (const Image& image : images()) {
      for (const uint8_t aspect : {1, 4, 16}) {
        settings.separation.aspect = aspect;
        ASSERT_TRUE(is_exact(&runner_, image, settings));
        ASSERT_TRUE(is_exact(&runner_, in_segments(image), settings));
      }
    }
  }
}

TEST_P(DistanceTest, Filters) {
  Settings settings = GetParam().settings();
  for (const Image& image : {noise(77, 61, 2, 55, 2), in_segments(blobs(130, 70, 3))}) {
    for (const Filter& filter : single_filters()) {
      settings.filter = filter;
      ASSERT_TRUE(is_exact(&runner_, image, settings)) << testing::PrintToString(filter);
    }
    for (const uint32_t max_components : {2u, 16384u}) {  // 2: the table overflows
      runner_.config.max_components = max_components;
      settings.filter = {.min_area = 5};
      ASSERT_TRUE(is_exact(&runner_, image, settings));
      settings.filter = {.min_area = 1u << 20};  // keeps nothing
      ASSERT_TRUE(is_exact(&runner_, image, settings));
    }
  }
}

/// Distances do not end where components are cut. The filter keeps or removes their parts.
TEST_P(DistanceTest, SeparatedComponents) {
  Settings settings = GetParam().settings();
  settings.separation.neck = 993;
  for (const uint8_t aspect : {1, 2}) {
    settings.separation.aspect = aspect;
    for (const uint32_t min_area : {1u, 60u}) {
      settings.filter.min_area = min_area;
      ASSERT_TRUE(is_exact(&runner_, touching_ellipses(140, 131, aspect, 6), settings));
      ASSERT_TRUE(is_exact(&runner_, in_segments(blobs(91, 70, 3)), settings));
    }
  }
}

/// The plane beside other outputs and planes, which it does not change, and with tracks.
TEST_P(DistanceTest, BesideOtherOutputs) {
  const Image image = noise(90, 70, 3, 60, 7);
  Settings settings = GetParam().settings();
  settings.filter.min_area = 20;
  settings.draw_boxes = true;
  for (const uint32_t max_tracks : {0u, 10u}) {
    for (const uint32_t planes : {uint32_t{kDistancePlane}, kDistancePlane | kLabelPlane | kIdPlane}) {
      for (const Output output : {Output::kNone, Output::kLabels, Output::kMask, Output::kDistance}) {
        runner_.config.max_tracks = max_tracks;
        runner_.config.planes = planes;
        runner_.config.output = output;
        ASSERT_TRUE(is_exact(&runner_, image, settings)) << name_of(output);
        ASSERT_TRUE(is_exact(&runner_, image, settings)) << name_of(output);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, DistanceTest, testing::ValuesIn(stage_cases()), test_name<LabelerCase>);

/// A pixel farther than 16 bits can say, and one whose square 32 bits cannot hold. The longest column has no
/// other pixel, so that its distances are those of rows.
TEST(DistanceLimitTest, LongDistances) {
  DistanceRunner runner;
  Image row = plain("row", 8000, 1, kForeground);
  row.at(0, 0) = 0;
  Settings settings;
  Distances got = runner.run(row, settings);
  for (const uint32_t x : {0u, 1u, 4095u, 4096u, 7999u}) {
    EXPECT_EQ(got.squares[x], x * x);
    EXPECT_EQ(got.heights[x], std::min(16 * x, 65535u));
  }
  settings.separation.aspect = 16;
  got = runner.run(row, settings);
  for (const uint32_t x : {1u, 255u, 256u, 4095u}) {
    EXPECT_EQ(got.squares[x], 256 * x * x);
    EXPECT_EQ(got.heights[x], std::min(256 * x, 65535u));
  }
  EXPECT_EQ(got.squares[4096], kNoSquare);
  EXPECT_EQ(got.squares[7999], kNoSquare);
  EXPECT_EQ(got.heights[7999], kFlatHeight);
}

/// With hysteresis, components without a strong pixel are not kept.
TEST(DistanceHysteresisTest, WeakComponentsAreBackground) {
  for (const AlgorithmInfo& labeler : labelers()) {
    DistanceRunner runner;
    runner.config.algorithm = labeler.algorithm;
    runner.job.segmentation.threshold_low = 190;
    Settings settings;
    settings.rule.threshold = 245;
    const Image image = grey_noise(90, 70, 3);
    const Distances got = runner.run(image, settings);
    ASSERT_LT(runner.result.components.size(), runner.result.counts.n_labels) << labeler.nick;
    uint64_t area = 0;
    for (const CclComponent& record : runner.result.components) {
      area += record.area;
    }
    EXPECT_EQ(got.squares.size() - std::count(got.squares.begin(), got.squares.end(), 0u), area)
        << labeler.nick;
    EXPECT_EQ(got.heights, expect_raw_heights(got.squares)) << labeler.nick;
  }
}

}  // namespace

}  // namespace ccl::test
