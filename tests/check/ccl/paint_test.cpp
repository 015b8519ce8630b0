// SPDX-License-Identifier: LGPL-2.1-or-later
/// Output images, byte for byte. The colours of components are learned from one plain colorized frame; all
/// the rest follows from them.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "ccl/colors.h"
#include "compare.h"
#include "filters.h"
#include "fixture.h"
#include "images.h"
#include "oracle.h"
#include "painting.h"

namespace ccl::test {

namespace {

constexpr std::array kOutputs = {Output::kColorized, Output::kOverlay,  Output::kLabels,
                                 Output::kMask,      Output::kDistance, Output::kDistance8};
constexpr std::array kColoredOutputs = {Output::kColorized, Output::kOverlay};
constexpr std::array kPalettes = {Palette::kGolden, Palette::kGlasbey, Palette::kViridisByArea,
                                  Palette::kMono};
constexpr uint32_t kThreshold = 120;

/// Values on both sides of the threshold, so that overlays have something to show everywhere.
Image scene(uint32_t width, uint32_t height) {
  Image image = blobs(width, height, 3);
  const Image specks = noise(width, height, 1, 10, 4);
  const Image shades = grey_noise(width, height, 5);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const bool is_bright = (image.at(x, y) != 0) != (specks.at(x, y) != 0);
      image.at(x, y) = static_cast<uint8_t>(is_bright ? kThreshold + shades.at(x, y) % (256 - kThreshold)
                                                      : shades.at(x, y) % kThreshold);
    }
  }
  image.name = "scene " + std::to_string(width) + "x" + std::to_string(height);
  return image;
}

class PaintTest : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  PaintTest() { runner_.config.algorithm = GetParam().algorithm; }

  /// The colours of the frame's components with these settings.
  Colors learn_colors(const Image& image, const ExpectedFrame& frame, Settings settings) {
    const Config config = runner_.config;
    settings.draw_boxes = false;
    settings.filter = Filter::neutral();
    runner_.config.output = Output::kColorized;
    runner_.config.layout = kArgb;
    const Colors colors = read_colors(frame, runner_.run(image, settings).pixels);
    runner_.config = config;
    return colors;
  }

  /// Whether the configured output is painted as it must be.
  testing::AssertionResult is_exact(const Image& image, const ExpectedFrame& frame, const Settings& settings,
                                    const Colors& colors) {
    const std::vector<uint8_t> want = expect_pixels(image, frame, runner_.config, settings, colors);
    const Outcome& got = runner_.run(image, settings);
    if (got.pixels.size() != want.size()) {
      return testing::AssertionFailure() << got.pixels.size() << " bytes instead of " << want.size();
    }
    const auto [difference, wanted] = std::mismatch(got.pixels.begin(), got.pixels.end(), want.begin());
    if (difference == got.pixels.end()) {
      return testing::AssertionSuccess();
    }
    const auto at = static_cast<size_t>(difference - got.pixels.begin());
    const size_t n_bytes = bytes_per_pixel(runner_.config.output);
    const size_t pixel = at / n_bytes;
    return testing::AssertionFailure()
           << image.name << ", output " << name_of(runner_.config.output) << ": byte " << at % n_bytes
           << " is " << int{*difference} << " instead of " << int{*wanted} << " at x " << pixel % image.width
           << ", y " << pixel / image.width << ", label " << frame.labels[pixel];
  }

  testing::AssertionResult is_exact(const Image& image, const Settings& settings) {
    const ExpectedFrame frame = expect_labels(image, settings);
    return is_exact(image, frame, settings, learn_colors(image, frame, settings));
  }

  FrameRunner runner_;
  Settings settings_{.rule = {.threshold = kThreshold}};
};

TEST_P(PaintTest, EveryOutputAtEverySize) {
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const uint32_t width : {1u, 2u, 3u, 15u, 16u, 17u, 63u, 64u, 65u, 130u, 257u, 272u}) {
      for (const uint32_t height : {1u, 2u, 31u, 65u, 129u}) {
        ASSERT_TRUE(is_exact(scene(width, height), settings_));
      }
    }
  }
}

