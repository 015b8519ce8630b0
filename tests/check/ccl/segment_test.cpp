// SPDX-License-Identifier: LGPL-2.1-or-later
/// The segment stage against an oracle: every rule, morphology, regions and hysteresis, read through the mask
/// that the engine paints, its maps and its records.
#include <gtest/gtest.h>

#include <cfenv>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "compare.h"
#include "fixture.h"
#include "forced_level.h"
#include "host/simd_level.h"
#include "images.h"
#include "oracle.h"
#include "segmentation.h"

namespace ccl::test {

namespace {

using host::SimdLevel;

/// What a frame must have.
struct Expected {
  Image bits;
  ExpectedFrame frame;
  std::vector<bool> is_kept;  ///< per label
  FrameCounts counts;
  std::vector<ExpectedRecord> records;

  Expected(const Image& image, const SegmentationCase& c)
      : bits(as_image(image, expect_foreground(image, c))),
        frame(expect_labels(bits, settings_of_bits(c))),
        is_kept(kept_labels(image, c, frame)),
        counts(expect_counts(frame, settings_of_bits(c), is_kept)) {
    for (ExpectedRecord& record : expect_records(frame, settings_of_bits(c), frame.n_labels)) {
      if (is_kept[record.integers.label]) {
        records.push_back(record);
      }
    }
    counts.level = c.rule.foreground == Foreground::kOtsu ? expect_otsu_level(image) : 0;
  }

 private:
  static Settings settings_of_bits(const SegmentationCase& c) {
    return {.connectivity = c.connectivity, .rule = kBitRule};
  }

  static std::vector<bool> kept_labels(const Image& image, const SegmentationCase& c,
                                       const ExpectedFrame& frame) {
    const bool has_hysteresis = c.rule.foreground == Foreground::kBinary && c.segmentation.threshold_low > 0;
    return has_hysteresis ? expect_strong_labels(image, c, frame)
                          : std::vector<bool>(frame.n_labels + size_t{1}, true);
  }
};

/// Compares frames with the oracle.
class Checker {
 public:
  FrameRunner runner;

  /// Whether the mask, the maps, the counts and the records of the frame are the expected ones.
  testing::AssertionResult is_exact(const Image& image, const SegmentationCase& c, const Expected& want) {
    const Outcome& got = run(image, c);
    const testing::AssertionResult same = has_mask(got, want);
    return same ? same_frame(got, want.frame, want.counts, want.records, want.bits) : same;
  }

  testing::AssertionResult is_exact(const Image& image, const SegmentationCase& c) {
    return is_exact(image, c, Expected(image, c));
  }

 private:
  const Outcome& run(const Image& image, const SegmentationCase& c) {
    runner.config.output = Output::kMask;
    runner.config.max_components = 1u << 20;
    runner.segmentation = c.segmentation;
    return runner.run(image, {.connectivity = c.connectivity, .rule = c.rule});
  }

