// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which pixels are foreground, which of them connect, and which colours they get.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;
constexpr const char* kFullRange = "colorimetry=1:4:0:0";

struct Case {
  const char* name;
  const char* format;
  const char* colorimetry;
  const char* properties;
  Rule rule;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.properties << " in " << c.format << " " << c.colorimetry;
}

class Foreground : public testing::TestWithParam<Case> {};

}  // namespace

TEST_P(Foreground, FollowsTheRule) {
  const Case& c = GetParam();
  const Image image = noise(kWidth, kHeight, 11);
  const Expected expected = label(image, c.rule);
  Harness h(std::string("output=labels ") + c.properties, c.format, kWidth, kHeight, c.colorimetry);
  const Ref<GstBuffer> out = h.process(image, c.format);
  EXPECT_EQ(h.pixels(out), labels(expected));
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_EQ(info.n_components, expected.records.size());
  expect_records(info.records, info.n_records, expected.records);
}

INSTANTIATE_TEST_SUITE_P(
    Rules, Foreground,
    testing::Values(
        Case{"GrayAnyNonZero", "GRAY8", "", "", {.threshold = 1}},
        Case{"GrayLimitedRangeIsStillAnyNonZero", "GRAY8", "colorimetry=2:4:0:0", "", {.threshold = 1}},
        Case{"LumaLimitedRange", "NV12", "colorimetry=bt709", "", {.threshold = 126}},
        Case{"LumaLimitedRangeByDefault", "I420", "", "", {.threshold = 126}},
        Case{"LumaFullRange", "I420", kFullRange, "", {.threshold = 128}},
        Case{"ExplicitInGray", "GRAY8", "", "threshold=127", {.threshold = 127}},
        Case{"ExplicitInLuma", "Y444", "", "threshold=1", {.threshold = 1}},
        Case{"Highest", "GRAY8", "", "threshold=255", {.threshold = 255}},
        Case{"InvertAutomaticGray", "GRAY8", "", "invert=true", {.threshold = 1, .invert = true}},
        Case{"InvertAutomaticLuma", "NV21", "", "invert=true", {.threshold = 126, .invert = true}},
        Case{"InvertExplicit", "YV12", "", "invert=true threshold=16", {.threshold = 16, .invert = true}},
        Case{"Values", "GRAY8", "", "foreground=values", {.values = true}},
        Case{"ValuesIgnoreThresholdAndInvert",
             "GRAY8",
             "",
             "foreground=values threshold=128 invert=true",
             {.values = true}},
        Case{"Values4Way",
             "Y42B",
             "",
             "foreground=values connectivity=4-way",
             {.connectivity = 4, .values = true}},
        Case{"4Way", "GRAY8", "", "connectivity=4-way", {.connectivity = 4}},
        Case{"MinArea", "GRAY8", "", "threshold=128 min-area=4", {.threshold = 128, .min_area = 4}},
        Case{"MaxArea", "GRAY8", "", "threshold=128 max-area=3", {.threshold = 128, .max_area = 3}},
        Case{"MinAreaZeroFiltersNothing", "GRAY8", "", "min-area=0", {.min_area = 0}},
        Case{"NothingLeft", "GRAY8", "", "min-area=9 max-area=2", {.min_area = 9, .max_area = 2}}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Overlay, StretchesLimitedRangeOnly) {
  const Image image = noise(kWidth, kHeight, 12);
  const struct {
    const char* format;
    const char* colorimetry;
    bool limited;
  } cases[] = {{"NV12", "colorimetry=bt709", true}, {"NV12", kFullRange, false}, {"GRAY8", "", false}};
  for (const auto& [format, colorimetry, limited] : cases) {
    Harness h("output=overlay threshold=128", format, kWidth, kHeight, colorimetry);
    EXPECT_EQ(h.pixels(h.process(image, format)),
              overlay(label(image, {.threshold = 128}), image, {.limited_range = limited}))
        << format << " " << colorimetry;
  }
}

TEST(Overlay, AlphaIsTheColoursWeight) {
  const Image image = noise(kWidth, kHeight, 13);
  const Expected expected = label(image, {.threshold = 128});
  for (const auto& [alpha, weight] : {std::pair<const char*, uint32_t>{"0", 0}, {"0.2", 51}, {"1", 255}}) {
    Harness h(std::string("output=overlay threshold=128 overlay-alpha=") + alpha, "GRAY8", kWidth, kHeight);
    EXPECT_EQ(h.pixels(h.process(image)), overlay(expected, image, {.alpha = weight})) << alpha;
  }
}

TEST(Colors, PaletteSeedAndBackground) {
  const Image image = noise(kWidth, kHeight, 14);
  const Expected expected = label(image, {.threshold = 128});
  const struct {
    const char* properties;
    Paint paint;
  } cases[] = {{"palette=golden color-seed=7", {.palette = 0, .seed = 7}},
               {"palette=glasbey background-color=0x11223344", {.palette = 1, .background = 0x11223344}},
               {"palette=mono background-color=0", {.palette = 3, .background = 0}}};
  for (const auto& [properties, paint] : cases) {
    Harness h(std::string("threshold=128 ") + properties, "GRAY8", kWidth, kHeight);
    EXPECT_EQ(h.pixels(h.process(image)), colorized(expected, paint)) << properties;
  }
}

/// Components that the filter does not keep are painted as background in every output.
TEST(Colors, ComponentsThatAreNotKeptAreBackground) {
  const Image image = noise(kWidth, kHeight, 15);
  const Expected expected = label(image, {.threshold = 128, .min_area = 5});
  Harness h("threshold=128 min-area=5", "GRAY8", kWidth, kHeight);
  EXPECT_EQ(h.pixels(h.process(image)), colorized(expected, {}));
  h.set("output", "overlay");
  EXPECT_EQ(h.pixels(h.process(image)), overlay(expected, image, {}));
  h.set("output", "mask");
  EXPECT_EQ(h.pixels(h.process(image)), mask(expected));
}

TEST(Colors, BoxesAreWhiteFramesAroundComponents) {
  const Image image = picture({"........", ".##..#..", ".#...#..", ".....##.", "........"});
  std::vector<uint8_t> pixels = colorized(label(image, {}), {});
  for (const CclComponent& c : label(image, {}).records) {
    for (uint32_t y = c.y; y < c.y + c.height; ++y) {
      for (uint32_t x = c.x; x < c.x + c.width; ++x) {
        const bool on_edge = x == c.x || y == c.y || x + 1 == c.x + c.width || y + 1 == c.y + c.height;
        const auto pixel = pixels.begin() + (y * image.width + x) * 4;
        std::fill(pixel, pixel + (on_edge ? 4 : 0), 255);
      }
    }
  }
  Harness h("draw-boxes=true", image);
  EXPECT_EQ(h.pixels(h.process(image)), pixels);
}

/// The colour depends on the area only: equal areas have equal colours, a larger one is brighter.
TEST(Colors, ViridisByArea) {
  const Image image =
      picture({"##......####", "##......####", "............", "##..########", "##..########"});
  Harness h("palette=viridis-by-area", image);
  const std::vector<uint8_t> pixels = h.pixels(h.process(image));
  const auto green_at = [&](uint32_t x, uint32_t y) { return pixels[(y * image.width + x) * 4 + 1]; };
  EXPECT_EQ(green_at(0, 0), green_at(0, 4));
  EXPECT_LT(green_at(0, 0), green_at(8, 0));
  EXPECT_LT(green_at(8, 0), green_at(4, 3));
}

}  // namespace cudaccl::test