TEST_P(PaintTest, EveryOutputOfValues) {
  settings_.rule = {.foreground = Foreground::kValues};
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    settings_.connectivity = connectivity;
    for (const Output output : kOutputs) {
      runner_.config.output = output;
      for (const Image& image : {gradient(100, 70), split_foreground(blobs(100, 70, 1)),
                                 two_segments(noise(67, 41, 2, 50, 1)), grey_noise(272, 33, 1)}) {
        ASSERT_TRUE(is_exact(image, settings_));
      }
    }
  }
}

TEST_P(PaintTest, NothingAndEverything) {
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    ASSERT_TRUE(is_exact(plain("empty", 70, 40, 7), settings_));
    ASSERT_TRUE(is_exact(plain("full", 70, 40, 200), settings_));
  }
}

/// The output's rows may lie anywhere, and what is between them stays as it was.
TEST_P(PaintTest, StridesAndAlignments) {
  const Image image = scene(77, 35);
  const ExpectedFrame frame = expect_labels(image, settings_);
  const Colors colors = learn_colors(image, frame, settings_);
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const size_t offset : {0u, 1u, 2u, 3u, 4u, 8u}) {
      for (const size_t padding : {0u, 1u, 2u, 3u, 4u, 61u, 128u}) {
        runner_.output_offset = offset;
        runner_.output_padding = padding;
        ASSERT_TRUE(is_exact(spread(image, offset, padding), frame, settings_, colors))
            << "output offset " << offset << ", padding " << padding;
      }
    }
  }
}

TEST_P(PaintTest, EveryOrderOfChannels) {
  const Image image = scene(61, 40);
  settings_.background_color = 0x40102030;
  settings_.draw_boxes = true;
  const ExpectedFrame frame = expect_labels(image, settings_);
  const Colors colors = learn_colors(image, frame, settings_);
  std::array<uint8_t, 4> order = {0, 1, 2, 3};
  do {
    runner_.config.layout = {order[0], order[1], order[2], order[3]};
    for (const Output output : kColoredOutputs) {
      runner_.config.output = output;
      ASSERT_TRUE(is_exact(image, frame, settings_, colors))
          << "red at " << int{order[0]} << ", green at " << int{order[1]} << ", blue at " << int{order[2]}
          << ", alpha at " << int{order[3]};
    }
  } while (std::next_permutation(order.begin(), order.end()));
}

TEST_P(PaintTest, BackgroundColors) {
  const Image image = scene(80, 50);
  settings_.filter.min_area = 3;
  runner_.config.output = Output::kColorized;
  for (const uint32_t background : {0x00000000u, 0xff000000u, 0xffffffffu, 0x80123456u, 0x01fe02fdu}) {
    settings_.background_color = background;
    ASSERT_TRUE(is_exact(image, settings_)) << "background " << std::hex << background;
  }
}

/// Every grey under every sort of colour.
TEST_P(PaintTest, OverlayWeightsAndRanges) {
  runner_.config.output = Output::kOverlay;
  const Image image = scene(150, 110);
  for (const bool limited_range : {false, true}) {
    settings_.limited_range = limited_range;
    for (const uint32_t alpha : {0u, 1u, 2u, 64u, 127u, 128u, 129u, 200u, 254u, 255u}) {
      settings_.overlay_alpha = static_cast<uint8_t>(alpha);
      ASSERT_TRUE(is_exact(image, settings_)) << "alpha " << alpha << ", limited range " << limited_range;
    }
  }
}

TEST_P(PaintTest, FilteredComponentsAreBackground) {
  const Image image = scene(130, 90);
  const ExpectedFrame frame = expect_labels(image, settings_);
  const Colors colors = learn_colors(image, frame, settings_);
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const Filter& filter : filter_cases()) {
      settings_.filter = filter;
      ASSERT_TRUE(is_exact(image, frame, settings_, colors)) << testing::PrintToString(filter);
    }
  }
}

/// The fast ways of doing nothing must still paint the background.
TEST_P(PaintTest, FiltersThatNothingPasses) {
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const auto& [width, height] : {std::pair{1u, 1u}, std::pair{2u, 1u}, std::pair{65u, 33u}}) {
      const Image image = scene(width, height);
      const std::pair<uint32_t, uint32_t> areas[] = {{width * height + 1, 0xffffffff}, {5, 4}, {1, 0}};
      for (const auto& [min_area, max_area] : areas) {
        settings_.filter.min_area = min_area;
        settings_.filter.max_area = max_area;
        ASSERT_TRUE(is_exact(image, settings_)) << min_area << ".." << max_area;
      }
    }
  }
}

