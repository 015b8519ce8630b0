// SPDX-License-Identifier: LGPL-2.1-or-later
/// Component records: every field against its definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "exact_test.h"
#include "filters.h"

namespace ccl::test {

namespace {

class RecordTest : public ExactTest {
 protected:
  RecordTest() : ExactTest(1u << 20) { runner_.with_maps = false; }

  /// Segments of several values where values count.
  Image noisy(uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed) const {
    const Image image = noise(width, height, granularity, density, seed);
    return is_binary() ? image : split_foreground(image);
  }

  testing::AssertionResult is_exact(const Image& image, const Settings& settings) {
    return has_records(image, settings);
  }
  testing::AssertionResult is_exact(const Image& image) { return is_exact(image, GetParam().settings()); }
};

TEST_P(RecordTest, HardShapes) {
  for (const auto& [width, height] : {std::pair{64u, 64u}, {131u, 67u}, {257u, 90u}, {288u, 90u}}) {
    for (const Image& image : is_binary() ? adversarial_set(width, height) : value_set(width, height)) {
      ASSERT_TRUE(is_exact(image));
    }
  }
}

TEST_P(RecordTest, GranularNoise) {
  for (const uint32_t granularity : {1u, 2u, 4u, 16u}) {
    for (uint32_t density = 10; density <= 90; density += 10) {
      ASSERT_TRUE(is_exact(noisy(297, 153, granularity, density, granularity * 100 + density)));
      ASSERT_TRUE(is_exact(noisy(304, 153, granularity, density, granularity * 100 + density)));
    }
  }
}

TEST_P(RecordTest, SizesAroundTileEdges) {
  constexpr std::array<uint32_t, 10> kEdges = {1, 2, 15, 17, 32, 33, 64, 65, 127, 129};
  for (const uint32_t width : kEdges) {
    for (const uint32_t height : kEdges) {
      ASSERT_TRUE(is_exact(noisy(width, height, 1, 55, width * 1000 + height)));
      ASSERT_TRUE(is_exact(plain("full", width, height, 255)));
    }
  }
}

TEST_P(RecordTest, StridesAndMaps) {
  for (const bool with_maps : {false, true}) {
    runner_.with_maps = with_maps;
    ASSERT_TRUE(is_exact(spread(noisy(77, 50, 2, 50, 1), 3, 13)));
  }
}

/// Sums of a frame this large need more than 64 bits on the way to a moment.
TEST_P(RecordTest, LargeComponents) {
  ASSERT_TRUE(is_exact(plain("full", 16384, 70, 255)));
  ASSERT_TRUE(is_exact(split_foreground(plain("full", 700, 500, 255))));
  ASSERT_TRUE(is_exact(spiral(640, 480)));
  ASSERT_TRUE(is_exact(noisy(640, 480, 1, 62, 1)));
}

/// The sizes that Kalentev et al. gather with the labels (section 3, listing 4) are how often each root is in
/// the root map.
TEST_P(RecordTest, AreasAreTheRootsHistogram) {
  runner_.with_maps = true;
  for (const Image& image : {noisy(150, 110, 1, 60, 1), noisy(150, 110, 4, 50, 2), spiral(150, 110)}) {
    const Outcome& got = runner_.run(image, GetParam().settings());
    std::map<uint32_t, uint32_t> histogram;
    for (const uint32_t root : got.root_map) {
      ++histogram[root];
    }
    histogram.erase(0);
    ASSERT_EQ(got.records.size(), histogram.size()) << image.name;
    size_t i = 0;
    for (const auto& [root, size] : histogram) {
      ASSERT_EQ(got.records[i++].area, size) << image.name << ", root " << root;
    }
  }
}

TEST_P(RecordTest, FeaturesThatAreOffAreZero) {
  for (const uint32_t width : {97u, 304u}) {
    const Image image = noisy(width, 65, 2, 55, 1);
    for (uint32_t features = 0; features <= kAllFeatures; ++features) {
      Settings settings = GetParam().settings();
      settings.features = features;
      ASSERT_TRUE(is_exact(image, settings)) << image.name << ", features " << features;
    }
  }
}

TEST_P(RecordTest, Filters) {
  const Image image = noisy(120, 80, 1, 45, 1);
  for (const Filter& filter : filter_cases()) {
    Settings settings = GetParam().settings();
    settings.filter = filter;
    ASSERT_TRUE(is_exact(image, settings)) << testing::PrintToString(filter);
  }
}

/// A table that is too short needs marks of all components before it selects records.
TEST_P(RecordTest, FiltersOfFramesThatOverflow) {
  const Image image = noisy(120, 80, 1, 45, 1);
  runner_.config.max_components = 5;
  for (const Filter& filter : filter_cases()) {
    Settings settings = GetParam().settings();
    settings.filter = filter;
    ASSERT_TRUE(is_exact(image, settings)) << testing::PrintToString(filter);
  }
}

TEST_P(RecordTest, LabelsStayWhenAFilterMoves) {
  const Image image = noisy(120, 80, 1, 45, 1);
  runner_.with_maps = true;
  const Outcome all = runner_.run(image, GetParam().settings());
  Settings settings = GetParam().settings();
  settings.filter.min_area = 4;
  const Outcome& filtered = runner_.run(image, settings);
  ASSERT_LT(filtered.counts.n_components, all.counts.n_components);
  EXPECT_EQ(filtered.counts.n_labels, all.counts.n_labels);
  EXPECT_EQ(filtered.root_map, all.root_map);
  EXPECT_EQ(filtered.labels, all.labels);
}

TEST_P(RecordTest, OverflowKeepsTheLargest) {
  const Image image = noisy(150, 100, 1, 25, 1);
  const uint32_t n_labels = expect_labels(image, GetParam().settings()).n_labels;
  ASSERT_GT(n_labels, 300u);
  for (const uint32_t max_components :
       {1u, 2u, 3u, 7u, 64u, 255u, 256u, 257u, n_labels - 1, n_labels, n_labels + 1}) {
    runner_.config.max_components = max_components;
    ASSERT_TRUE(is_exact(image)) << max_components << " records at most";
  }
}

TEST_P(RecordTest, OverflowCountsOnlyWhatIsLeft) {
  const Image image = noisy(150, 100, 1, 40, 1);
  Settings settings = GetParam().settings();
  settings.filter.min_area = 2;
  settings.filter.max_area = 20;
  const uint32_t n_kept = expect_counts(expect_labels(image, settings), settings).n_components;
  ASSERT_GT(n_kept, 10u);
  for (const uint32_t max_components : {1u, 9u, n_kept - 1, n_kept, n_kept + 1}) {
    runner_.config.max_components = max_components;
    ASSERT_TRUE(is_exact(image, settings)) << max_components << " records at most";
  }
}

/// All components have one area, or one of two: the smaller labels are kept.
TEST_P(RecordTest, OverflowPrefersSmallerLabelsAmongEquals) {
  Image dots = plain("dots, some wider", 600, 90);
  for (uint32_t y = 0; y < dots.height; y += 2) {
    for (uint32_t x = 0; x + 1 < dots.width; x += 3) {
      dots.at(x, y) = 255;
      dots.at(x + 1, y) = (x / 3 + y / 2) % 7 == 3 ? 255 : 0;
    }
  }
  const uint32_t n_labels = expect_labels(dots, GetParam().settings()).n_labels;
  for (const uint32_t max_components :
       {1u, 2u, 500u, n_labels / 7, n_labels / 7 + 1, n_labels / 2, n_labels - 1}) {
    runner_.config.max_components = max_components;
    ASSERT_TRUE(is_exact(dots)) << max_components << " records at most";
    ASSERT_TRUE(is_exact(spread(dots, 1, 1)));
  }
}

/// Areas that differ in their first, second or third byte only, because selection sorts by digits.
TEST_P(RecordTest, OverflowAmongAreasOfAllMagnitudes) {
  Image bars = plain("bars", 600, 520);
  uint32_t y = 0;
  for (const auto& [length, height] : {std::pair{600u, 110u},
                                       {255u, 1u},
                                       {256u, 1u},
                                       {257u, 1u},
                                       {600u, 111u},
                                       {512u, 1u},
                                       {1u, 1u},
                                       {600u, 220u},
                                       {2u, 1u},
                                       {240u, 3u},
                                       {2u, 1u},
                                       {256u, 2u},
                                       {600u, 1u},
                                       {300u, 2u},
                                       {600u, 20u}}) {
    for (uint32_t row = 0; row < height; ++row) {
      std::fill_n(&bars.at(0, y + row), length, uint8_t{255});
    }
    y += height + 1;
  }
  const uint32_t n_labels = expect_labels(bars, GetParam().settings()).n_labels;
  ASSERT_EQ(n_labels, 15u);
  for (uint32_t max_components = 1; max_components <= n_labels; ++max_components) {
    runner_.config.max_components = max_components;
    ASSERT_TRUE(is_exact(bars)) << max_components << " records at most";
  }
}

TEST_P(RecordTest, SanitizerSubset) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {33u, 17u}, {131u, 67u}}) {
    const Image image = noisy(width, height, 1, 55, width);
    for (const uint32_t max_components : {3u, 100000u}) {
      runner_.config.max_components = max_components;
      ASSERT_TRUE(is_exact(image));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, RecordTest, testing::ValuesIn(stage_cases()), test_name<LabelerCase>);

}  // namespace

}  // namespace ccl::test
