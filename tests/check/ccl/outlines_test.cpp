// SPDX-License-Identifier: LGPL-2.1-or-later
/// Outlines of regions: the pixels of a layer against distances in floating point, and an engine's output
/// against a layer blended onto its plain output.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "ccl/draw/outlines.h"
#include "ccl/draw/scale.h"
#include "ccl/region_rules.h"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

const std::vector<Point> kPolygon = {{10.25, 8}, {90, 14.5}, {70.75, 50}, {40, 30}, {12, 55.125}};

double distance_to(double x, double y, const Point& a, const Point& b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double squared = dx * dx + dy * dy;
  const double t = squared > 0 ? std::clamp(((x - a.x) * dx + (y - a.y) * dy) / squared, 0.0, 1.0) : 0.0;
  return std::hypot(x - a.x - t * dx, y - a.y - t * dy);
}

/// The least distance of a pixel's centre from any part of an outline.
double distance_to(uint32_t x, uint32_t y, const Outline& outline) {
  double least = 1e9;
  const size_t n = outline.points.size();
  for (size_t i = 0; i + (outline.is_closed ? 0 : 1) < n; ++i) {
    least = std::min(least, distance_to(x + 0.5, y + 0.5, outline.points[i], outline.points[(i + 1) % n]));
  }
  return least;
}

std::map<uint32_t, uint32_t> by_index(const OutlineLayer& layer) {
  std::map<uint32_t, uint32_t> colors;
  for (const LayerPixel& pixel : layer.pixels()) {
    colors[pixel.index] = pixel.color;
  }
  return colors;
}

/// How a line of this radius covers a pixel, see ccl/draw/stroke.h.
double covered(double distance, uint32_t radius) {
  return std::clamp(radius / 256.0 + 0.5 - distance, 0.0, 1.0);
}

/// One outline without a name: colour over black over nothing.
void expect_layer(const Outline& outline, uint32_t width, uint32_t height) {
  const OutlineLayer layer({outline}, width, height);
  const draw::Pen pen = draw::scale_for(height).outline;
  std::map<uint32_t, uint32_t> colors = by_index(layer);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      const double far = distance_to(x, y, outline);
      const double line = covered(far, pen.radius);
      const double rim = covered(far, pen.rim) * 220 / 255;
      const double alpha = line + rim * (1 - line);
      const uint32_t got = colors[y * width + x];
      ASSERT_NEAR(got >> 24, alpha * 255, 4) << x << ", " << y;
      for (const uint32_t shift : {0u, 8u, 16u}) {
        const double want = alpha > 0 ? (outline.color >> shift & 0xff) * line / alpha : 0;
        // Few steps of a small weight are few colours.
        ASSERT_NEAR(got >> shift & 0xff, want, 4 + (alpha > 0 ? 4 / alpha : 255)) << x << ", " << y;
      }
    }
  }
}

TEST(OutlineLayerTest, PixelsAreThoseNearTheLines) {
  for (const bool is_closed : {true, false}) {
    ASSERT_NO_FATAL_FAILURE(expect_layer({"", kPolygon, is_closed, kZoneColor}, 100, 60));
  }
  ASSERT_NO_FATAL_FAILURE(expect_layer({"", {{20, 20}}, true, kLineColor}, 60, 40));
  ASSERT_NO_FATAL_FAILURE(expect_layer({"", {{-30, 50}, {90, -20}}, false, kLineColor}, 60, 40));
  ASSERT_NO_FATAL_FAILURE(expect_layer({"", {{-3e5, 10}, {5e5, 10}}, false, kLineColor}, 60, 40));
  ASSERT_NO_FATAL_FAILURE(expect_layer({"", {{30, -9e5}, {30, 1e6}}, false, kExcludeColor}, 60, 40));
  ASSERT_NO_FATAL_FAILURE(expect_layer({"", {{0.2, 0.2}, {0.9, 0.1}, {0.5, 0.9}}, true, kLineColor}, 1, 1));
}