  static testing::AssertionResult has_mask(const Outcome& got, const Expected& want) {
    std::vector<uint32_t> want_mask(want.frame.labels.size());
    for (size_t i = 0; i < want_mask.size(); ++i) {
      const uint32_t label = want.frame.labels[i];
      want_mask[i] = label != 0 && want.is_kept[label] ? 255 : 0;
    }
    const std::vector<uint32_t> mask(got.pixels.begin(), got.pixels.end());
    return same_map(mask, want_mask, want.bits, "mask");
  }
};

/// A rule with the pixels that it is worth testing with.
std::vector<SegmentationCase> rule_cases() {
  std::vector<SegmentationCase> cases;
  const auto add = [&](ForegroundRule rule, const Segmentation& segmentation) {
    for (const bool invert : {false, true}) {
      rule.invert = invert;
      cases.push_back({.rule = rule, .segmentation = segmentation});
    }
  };
  add({.foreground = Foreground::kOtsu}, {});
  for (const LocalThreshold& local : {LocalThreshold{.radius = 1, .offset = 0},
                                      {.radius = 2, .offset = -3},
                                      {.radius = 15, .offset = 10},
                                      {.radius = 7, .offset = 0, .deviation = 205},
                                      {.radius = 127, .offset = 255},
                                      {.radius = 127, .offset = -255, .deviation = 65535},
                                      {.radius = 40, .offset = 5, .deviation = 1024}}) {
    add({.foreground = Foreground::kLocal}, {.local = local});
  }
  for (const uint16_t low : {1, 90, 128, 200, 255}) {
    add({.foreground = Foreground::kBinary, .threshold = 128}, {.threshold_low = low});
  }
  return cases;
}

/// The rule that leaves binary images as they are, by way of a bit image.
SegmentationCase morphology_case(const Morphology& morphology, Connectivity connectivity = Connectivity::k8) {
  return {.rule = {}, .segmentation = {.morphology = morphology}, .connectivity = connectivity};
}

std::string describe(const SegmentationCase& c) {
  const Segmentation& s = c.segmentation;
  return std::string(name_of(c.rule.foreground)) + (c.rule.invert ? " inverted" : "") + ", " +
         name_of(c.connectivity) + ", low threshold " + std::to_string(s.threshold_low) + ", radius " +
         std::to_string(s.local.radius) + ", offset " + std::to_string(s.local.offset) + ", deviation " +
         std::to_string(s.local.deviation) + ", open " + std::to_string(s.morphology.open_radius) +
         ", close " + std::to_string(s.morphology.close_radius) +
         (s.morphology.element == Element::kCross ? " cross" : " square") + ", holes " +
         std::to_string(s.morphology.fill_holes);
}

/// Grey images of many kinds: smooth, noisy, flat, of few values.
std::vector<Image> grey_images(uint32_t width, uint32_t height) {
  std::vector<Image> images = {grey_noise(width, height, 3), gradient(width, height),
                               plain("black", width, height), plain("grey", width, height, 100),
                               plain("white", width, height, 255)};
  constexpr uint8_t kLevels[] = {20, 100, 110, 230};
  images.push_back(random_levels(width, height, 3, kLevels, 5));
  Image lit = blobs(width, height, 2);
  const Image shades = grey_noise(width, height, 6);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      lit.at(x, y) = static_cast<uint8_t>(lit.at(x, y) / 4 + 120 * x / width + shades.at(x, y) / 8);
    }
  }
  images.push_back(lit);
  return images;
}

/// Every frame in each variant: on the CPU every instruction set that it has, with several numbers of
/// threads. The GPU has one variant.
class SegmentTest : public testing::Test {
 protected:
  SegmentTest() {
    for (const SimdLevel level : host::kSimdLevels) {
      for (const uint32_t threads : {1u, 5u}) {
        const bool is_plain = level == SimdLevel::kPortable && threads == 1;
        if (backend() == Backend::kCpu ? host::is_supported(level) : is_plain) {
          Variant& variant = variants_.emplace_back();
          variant.level = level;
          variant.checker.runner.config.algorithm = Algorithm::kRuns;
          variant.checker.runner.config.threads = threads;
        }
      }
    }
  }

  void expect_exact(const Image& image, const SegmentationCase& c,
                    const std::shared_ptr<const RegionMask>& regions = nullptr) {
    const Expected want(image, c);
    for (Variant& variant : variants_) {
      const ForcedLevel forced(variant.level);
      variant.checker.runner.regions = regions;
      EXPECT_TRUE(variant.checker.is_exact(image, c, want))
          << image.name << ": " << describe(c) << ", " << host::simd_name(variant.level) << ", "
          << variant.checker.runner.config.threads << " threads";
    }
  }

 private:
  struct Variant {
    SimdLevel level;
    Checker checker;
  };

  std::vector<Variant> variants_;
};

