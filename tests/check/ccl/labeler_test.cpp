// SPDX-License-Identifier: LGPL-2.1-or-later
/// Root maps and labels, byte for byte those of flood fill: sizes around tile edges, strides, shapes that
/// are hard on labelers, noise, thresholds.
#include <gtest/gtest.h>

#include <array>
#include <random>
#include <vector>

#include "exact_test.h"

namespace ccl::test {

namespace {

class LabelerTest : public ExactTest {
 protected:
  LabelerTest() : ExactTest(1) {}

  /// Noise with segments of two values where values count.
  Image noisy(uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed) const {
    const Image image = noise(width, height, granularity, density, seed);
    return is_binary() ? image : two_segments(image);
  }

  std::vector<Image> hard_images(uint32_t width, uint32_t height) const {
    return is_binary() ? adversarial_set(width, height) : value_set(width, height);
  }

  testing::AssertionResult is_exact(const Image& image, const Settings& settings) {
    return has_labels(image, settings);
  }
  testing::AssertionResult is_exact(const Image& image) { return is_exact(image, GetParam().settings()); }
};

TEST_P(LabelerTest, SizesAroundTileEdges) {
  constexpr std::array<uint32_t, 17> kEdges = {1,  2,  15, 16,  17,  31,  32,  33, 63,
                                               64, 65, 95, 127, 128, 129, 255, 257};
  for (const uint32_t width : kEdges) {
    for (const uint32_t height : kEdges) {
      ASSERT_TRUE(is_exact(noisy(width, height, 1, 45, width * 1000 + height)));
      ASSERT_TRUE(is_exact(noisy(width, height, 1, 65, width * 1000 + height)));
      ASSERT_TRUE(is_exact(spiral(width, height)));
    }
  }
}

TEST_P(LabelerTest, RowsAndColumns) {
  for (const uint32_t length :
       {1u,   2u,    3u,    4u,    7u,    8u,    9u,    15u,   16u,   17u,   31u,   32u,   33u,
        63u,  64u,   65u,   100u,  127u,  128u,  129u,  255u,  256u,  257u,  511u,  512u,  513u,
        999u, 1000u, 1023u, 1024u, 1025u, 2047u, 2048u, 2049u, 3333u, 4095u, 4096u, 4097u, 5000u}) {
    for (const uint32_t density : {20u, 50u, 90u, 100u}) {
      ASSERT_TRUE(is_exact(noisy(length, 1, 1, density, length)));
      ASSERT_TRUE(is_exact(noisy(1, length, 1, density, length)));
    }
  }
}

TEST_P(LabelerTest, LongestRowAndColumn) {
  ASSERT_TRUE(is_exact(noisy(kMaxDimension, 1, 1, 60, 1)));
  ASSERT_TRUE(is_exact(noisy(1, kMaxDimension, 1, 60, 1)));
  ASSERT_TRUE(is_exact(plain("full", kMaxDimension, 2, 255)));
  ASSERT_TRUE(is_exact(plain("full", 2, kMaxDimension, 255)));
}

TEST_P(LabelerTest, StridesAndAlignments) {
  for (const uint32_t width : {1u, 5u, 16u, 31u, 64u, 67u, 130u}) {
    for (const size_t offset : {0u, 1u, 3u, 4u, 15u}) {
      for (const size_t padding : {0u, 1u, 2u, 3u, 13u, 64u, 1000u}) {
        ASSERT_TRUE(is_exact(spread(noisy(width, 21, 1, 55, width), offset, padding)));
      }
    }
  }
}

TEST_P(LabelerTest, HardShapes) {
  for (const auto& [width, height] : {std::pair{64u, 64u}, {257u, 129u}, {100u, 75u}, {31u, 200u}}) {
    for (const Image& image : hard_images(width, height)) {
      ASSERT_TRUE(is_exact(image));
    }
  }
}

TEST_P(LabelerTest, GranularNoise) {
  for (const uint32_t granularity : {1u, 2u, 4u, 8u, 16u}) {
    for (uint32_t density = 10; density <= 90; density += 10) {
      ASSERT_TRUE(is_exact(noisy(331, 203, granularity, density, granularity * 100 + density)));
    }
  }
}

/// A GPU has another number of tiles. On a CPU these frames would take neighbor propagation as long as all
/// the rest.
TEST_P(LabelerTest, VideoSizes) {
  const bool is_gpu = backend() == Backend::kCuda;
  ASSERT_TRUE(is_exact(noisy(1280, 720, 1, 55, 1)));
  ASSERT_TRUE(is_exact(is_gpu ? spiral(1280, 720) : spiral(320, 180)));
  ASSERT_TRUE(is_exact(is_gpu ? noisy(1918, 1079, 4, 50, 2) : noisy(958, 539, 4, 50, 2)));
}

TEST_P(LabelerTest, RandomSizesAndStrides) {
  std::mt19937 random(20240607);
  for (uint32_t i = 0; i < 200; ++i) {
    const uint32_t width = random() % 180 + 1;
    const uint32_t height = random() % 180 + 1;
    const uint32_t granularity = random() % 4 + 1;
    const Image image = noisy(width, height, granularity, random() % 101, i);
    ASSERT_TRUE(is_exact(spread(image, random() % 32, random() % 32)));
  }
}

/// Threshold and inversion are for binary foreground only; with values they are ignored.
TEST_P(LabelerTest, ThresholdsAndInversion) {
  constexpr std::array<uint8_t, 8> kLevels = {0, 1, 2, 127, 128, 129, 254, 255};
  const std::array images = {random_levels(77, 43, 1, kLevels, 1), random_levels(77, 43, 3, kLevels, 2),
                             grey_noise(130, 61, 3), gradient(90, 50)};
  for (const Image& image : images) {
    for (const uint32_t threshold : {0u, 1u, 2u, 127u, 128u, 129u, 254u, 255u}) {
      for (const bool invert : {false, true}) {
        Settings settings = GetParam().settings();
        settings.rule.threshold = static_cast<uint8_t>(threshold);
        settings.rule.invert = invert;
        ASSERT_TRUE(is_exact(image, settings)) << "threshold " << threshold << ", invert " << invert;
      }
    }
  }
}

/// Every value is compared with every threshold, in every column of a word.
TEST_P(LabelerTest, EveryValueAgainstEveryThreshold) {
  Image image = plain("every value between zeros", 512, 3);
  for (uint32_t x = 0; x < 256; ++x) {
    image.at(2 * x, 0) = image.at(511 - 2 * x, 2) = static_cast<uint8_t>(x);
  }
  for (uint32_t threshold = 0; threshold < 256; ++threshold) {
    for (const bool invert : {false, true}) {
      Settings settings = GetParam().settings();
      settings.rule.threshold = static_cast<uint8_t>(threshold);
      settings.rule.invert = invert;
      ASSERT_TRUE(is_exact(image, settings)) << "threshold " << threshold << ", invert " << invert;
    }
  }
}

/// What a frame leaves behind in the engine must not be seen in the next one.
TEST_P(LabelerTest, FramesDoNotSeeEachOther) {
  const std::array images = {noisy(200, 150, 1, 50, 1), plain("empty", 200, 150), plain("full", 200, 150, 1),
                             spiral(200, 150), noisy(200, 150, 2, 30, 2)};
  for (const Image& first : images) {
    for (const Image& second : images) {
      ASSERT_TRUE(is_exact(first));
      ASSERT_TRUE(is_exact(second)) << "after " << first.name;
    }
  }
}

TEST_P(LabelerTest, MapsAreOptional) {
  const Image image = noisy(150, 90, 1, 55, 1);
  const uint32_t n_labels = runner_.run(image, GetParam().settings()).counts.n_labels;
  runner_.with_maps = false;
  EXPECT_EQ(runner_.run(image, GetParam().settings()).counts.n_labels, n_labels);
}

/// Little of each, for runs under tools that slow everything down a hundredfold.
TEST_P(LabelerTest, SanitizerSubset) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {5u, 3u}, {33u, 17u}, {129u, 65u}, {67u, 131u}}) {
    for (const uint32_t density : {30u, 55u, 80u}) {
      ASSERT_TRUE(is_exact(spread(noisy(width, height, 1, density, density), 1, 3)));
    }
    ASSERT_TRUE(is_exact(spiral(width, height)));
  }
  ASSERT_TRUE(is_exact(noisy(1, 700, 1, 60, 1)));
  ASSERT_TRUE(is_exact(noisy(700, 1, 1, 60, 1)));
}

INSTANTIATE_TEST_SUITE_P(Labelers, LabelerTest, testing::ValuesIn(labeler_cases()), test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