TEST(OutlineLayerTest, PixelsAscend) {
  const OutlineLayer layer({{"name", kPolygon}}, 100, 60);
  ASSERT_EQ(layer.rows().size(), 61u);
  EXPECT_EQ(layer.rows().front(), 0u);
  EXPECT_EQ(layer.rows().back(), layer.pixels().size());
  for (uint32_t y = 0; y < 60; ++y) {
    for (uint32_t i = layer.rows()[y]; i < layer.rows()[y + 1]; ++i) {
      ASSERT_EQ(layer.pixels()[i].index / 100, y);
      ASSERT_NE(layer.pixels()[i].color >> 24, 0u);
      ASSERT_TRUE(i == 0 || layer.pixels()[i - 1].index < layer.pixels()[i].index);
    }
  }
}

TEST(OutlineLayerTest, WhatIsNotInTheFrameIsNotThere) {
  EXPECT_TRUE(OutlineLayer({}, 50, 40).pixels().empty());
  EXPECT_TRUE(OutlineLayer({{"", {}}}, 50, 40).pixels().empty());
  EXPECT_TRUE(OutlineLayer({{"name", {}}}, 50, 40).pixels().empty());
  EXPECT_TRUE(OutlineLayer({{"", {{-80, -80}, {-20, -60}}}}, 50, 40).pixels().empty());
  EXPECT_NE(OutlineLayer({}, 50, 40).id(), OutlineLayer({}, 50, 40).id());
}

/// The pixels that a name adds, as the box around them.
struct Bounds {
  uint32_t left = 0xffffffff;
  uint32_t top = 0xffffffff;
  uint32_t right = 0;
  uint32_t bottom = 0;
};

Bounds name_bounds(const Outline& outline, uint32_t width, uint32_t height) {
  Outline nameless = outline;
  nameless.name.clear();
  const std::map<uint32_t, uint32_t> before = by_index(OutlineLayer({nameless}, width, height));
  const OutlineLayer layer({outline}, width, height);
  Bounds bounds;
  for (const LayerPixel& pixel : layer.pixels()) {
    const auto found = before.find(pixel.index);
    if (found == before.end() || found->second != pixel.color) {
      const uint32_t x = pixel.index % width;
      const uint32_t y = pixel.index / width;
      bounds = {std::min(bounds.left, x), std::min(bounds.top, y), std::max(bounds.right, x),
                std::max(bounds.bottom, y)};
    }
  }
  return bounds;
}

TEST(OutlineLayerTest, NamesStandAboveTheHighestPoint) {
  const uint32_t text = draw::scale_for(200).text_height;
  const Bounds free = name_bounds({"Hall", {{40, 150}, {60, 80}, {90, 150}}}, 300, 200);
  EXPECT_NEAR(free.left, 60, 4);
  EXPECT_NEAR(free.bottom, 80 - text / 4, 4);  // the depth of letters is free
  EXPECT_NEAR(free.bottom - free.top, text, 5);
  const Bounds high = name_bounds({"Hall", {{40, 150}, {290, -50}, {90, 150}}}, 300, 200);
  EXPECT_LE(high.top, 2u);
  EXPECT_GE(high.right, 294u);
  EXPECT_GT(high.left, 250u);
}

/// A document may have a name of a megabyte, and programs have no limit.
TEST(OutlineLayerTest, NamesAreCutOffAtTheFrame) {
  const auto layer_of = [](size_t length) {
    const Outline outline{.name = std::string(length, 'M'), .points = {{20, 200}, {30, 200}}};
    return OutlineLayer({outline}, 300, draw::kMaxScaledHeight);
  };
  const OutlineLayer layer = layer_of(1'000'000);
  EXPECT_EQ(layer.pixels(), layer_of(100).pixels());
  EXPECT_TRUE(layer.is_complete()) << "what is not seen takes no work";
}