TEST_F(SegmentTest, Rules) {
  for (const SegmentationCase& c : rule_cases()) {
    for (const Image& image : grey_images(150, 67)) {
      expect_exact(image, c);
    }
  }
}

/// Pixels that just reach their threshold, in windows whose sums are large: with k = 1/2 and an offset of
/// −64, the threshold of a flat window of 128 is 128.
TEST_F(SegmentTest, LargeFlatWindows) {
  Image image = plain("nearly flat", 300, 260, 128);
  const SegmentationCase c{
      .rule = {.foreground = Foreground::kLocal},
      .segmentation = {.local = {.radius = kMaxLocalRadius, .offset = -64, .deviation = 512}}};
  expect_exact(image, c);
  image.at(150, 130) = 127;
  image.at(20, 30) = 129;
  expect_exact(image, c);
}

/// Kernels also compute what lies behind the end of a row, up to a whole word. No root there is one of a
/// negative number, and no number becomes an integer that it does not fit.
TEST_F(SegmentTest, NothingInvalidBehindTheEndOfARow) {
  for (const uint32_t width : {1u, 33u, 130u, 1001u}) {
    std::feclearexcept(FE_INVALID);
    expect_exact(grey_noise(width, 20, 3), {.rule = {.foreground = Foreground::kLocal},
                                            .segmentation = {.local = {.radius = 7, .deviation = 205}}});
    EXPECT_EQ(std::fetestexcept(FE_INVALID), 0) << width;
  }
}

TEST_F(SegmentTest, OddSizesAndStrides) {
  for (const auto& [width, height] : {std::pair{1u, 1u},
                                      {1u, 40u},
                                      {70u, 1u},
                                      {2u, 3u},
                                      {31u, 9u},
                                      {32u, 9u},
                                      {33u, 9u},
                                      {63u, 5u},
                                      {64u, 5u},
                                      {65u, 5u},
                                      {127u, 4u},
                                      {128u, 4u},
                                      {129u, 4u},
                                      {200u, 2u}}) {
    const Image grey = spread(grey_noise(width, height, width), 1, 5);
    for (const SegmentationCase& c : rule_cases()) {
      expect_exact(grey, c);
    }
    const Image bits = spread(noise(width, height, 2, 55, height), 3, 2);
    for (const uint8_t radius : {1, 2, 8}) {
      for (const Element element : {Element::kSquare, Element::kCross}) {
        expect_exact(bits, morphology_case({.open_radius = radius, .element = element}));
        expect_exact(bits, morphology_case({.close_radius = radius, .element = element, .fill_holes = 4}));
      }
    }
  }
}

TEST_F(SegmentTest, MorphologyOfEveryRadius) {
  const Image image = noise(141, 75, 5, 50, 1);
  for (const Element element : {Element::kSquare, Element::kCross}) {
    for (uint8_t radius = 1; radius <= kMaxMorphologyRadius; ++radius) {
      const auto other = static_cast<uint8_t>(kMaxMorphologyRadius - radius);
      expect_exact(image,
                   morphology_case({.open_radius = radius, .close_radius = other, .element = element}));
      expect_exact(image,
                   morphology_case({.open_radius = other, .close_radius = radius, .element = element}));
    }
  }
  expect_exact(image, morphology_case({.open_radius = 8, .close_radius = 8}));
}

TEST_F(SegmentTest, MorphologyOfHardShapes) {
  for (const Image& image : adversarial_set(97, 130)) {
    for (const Element element : {Element::kSquare, Element::kCross}) {
      expect_exact(image, morphology_case({.open_radius = 1, .element = element}));
      expect_exact(image, morphology_case({.close_radius = 2, .element = element}));
      expect_exact(image, morphology_case({.open_radius = 1, .close_radius = 3, .element = element}));
    }
  }
}

