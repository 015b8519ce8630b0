// SPDX-License-Identifier: LGPL-2.1-or-later
/// Objects that touch, separated: every labeler finds the parts that the oracle expects, and measures,
/// filters, and paints them as it does components.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "exact_test.h"
#include "filters.h"
#include "fixture.h"
#include "images.h"
#include "painting.h"
#include "segmentation.h"
#include "separation_cases.h"

namespace ccl::test {

namespace {

constexpr Separation kCells = {.neck = 993, .aspect = 1};  // 0.97

class SeparateTest : public ExactTest {
 protected:
  SeparateTest() : ExactTest(1u << 20) {}

  Settings settings(const Separation& separation = kCells, const Filter& filter = {}) const {
    Settings settings = GetParam().settings();
    settings.separation = separation;
    settings.filter = filter;
    return settings;
  }

  testing::AssertionResult is_exact(const Image& image, const Settings& settings) {
    const ExpectedFrame& want = expectations().labels(image, settings);
    const Outcome& got = runner_.run(image, settings);
    testing::AssertionResult same = has_labels(got, want, image);
    same =
        same ? has_records(got, want, expectations().records(image, settings, runner_.config.max_components),
                           image, settings)
             : same;
    return same << describe(settings);
  }
  testing::AssertionResult is_exact(const Image& image) { return is_exact(image, settings()); }