TEST(OutlineLayerTest, RegionsHaveTheirColors) {
  Regions regions;
  regions.include = {{"in", {{0.1, 0.2}, {0.5, 0.2}, {0.5, 1}}}};
  regions.exclude = {{"out", {{0, 0}, {1, 1}, {0, 1}}}};
  regions.zones = {{.name = "door", .polygon = {{0, 0.5}, {1, 0.5}, {1, 1}}}};
  regions.lines = {{.name = "gate", .from = {0.5, 0}, .to = {0.5, 1}}};
  const std::vector<Outline> relative = outlines_of(regions, 200, 50);
  ASSERT_EQ(relative.size(), 4u);
  EXPECT_EQ(relative[0].name, "in");
  EXPECT_EQ(relative[0].color, kIncludeColor);
  EXPECT_EQ(relative[0].points[1].x, 100);
  EXPECT_EQ(relative[0].points[1].y, 10);
  EXPECT_TRUE(relative[0].is_closed);
  EXPECT_EQ(relative[1].name, "out");
  EXPECT_EQ(relative[1].color, kExcludeColor);
  EXPECT_EQ(relative[2].name, "door");
  EXPECT_EQ(relative[2].color, kZoneColor);
  EXPECT_TRUE(relative[2].is_closed);
  EXPECT_EQ(relative[2].points[0], (Point{0, 25}));
  EXPECT_EQ(relative[3].name, "gate");
  EXPECT_EQ(relative[3].color, kLineColor);
  EXPECT_FALSE(relative[3].is_closed);
  EXPECT_EQ(relative[3].points, (std::vector<Point>{{100, 0}, {100, 50}}));
  regions.is_relative = false;
  EXPECT_EQ(outlines_of(regions, 200, 50)[0].points[1].x, 0.5);
}

/// Polygons of as many points as regions may have, which cross the frame with each of their edges.
TEST(OutlineLayerTest, WorkIsBounded) {
  constexpr uint32_t kWidth = 640;
  constexpr uint32_t kHeight = 480;
  std::mt19937 random(1);
  const auto at = [&random](uint32_t size) { return std::uniform_real_distribution<>(0, size)(random); };
  Outline scribble{"scribble", {}};
  Outline zigzag{"zigzag", {}};
  Outline circle{"circle", {}};
  for (size_t i = 0; i < kMaxPoints; ++i) {
    const double part = static_cast<double>(i) / kMaxPoints;
    scribble.points.push_back({at(kWidth), at(kHeight)});
    zigzag.points.push_back({i % 2 * double{kWidth}, part * kHeight});
    circle.points.push_back({320 + 200 * std::cos(part * 6.2832), 240 + 200 * std::sin(part * 6.2832)});
  }
  for (const Outline& outline : {scribble, zigzag}) {
    const OutlineLayer layer({outline}, kWidth, kHeight);
    EXPECT_LE(layer.work(), max_work(kWidth, kHeight)) << outline.name;
    EXPECT_FALSE(layer.is_complete()) << outline.name;
    const OutlineLayer nameless({{"", outline.points}}, kWidth, kHeight);
    EXPECT_GT(layer.work(), nameless.work()) << "names are there nevertheless";
  }
  EXPECT_TRUE(OutlineLayer({circle}, kWidth, kHeight).is_complete());
  const std::vector<Outline> many(500, {"gate", {{0, 240}, {kWidth, 250}}, false});
  EXPECT_TRUE(OutlineLayer(many, kWidth, kHeight).is_complete());
}

/// Each backend is tested.
class OutlineTest : public testing::TestWithParam<AlgorithmInfo> {
 protected:
  OutlineTest() {
    runner_.config.algorithm = GetParam().algorithm;
    settings_.rule.threshold = 128;
    settings_.background_color = 0x30102030;
  }

  static std::shared_ptr<const OutlineLayer> layer_of(const Image& image) {
    const std::vector<Outline> outlines = {{"A", kPolygon, true, kIncludeColor},
                                           {"gate 1", {{3, 40}, {95, 20}}, false, kLineColor}};
    return std::make_shared<OutlineLayer>(outlines, image.width, image.height);
  }

  /// A layer blended onto pixels, in floating point.
  std::vector<uint8_t> blended(std::vector<uint8_t> pixels, const OutlineLayer& layer) const {
    const PixelLayout layout = runner_.config.layout;
    const std::array<uint8_t, 4> channels = {layout.alpha, layout.red, layout.green, layout.blue};
    for (const LayerPixel& over : layer.pixels()) {
      const double weight = over.color >> 24;
      for (uint32_t i = 0; i < 4; ++i) {
        uint8_t& channel = pixels[size_t{over.index} * 4 + channels[i]];
        const uint32_t color = i == 0 ? 255 : over.color >> (24 - 8 * i) & 0xff;
        channel = static_cast<uint8_t>(std::floor((color * weight + channel * (255 - weight)) / 255 + 0.5));
      }
    }
    return pixels;
  }