/// Squares, and gaps, that the last row of the structuring element decides about. Each column of them begins
/// a row later, so that a tile may end anywhere in them.
TEST_F(SegmentTest, MorphologyOfWhatJustFits) {
  for (const uint8_t radius : {1, 3, 8}) {
    const uint32_t extent = 2u * radius + 1;
    const auto is_square = [extent](uint32_t x, uint32_t y) {
      const uint32_t column = x / (extent + 1);
      return x % (extent + 1) < extent && (y + column) % (extent + 1) < extent;
    };
    const uint32_t width = (extent + 1) * (extent + 1) + 1;
    const Image squares = drawn("squares", width, 300, is_square);
    const Image gaps = drawn("gaps", width, 300, [&](uint32_t x, uint32_t y) { return !is_square(x, y); });
    for (const Element element : {Element::kSquare, Element::kCross}) {
      expect_exact(squares, morphology_case({.open_radius = radius, .element = element}));
      expect_exact(gaps, morphology_case({.close_radius = radius, .element = element}));
      expect_exact(squares,
                   morphology_case({.open_radius = radius, .close_radius = radius, .element = element}));
    }
  }
}

TEST_F(SegmentTest, FillsHoles) {
  std::vector<Image> images = adversarial_set(99, 101);
  for (const uint32_t density : {40u, 60u, 75u, 90u}) {
    images.push_back(noise(130, 90, 1, density, density));
    images.push_back(noise(130, 90, 4, density, density));
  }
  for (const Image& image : images) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const uint32_t largest : {1u, 2u, 20u, 0xffffffffu}) {
        expect_exact(image, morphology_case({.fill_holes = largest}, connectivity));
      }
    }
  }
}

TEST_F(SegmentTest, Hysteresis) {
  const Image levels = random_levels(203, 131, 3, std::vector<uint8_t>{0, 100, 100, 150}, 4);
  for (const Image& image : {levels, grey_noise(150, 90, 7)}) {
    for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
      for (const bool invert : {false, true}) {
        for (const Morphology& morphology : {Morphology{}, {.close_radius = 1}, {.open_radius = 1}}) {
          expect_exact(image, {.rule = {.threshold = 140, .invert = invert},
                               .segmentation = {.threshold_low = 60, .morphology = morphology},
                               .connectivity = connectivity});
        }
      }
    }
  }
}

/// All steps, in their order.
TEST_F(SegmentTest, EveryRuleWithMorphologyAndRegions) {
  const Regions regions{.is_relative = true,
                        .include = {{"all but corners", {{0.5, 0}, {1, 0.5}, {0.5, 1}, {0, 0.5}}}},
                        .exclude = {{"middle", {{0.3, 0.4}, {0.7, 0.4}, {0.6, 0.6}, {0.4, 0.6}}}}};
  for (const Image& image : grey_images(131, 97)) {
    const auto mask = std::make_shared<const RegionMask>(regions, image.width, image.height);
    Mask inside;
    for (uint32_t y = 0; y < image.height; ++y) {
      for (uint32_t x = 0; x < image.width; ++x) {
        inside.push_back(mask->bits()[size_t{y} * bit_row_words(image.width) + x / 32] >> (x % 32) & 1);
      }
    }
    for (SegmentationCase c : rule_cases()) {
      for (const Morphology& morphology :
           {Morphology{},
            {.open_radius = 1, .close_radius = 2, .element = Element::kCross, .fill_holes = 9}}) {
        c.segmentation.morphology = morphology;
        c.regions = inside;
        expect_exact(image, c, mask);
        c.regions.clear();
        expect_exact(image, c);
      }
    }
  }
}

struct NamedCase {
  const char* name;
  SegmentationCase c;
};

/// Two frames for each kernel of the stage: compute-sanitizer takes seconds for each.
class SegmentSubset : public testing::TestWithParam<NamedCase> {};