/// Only the table of records is short; pixels are painted all the same.
TEST_P(PaintTest, OverflowChangesNoPixel) {
  const Image image = scene(130, 90);
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    runner_.config.max_components = 2;
    ASSERT_TRUE(is_exact(image, settings_));
    ASSERT_TRUE(runner_.run(image, settings_).overflow);
  }
}

TEST_P(PaintTest, Boxes) {
  const Image image = scene(130, 90);
  settings_.draw_boxes = true;
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const uint32_t min_area : {1u, 4u, 50u}) {
      settings_.filter.min_area = min_area;
      for (const uint32_t max_components : {1u, 5u, 16384u}) {
        runner_.config.max_components = max_components;
        ASSERT_TRUE(is_exact(image, settings_))
            << "areas from " << min_area << ", records " << max_components;
      }
    }
  }
}

/// 16 bits do not hold every label.
TEST_P(PaintTest, LabelsSaturate) {
  settings_.connectivity = Connectivity::k4;
  for (const auto& [width, height, saturates] : {std::tuple{512u, 255u, false},
                                                 {514u, 255u, false},
                                                 {257u, 510u, false},
                                                 {512u, 256u, true},
                                                 {600u, 500u, true}}) {
    const Image image = adversarial_set(width, height)[2];
    const ExpectedFrame frame = expect_labels(image, settings_);
    const Colors colors = learn_colors(image, frame, settings_);
    ASSERT_EQ(frame.n_labels > 65535, saturates) << image.name;
    for (const Output output : kOutputs) {
      runner_.config.output = output;
      ASSERT_TRUE(is_exact(image, frame, settings_, colors));
      EXPECT_EQ(runner_.run(image, settings_).labels_saturated, saturates && output == Output::kLabels)
          << image.name << ", output " << name_of(output);
    }
  }
}

/// The colours are those of the palette in turn, beginning later by the seed.
TEST_P(PaintTest, ColorsFollowPaletteAndSeed) {
  const Image image = adversarial_set(70, 40)[7];
  settings_.rule.threshold = 1;
  const ExpectedFrame frame = expect_labels(image, settings_);
  ASSERT_GT(frame.n_labels, 2 * kPaletteSize);
  for (const Palette palette : {Palette::kGolden, Palette::kGlasbey, Palette::kMono}) {
    settings_.palette = palette;
    const uint32_t* table = palette_colors().data() + static_cast<size_t>(palette) * kPaletteSize;
    for (const uint32_t seed : {0u, 1u, 7u, 255u, 256u, 1000u, 0xffffffffu}) {
      settings_.color_seed = seed;
      const Colors colors = learn_colors(image, frame, settings_);
      for (uint32_t label = 1; label <= frame.n_labels; ++label) {
        ASSERT_EQ(colors[label], table[(uint64_t{label} - 1 + seed) % kPaletteSize])
            << "label " << label << ", seed " << seed << ", palette " << name_of(palette);
      }
    }
  }
}

/// Viridis knows nothing but areas: equal areas share a colour, larger ones are lighter, one pixel has the
/// darkest colour and a full frame the lightest.
TEST_P(PaintTest, ViridisFollowsArea) {
  settings_.palette = Palette::kViridisByArea;
  const uint32_t* table =
      palette_colors().data() + static_cast<size_t>(Palette::kViridisByArea) * kPaletteSize;
  const auto place = [table](uint32_t color) {
    return std::find(table, table + kPaletteSize, color) - table;
  };
  const Image full = plain("full", 100, 70, 255);
  EXPECT_EQ(place(learn_colors(full, expect_labels(full, settings_), settings_)[1]), kPaletteSize - 1);
  const Image image = scene(300, 200);
  const ExpectedFrame frame = expect_labels(image, settings_);
  const Colors colors = learn_colors(image, frame, settings_);
  std::vector<uint32_t> by_area(frame.n_labels);
  for (uint32_t i = 0; i < frame.n_labels; ++i) {
    by_area[i] = i + 1;
  }
  std::sort(by_area.begin(), by_area.end(),
            [&](uint32_t a, uint32_t b) { return frame.areas[a] < frame.areas[b]; });
  ASSERT_EQ(frame.areas[by_area.front()], 1u);
  EXPECT_EQ(place(colors[by_area.front()]), 0);
  EXPECT_GT(place(colors[by_area.back()]), kPaletteSize / 2);
  for (size_t i = 1; i < by_area.size(); ++i) {
    const uint32_t smaller = by_area[i - 1];
    const uint32_t larger = by_area[i];
    ASSERT_LE(place(colors[smaller]), place(colors[larger]))
        << "areas " << frame.areas[smaller] << " and " << frame.areas[larger];
    ASSERT_EQ(frame.areas[smaller] == frame.areas[larger] && colors[smaller] != colors[larger], false);
  }
  settings_.color_seed = 5;
  EXPECT_EQ(learn_colors(image, frame, settings_), colors);
}