  FrameRunner runner_;
  Settings settings_;
};

TEST_P(OutlineTest, IsBlendedOntoThePlainOutput) {
  const Image image = grey_noise(101, 63, 7);
  const std::shared_ptr<const OutlineLayer> layer = layer_of(image);
  for (const Output output : {Output::kColorized, Output::kOverlay}) {
    for (const bool draw_boxes : {false, true}) {
      for (const uint32_t max_components : {3u, 16384u}) {  // 3: too few
        runner_.config.output = output;
        runner_.config.layout = draw_boxes ? PixelLayout{1, 3, 0, 2} : PixelLayout{};
        runner_.config.max_components = max_components;
        runner_.output_offset = output == Output::kOverlay ? 0 : 3;
        runner_.output_padding = output == Output::kOverlay ? 0 : 7;
        settings_.draw_boxes = draw_boxes;
        settings_.draw_regions = false;
        runner_.outlines = layer;
        const std::vector<uint8_t> plain = runner_.run(image, settings_).pixels;
        settings_.draw_regions = true;
        const std::vector<uint8_t> got = runner_.run(image, settings_).pixels;
        ASSERT_TRUE(got == blended(plain, *layer))
            << name_of(output) << ", boxes " << draw_boxes << ", records " << max_components;
        ASSERT_FALSE(got == plain);
        runner_.outlines = nullptr;
        ASSERT_TRUE(runner_.run(image, settings_).pixels == plain);
      }
    }
  }
}

TEST_P(OutlineTest, OtherOutputsStayAsTheyAre) {
  const Image image = grey_noise(101, 63, 7);
  runner_.outlines = layer_of(image);
  for (const Output output :
       {Output::kNone, Output::kLabels, Output::kMask, Output::kForeground, Output::kDistance}) {
    runner_.config.output = output;
    settings_.draw_regions = false;
    const std::vector<uint8_t> plain = runner_.run(image, settings_).pixels;
    settings_.draw_regions = true;
    ASSERT_TRUE(runner_.run(image, settings_).pixels == plain) << name_of(output);
  }
}

/// A larger layer, a smaller one, none, and the first one again.
TEST_P(OutlineTest, LayersMayChangeWithEachFrame) {
  const Image image = grey_noise(101, 63, 8);
  runner_.config.output = Output::kOverlay;
  const std::vector<uint8_t> plain = runner_.run(image, settings_).pixels;
  settings_.draw_regions = true;
  const auto small = std::make_shared<const OutlineLayer>(std::vector<Outline>{{"", {{5, 5}}}}, 101, 63);
  const auto empty = std::make_shared<const OutlineLayer>(std::vector<Outline>{}, 101, 63);
  const std::shared_ptr<const OutlineLayer> large = layer_of(image);
  for (const std::shared_ptr<const OutlineLayer>& layer : {small, large, small, empty, large}) {
    runner_.outlines = layer;
    ASSERT_TRUE(runner_.run(image, settings_).pixels == blended(plain, *layer));
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, OutlineTest, testing::ValuesIn(labelers()), test_name<AlgorithmInfo>);

TEST(OutlineErrorTest, LayersOfAnotherSizeAreRefused) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  Config config;
  config.width = 20;
  config.height = 10;
  ASSERT_TRUE(engine->configure(config).ok());
  const Image image = grey_noise(20, 10, 1);
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  for (const auto& [width, height] : {std::pair{20u, 11u}, {21u, 10u}}) {
    job.outlines = std::make_shared<OutlineLayer>(std::vector<Outline>{}, width, height);
    const Status status = engine->push(job);
    EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
    EXPECT_NE(status.message().find("outlines"), std::string::npos) << status.message();
  }
  job.outlines = std::make_shared<OutlineLayer>(std::vector<Outline>{}, 20, 10);
  EXPECT_TRUE(engine->push(job).ok());
}

}  // namespace

}  // namespace ccl::test