TEST_P(SegmentSubset, SanitizerSubset) {
  Checker checker;
  checker.runner.config.algorithm = Algorithm::kRuns;
  for (const auto& [width, height] : {std::pair{131u, 37u}, {66u, 23u}}) {
    const Image image = spread(grey_images(width, height).back(), 1, 5);
    EXPECT_TRUE(checker.is_exact(image, GetParam().c)) << describe(GetParam().c);
  }
}

std::vector<NamedCase> subset_cases() {
  const ForegroundRule binary{.threshold = 128};
  const ForegroundRule otsu{.foreground = Foreground::kOtsu};
  const ForegroundRule local{.foreground = Foreground::kLocal};
  return {
      {"otsu", {.rule = otsu}},
      {"local", {.rule = local, .segmentation = {.local = {.radius = 2, .offset = -3}}}},
      {"wide_local", {.rule = local, .segmentation = {.local = {.radius = 40, .offset = 5}}}},
      {"sauvola", {.rule = local, .segmentation = {.local = {.radius = 7, .deviation = 205}}}},
      {"open_and_close",
       {.rule = binary, .segmentation = {.morphology = {.open_radius = 1, .close_radius = 3}}}},
      {"cross_of_bits",
       {.rule = otsu,
        .segmentation = {.morphology = {.open_radius = 2, .close_radius = 1, .element = Element::kCross}}}},
      {"fill_holes", {.rule = otsu, .segmentation = {.morphology = {.fill_holes = 9}}}},
      {"hysteresis", {.rule = binary, .segmentation = {.threshold_low = 90}}},
      {"opened_hysteresis",
       {.rule = binary, .segmentation = {.threshold_low = 90, .morphology = {.open_radius = 1}}}}};
}

INSTANTIATE_TEST_SUITE_P(Rules, SegmentSubset, testing::ValuesIn(subset_cases()),
                         [](const testing::TestParamInfo<NamedCase>& info) { return info.param.name; });

class SegmentLabelersTest : public testing::TestWithParam<AlgorithmInfo> {};

TEST_P(SegmentLabelersTest, ReadBits) {
  Checker checker;
  checker.runner.config.algorithm = GetParam().algorithm;
  for (const Image& image : grey_images(133, 70)) {
    for (SegmentationCase c : rule_cases()) {
      c.connectivity = c.rule.invert ? Connectivity::k4 : Connectivity::k8;
      c.segmentation.morphology.open_radius = c.segmentation.local.radius == 15 ? 1 : 0;
      EXPECT_TRUE(checker.is_exact(image, c)) << image.name << ": " << describe(c);
    }
  }
}

/// Overlays show the frame, not its bits.
TEST_P(SegmentLabelersTest, OverlayShowsTheFrame) {
  FrameRunner runner;
  runner.config.algorithm = GetParam().algorithm;
  runner.config.output = Output::kOverlay;
  const Image image = grey_images(90, 60).back();
  Settings settings{.rule = {.threshold = static_cast<uint8_t>(expect_otsu_level(image))}};
  const Outcome want = runner.run(image, settings);
  settings.rule.foreground = Foreground::kOtsu;
  Outcome got = runner.run(image, settings);
  EXPECT_EQ(got.counts.level, settings.rule.threshold);
  got.counts.level = 0;
  EXPECT_TRUE(same_bytes(got, want));
}

/// Frames with bits and without them follow each other.
TEST_P(SegmentLabelersTest, RulesChangeBetweenFrames) {
  Checker checker;
  checker.runner.config.algorithm = GetParam().algorithm;
  const Image image = grey_images(90, 60).back();
  for (uint32_t round = 0; round < 2; ++round) {
    for (const SegmentationCase& c : rule_cases()) {
      EXPECT_TRUE(checker.is_exact(image, c)) << describe(c);
      EXPECT_TRUE(checker.is_exact(image, {.rule = {.threshold = 77}})) << describe(c);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, SegmentLabelersTest, testing::ValuesIn(labelers()),
                         test_name<AlgorithmInfo>);

}  // namespace

}  // namespace ccl::test