/// What is not asked for is not needed either.
TEST_P(PaintTest, OutputDoesNotDependOnMaps) {
  const Image image = scene(150, 100);
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    runner_.with_maps = true;
    const Outcome with_maps = runner_.run(image, settings_);
    runner_.with_maps = false;
    EXPECT_EQ(runner_.run(image, settings_).pixels, with_maps.pixels) << name_of(output);
  }
}

TEST_P(PaintTest, SanitizerSubset) {
  settings_.draw_boxes = true;
  for (const Output output : kOutputs) {
    runner_.config.output = output;
    for (const auto& [width, height] : {std::pair{1u, 1u}, {33u, 17u}, {130u, 65u}}) {
      ASSERT_TRUE(is_exact(scene(width, height), settings_));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, PaintTest, testing::ValuesIn(stage_labelers()), test_name<AlgorithmInfo>);

/// Frames that any two ways to label them must agree about, records and pixels.
class AgreementTest : public testing::TestWithParam<Output> {
 protected:
  /// Runs every frame in both, and expects the same bytes.
  static void expect_agreement(FrameRunner& one, FrameRunner& other) {
    for (const Image& image : {scene(211, 133), noise(211, 133, 1, 50, 1), spiral(211, 133)}) {
      for (const Palette palette : kPalettes) {
        for (const Foreground foreground : {Foreground::kBinary, Foreground::kValues}) {
          for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
            const Settings settings{.connectivity = connectivity,
                                    .rule = {.foreground = foreground, .threshold = kThreshold},
                                    .separation = {.neck = 0, .aspect = 2},  // of distances
                                    .filter = {.min_area = 2},
                                    .palette = palette,
                                    .color_seed = 3,
                                    .draw_boxes = palette == Palette::kGlasbey};
            const Outcome want = one.run(image, settings);
            ASSERT_TRUE(same_bytes(other.run(image, settings), want))
                << image.name << ", palette " << name_of(palette) << ", " << name_of(foreground) << ", "
                << name_of(connectivity);
          }
        }
      }
    }
  }
};

TEST_P(AgreementTest, AllLabelers) {
  FrameRunner automatic;
  FrameRunner named;
  automatic.config.output = named.config.output = GetParam();
  for (const AlgorithmInfo& labeler : labelers()) {
    named.config.algorithm = labeler.algorithm;
    SCOPED_TRACE(labeler.nick);
    ASSERT_NO_FATAL_FAILURE(expect_agreement(automatic, named));
  }
}

/// With the CPU as the backend under test it is the same engine twice, and says that it repeats itself.
TEST_P(AgreementTest, BackendUnderTestAndCpu) {
  FrameRunner tested;
  FrameRunner host(make_host_engine());
  tested.config.output = host.config.output = GetParam();
  for (const uint32_t max_components : {50u, 16384u}) {
    tested.config.max_components = host.config.max_components = max_components;
    ASSERT_NO_FATAL_FAILURE(expect_agreement(host, tested));
  }
}

INSTANTIATE_TEST_SUITE_P(Outputs, AgreementTest,
                         testing::Values(Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels,
                                         Output::kMask, Output::kDistance, Output::kDistance8),
                         [](const auto& info) { return name_of(info.param); });

}  // namespace

}  // namespace ccl::test