  /// With segments of two values where values count.
  Image in_segments(const Image& image) const { return is_binary() ? image : two_segments(image); }
  /// Objects of three values that touch, where values count.
  Image in_tiles(const Image& image) const { return is_binary() ? image : split_foreground(image); }
};

TEST_P(SeparateTest, KnownParts) {
  for (const SeparationCase& c : separation_cases()) {
    Settings its = settings(c.separation, {.min_area = c.min_area});
    its.connectivity = c.connectivity;
    const Image image = c.image();
    const Outcome& got = runner_.run(image, its);
    ASSERT_EQ(draw_labels(got.labels, image.width), c.rows()) << c.name;
    ASSERT_TRUE(is_exact(image, its));
  }
}

TEST_P(SeparateTest, HardShapes) {
  for (const auto& [width, height] : {std::pair{64u, 64u}, {131u, 67u}, {31u, 140u}}) {
    for (const Image& image : is_binary() ? adversarial_set(width, height) : value_set(width, height)) {
      ASSERT_TRUE(is_exact(image));
    }
  }
}

TEST_P(SeparateTest, SizesAroundTileEdges) {
  constexpr std::array<uint32_t, 10> kEdges = {1, 31, 32, 33, 63, 64, 65, 127, 128, 129};
  for (const uint32_t width : kEdges) {
    for (const uint32_t height : kEdges) {
      const uint32_t seed = width * 1000 + height;
      ASSERT_TRUE(is_exact(in_tiles(touching_ellipses(width, height, 1, seed))));
      ASSERT_TRUE(is_exact(in_segments(noise(width, height, 1, 70, seed))));
    }
  }
}

TEST_P(SeparateTest, RowsAndColumns) {
  for (const uint32_t length :
       {1u, 2u, 3u, 4u, 15u, 16u, 17u, 31u, 32u, 33u, 64u, 100u, 129u, 1025u, 3000u}) {
    for (const uint32_t density : {20u, 90u, 100u}) {
      ASSERT_TRUE(is_exact(in_segments(noise(length, 1, 1, density, length))));
      ASSERT_TRUE(is_exact(in_segments(noise(1, length, 1, density, length))));
    }
  }
}

/// A distance has no end in a frame that is one component: all of it has the largest height.
TEST_P(SeparateTest, OneComponentOverTheWholeFrame) {
  for (const auto& [width, height] : {std::pair{1u, 1u}, {1u, 90u}, {90u, 1u}, {65u, 63u}, {130u, 97u}}) {
    Image image = plain("full", width, height, kForeground);
    for (const uint8_t aspect : {1, 16}) {
      ASSERT_TRUE(is_exact(image, settings({.neck = 1024, .aspect = aspect})));
    }
    image.at(width / 2, height / 3) = 0;
    ASSERT_TRUE(is_exact(image));
    image.at(0, 0) = 0;
    ASSERT_TRUE(is_exact(image));
  }
}

/// Distances that 16 bits do not hold, and those that no height does.
TEST_P(SeparateTest, LongDistances) {
  Image wide = plain("wide", 4500, 2, kForeground);
  wide.at(0, 0) = 0;
  Image tall = plain("tall", 2, 4500, kForeground);
  tall.at(1, 4499) = 0;
  for (const Image& image : {wide, tall}) {
    for (const uint8_t aspect : {1, 2, 16}) {
      ASSERT_TRUE(is_exact(image, settings({.neck = 993, .aspect = aspect})));
    }
  }
}

TEST_P(SeparateTest, Noise) {
  for (const uint32_t granularity : {1u, 2u, 3u, 8u}) {
    for (const uint32_t density : {5u, 20u, 40u, 50u, 60u, 70u, 80u, 90u, 97u}) {
      ASSERT_TRUE(is_exact(in_segments(noise(139, 101, granularity, density, granularity * 100 + density))));
    }
  }
}

TEST_P(SeparateTest, NecksAndAspects) {
  for (const uint8_t aspect : {1, 2, 4, 16}) {
    for (const Image& image : {in_tiles(touching_ellipses(150, 131, aspect, aspect)),
                               in_segments(noise(90, 71, 2, 65, aspect)), in_tiles(blobs(120, 90, aspect))}) {
      for (const uint16_t neck : {1, 512, 922, 993, 1023, 1024}) {
        ASSERT_TRUE(is_exact(image, settings({.neck = neck, .aspect = aspect})));
      }
    }
  }
}

TEST_P(SeparateTest, SmallestAreas) {
  for (const Image& image :
       {in_tiles(touching_ellipses(150, 131, 1, 7)), in_segments(noise(90, 71, 1, 75, 7))}) {
    for (const uint32_t min_area : {0u, 1u, 2u, 5u, 25u, 200u, 100000u}) {
      ASSERT_TRUE(is_exact(image, settings(kCells, {.min_area = min_area})));
    }
  }
}

/// Filters keep or leave out parts, not components.
TEST_P(SeparateTest, Filters) {
  const Image image = in_tiles(touching_ellipses(160, 120, 1, 3));
  std::vector<Filter> filters = filter_cases();
  for (const uint32_t min_area : {1u, 25u}) {
    filters.push_back({.min_area = min_area, .clear_border = true});
    filters.push_back({.min_area = min_area, .max_eccentricity = 40000});
    filters.push_back({.min_area = min_area, .min_circularity = 40000, .top_n = 5});
    filters.push_back({.min_area = min_area, .max_area = 120, .min_extent = 40000});
  }
  for (const Filter& filter : filters) {
    ASSERT_TRUE(has_records(image, settings(kCells, filter))) << describe(settings(kCells, filter));
  }
}

TEST_P(SeparateTest, Features) {
  const Image image = in_tiles(touching_ellipses(131, 97, 1, 4));
  for (uint32_t features = 0; features <= kAllFeatures; ++features) {
    for (const Filter& filter : {Filter{}, {.min_area = 25}, {.max_eccentricity = 50000}}) {
      Settings its = settings(kCells, filter);
      its.features = features;
      ASSERT_TRUE(is_exact(image, its));
    }
  }
}

/// The table has room for the components, and not for their parts.
TEST_P(SeparateTest, Overflow) {
  const Image image = in_tiles(touching_ellipses(150, 100, 1, 5));
  for (const uint32_t max_components : {1u, 2u, 9u, 30u}) {
    runner_.config.max_components = max_components;
    for (const Filter& filter : {Filter{}, {.min_area = 25}, {.top_n = 20}, {.min_extent = 30000}}) {
      ASSERT_TRUE(has_records(image, settings(kCells, filter)))
          << ", " << max_components << " records at most";
    }
  }
}

TEST_P(SeparateTest, Threads) {
  for (const Image& image :
       {in_tiles(touching_ellipses(200, 170, 1, 6)), in_segments(noise(211, 170, 1, 80, 6)), spiral(200, 170),
        plain("full", 90, 61, kForeground)}) {
    for (const uint32_t threads : {1u, 2u, 3u, 7u}) {
      runner_.config.threads = threads;
      ASSERT_TRUE(is_exact(image)) << ", " << threads << " threads";
      ASSERT_TRUE(is_exact(image, settings({.neck = 922, .aspect = 2}, {.min_area = 25})))
          << ", " << threads << " threads";
    }
  }
}

/// As many summits as 16 bits can number, and a few more or less.
TEST_P(SeparateTest, ManySummits) {
  constexpr uint32_t kColumns = 640, kRows = 445, kLess = 1 << 16;
  for (const uint32_t n_alone : {kLess - 4, kLess - 3, kLess - 2, kLess - 1, kLess, kLess + 1}) {
    const Image image = drawn(
        std::to_string(n_alone) + " pixels and a chain", kColumns, kRows, [n_alone](uint32_t x, uint32_t y) {
          const auto disc = [x, y](uint32_t middle) {
            const int64_t dx = int64_t{x} - middle;
            const int64_t dy = int64_t{y} - 430;
            return dx * dx + dy * dy < 100;
          };
          return y < 2 * (n_alone / (kColumns / 2) + 1)
                     ? x % 2 == 0 && y % 2 == 0 && y / 2 * (kColumns / 2) + x / 2 < n_alone
                     : disc(300) || disc(317) || disc(334);
        });
    for (const uint32_t threads : {1u, 3u}) {
      runner_.config.threads = threads;
      ASSERT_TRUE(is_exact(image)) << ", " << threads << " threads";
    }
  }
}

/// Rows with and without heights that need more than 12 bits, and wide gaps beside and between them.
TEST_P(SeparateTest, HighAndLow) {
  const Image image = drawn("discs of many sizes", 1100, 700, [](uint32_t x, uint32_t y) {
    const auto disc = [x, y](int64_t to_x, int64_t to_y, int64_t radius) {
      return (x - to_x) * (x - to_x) + (y - to_y) * (y - to_y) < radius * radius;
    };
    return disc(300, 300, 270) || disc(600, 300, 60) || disc(310, 600, 50) || disc(1020, 80, 9) ||
           disc(1035, 80, 9) || disc(1090, 690, 30) || (x > 900 && x < 903 && y > 200);
  });
  for (const uint32_t threads : {1u, 3u}) {
    for (const uint8_t aspect : {1, 3}) {
      runner_.config.threads = threads;
      ASSERT_TRUE(is_exact(in_segments(image), settings({.neck = 993, .aspect = aspect})))
          << ", " << threads << " threads";
    }
  }
}

TEST_P(SeparateTest, StridesAndAlignments) {
  for (const size_t offset : {0u, 1u, 15u}) {
    for (const size_t padding : {0u, 1u, 13u, 64u}) {
      ASSERT_TRUE(is_exact(spread(in_tiles(touching_ellipses(67, 41, 1, 8)), offset, padding)));
    }
  }
}

/// Parts of one frame are nowhere in the next one, and a frame that is not separated has none.
TEST_P(SeparateTest, ChangesFromFrameToFrame) {
  const std::array images = {in_tiles(touching_ellipses(140, 90, 1, 9)), plain("empty", 140, 90),
                             in_segments(noise(140, 90, 1, 75, 9)), plain("full", 140, 90, kForeground)};
  for (const Image& image : images) {
    for (const Separation& separation :
         {kCells, Separation{.neck = 0}, Separation{.neck = 922, .aspect = 3}, Separation{.neck = 0}}) {
      for (const Filter& filter : {Filter{}, {.min_area = 25}, {.top_n = 4}}) {
        ASSERT_TRUE(is_exact(image, settings(separation, filter)));
      }
    }
  }
}

/// A neck of 0 is a component's own record, byte for byte, whatever the aspect.
TEST_P(SeparateTest, NothingIsCutWithoutANeck) {
  const Image image = in_tiles(touching_ellipses(140, 90, 1, 10));
  const Outcome without = runner_.run(image, GetParam().settings());
  ASSERT_TRUE(same_bytes(runner_.run(image, settings({.neck = 0, .aspect = 7})), without));
}

TEST_P(SeparateTest, TheSameAgainAndAgain) {
  runner_.config.threads = 4;
  for (const Image& image :
       {in_tiles(touching_ellipses(131, 67, 1, 11)), in_segments(noise(131, 67, 1, 80, 11))}) {
    const Outcome first = runner_.run(image, settings());
    for (uint32_t i = 0; i < 50; ++i) {
      ASSERT_TRUE(same_bytes(runner_.run(image, settings()), first)) << image.name << ", run " << i;
    }
  }
}

/// Outputs that have no colours, and the colours of one palette.
TEST_P(SeparateTest, Pixels) {
  const Image image = in_tiles(touching_ellipses(131, 67, 1, 12));
  for (const Output output : {Output::kMask, Output::kLabels, Output::kColorized, Output::kOverlay}) {
    for (const Filter& filter : {Filter{}, {.min_area = 25}, {.max_area = 90, .top_n = 6}}) {
      runner_.config.output = output;
      Settings its = settings(kCells, filter);
      its.palette = Palette::kMono;
      its.draw_boxes = has_colors(output);
      const ExpectedFrame& want = expectations().labels(image, its);
      const Colors white(want.n_labels + size_t{1}, 0xffffffff);
      ASSERT_EQ(runner_.run(image, its).pixels, expect_pixels(image, want, runner_.config, its, white))
          << testing::PrintToString(output) << describe(its);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, SeparateTest, testing::ValuesIn(stage_cases()), test_name<LabelerCase>);

/* Frames in flight */

/// A frame in flight, and what it must have.
struct Flight {
  Image image;
  Settings settings;
  std::vector<uint32_t> labels;
};

/// Each frame has settings of its own, so most have other parts than the frames around them.
void fly(Engine* engine, const Config& config) {
  const Status status = engine->configure(config);
  ASSERT_TRUE(status.ok()) << status.message();
  std::deque<Flight> flights;
  const auto pop = [&] {
    const Flight& flight = flights.front();
    FrameResult result;
    ASSERT_TRUE(engine->pop(&result).ok());
    const ExpectedFrame want = expect_labels(flight.image, flight.settings);
    EXPECT_EQ(result.counts.n_labels, want.n_labels);
    EXPECT_TRUE(same_map(flight.labels, want.labels, flight.image, "label")) << describe(flight.settings);
    EXPECT_TRUE(same_records(result.components, expect_records(want, flight.settings, config.max_components)))
        << flight.image.name << describe(flight.settings);
    flights.pop_front();
  };
  for (uint32_t i = 0; i < 40 && !testing::Test::HasFailure(); ++i) {
    if (flights.size() == config.slots) {
      pop();
    }
    Flight& flight = flights.emplace_back();
    flight.image = i % 3 == 2 ? noise(config.width, config.height, 1, 75, i)
                              : touching_ellipses(config.width, config.height, 1 + i % 2, i);
    flight.settings.connectivity = i % 2 == 0 ? Connectivity::k8 : Connectivity::k4;
    flight.settings.separation.neck = static_cast<uint16_t>(i % 5 == 3 ? 0 : 993 - 7 * i);
    flight.settings.separation.aspect = static_cast<uint8_t>(1 + i % 2);
    flight.settings.filter.min_area = i % 4 == 1 ? 25 : 1;
    flight.labels.resize(size_t{config.width} * config.height);
    FrameJob job;
    job.input = {flight.image.pixels(), flight.image.stride};
    job.settings = flight.settings;
    job.labels = flight.labels.data();
    ASSERT_TRUE(engine->push(job).ok());
  }
  while (!flights.empty() && !testing::Test::HasFailure()) {
    pop();
  }
}

TEST(SeparateInFlightTest, FramesKeepTheirParts) {
  for (const AlgorithmInfo& labeler : labelers()) {
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(make_engine(&engine).ok());
    for (const uint32_t slots : {1u, 2u, 8u}) {
      ASSERT_NO_FATAL_FAILURE(fly(engine.get(), {.width = 97,
                                                 .height = 66,
                                                 .algorithm = labeler.algorithm,
                                                 .max_components = 1u << 13,
                                                 .slots = slots,
                                                 .threads = slots == 2 ? 3u : 0u}));
      ASSERT_FALSE(HasFailure()) << labeler.nick << ", " << slots << " slots";
    }
  }
}

/* Rules that make bits */

/// With hysteresis, a part is kept if one of its own pixels is strong.
TEST(SeparateSegmentedTest, EveryRule) {
  const Image drawing = touching_ellipses(151, 97, 1, 13);
  Image image = grey_noise(151, 97, 13);
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      image.at(x, y) = static_cast<uint8_t>((drawing.at(x, y) != 0 ? 110 : 20) + image.at(x, y) % 64);
    }
  }
  const std::array<SegmentationCase, 6> cases = {{
      {.rule = {.foreground = Foreground::kOtsu}},
      {.rule = {.foreground = Foreground::kOtsu, .invert = true}},
      {.rule = {.foreground = Foreground::kLocal}, .segmentation = {.local = {.radius = 9, .offset = 0}}},
      {.rule = {.threshold = 100},
       .segmentation = {.morphology = {.open_radius = 1, .close_radius = 2, .fill_holes = 9}}},
      {.rule = {.threshold = 172}, .segmentation = {.threshold_low = 100}},
      {.rule = {.threshold = 130}, .segmentation = {.threshold_low = 120}},
  }};
  for (SegmentationCase c : cases) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const Filter& filter : {Filter{}, {.min_area = 25}, {.min_width = 4, .top_n = 9}}) {
        c.connectivity = connectivity;
        const Image bits = as_image(image, expect_foreground(image, c));
        Settings of_bits{
            .connectivity = connectivity, .rule = kBitRule, .separation = kCells, .filter = filter};
        const ExpectedFrame want = expect_labels(bits, of_bits);
        const bool has_hysteresis = c.segmentation.threshold_low > 0;
        const std::vector<bool> is_strong =
            has_hysteresis ? expect_strong_labels(image, c, want) : std::vector<bool>();
        FrameCounts counts = expect_counts(want, of_bits, is_strong);
        counts.level = c.rule.foreground == Foreground::kOtsu ? expect_otsu_level(image) : 0;
        const std::vector<ExpectedRecord> records = expect_records(want, of_bits, 1u << 16, is_strong);
        for (const AlgorithmInfo& labeler : labelers()) {
          FrameRunner runner;
          runner.config.algorithm = labeler.algorithm;
          runner.config.max_components = 1u << 16;
          runner.segmentation = c.segmentation;
          Settings settings = of_bits;
          settings.rule = c.rule;
          const Outcome& got = runner.run(image, settings);
          ASSERT_TRUE(same_frame(got, want, counts, records, bits))
              << labeler.nick << ", " << name_of(c.rule.foreground) << describe(settings);
        }
      }
    }
  }
}

}  // namespace

}  // namespace ccl::test
