// SPDX-License-Identifier: LGPL-2.1-or-later
/// `draw-ids`, `draw-trails` and `draw-regions` in the element: where pictures differ from plain ones, and
/// where they do not. How lines and text look is tested in the library.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "ccl/draw/outlines.h"
#include "ccl/draw/scale.h"
#include "ccl/draw/stroke.h"
#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 160;
constexpr uint32_t kHeight = 96;
constexpr uint32_t kSide = 12;  ///< of the square, which is the only object
constexpr int32_t kReach = 3;   ///< further than a line and its rim reach from their places

constexpr const char* kAll = " draw-ids=true draw-trails=true draw-regions=true";
constexpr const char* kRegions = R"({"version": 1,
  "include": [{"name": "in", "polygon": [[0.25, 0.25], [1, 0.25], [1, 1], [0.25, 1]]}],
  "exclude": [{"polygon": [[0.5, 0.5], [0.75, 0.5], [0.75, 0.75]]}],
  "zones": [{"name": "door", "polygon": [[0.125, 0.5], [0.375, 0.5], [0.375, 0.875], [0.125, 0.875]]}],
  "lines": [{"name": "gate", "from": [0.5, 0], "to": [0.625, 1]}]})";

std::vector<ccl::Outline> outlines_in(double width, double height) {
  const auto at = [&](double x, double y) { return ccl::Point{x * width, y * height}; };
  return {
      {"in", {at(0.25, 0.25), at(1, 0.25), at(1, 1), at(0.25, 1)}, true, ccl::kIncludeColor},
      {"", {at(0.5, 0.5), at(0.75, 0.5), at(0.75, 0.75)}, true, ccl::kExcludeColor},
      {"door", {at(0.125, 0.5), at(0.375, 0.5), at(0.375, 0.875), at(0.125, 0.875)}, true, ccl::kZoneColor},
      {"gate", {at(0.5, 0), at(0.625, 1)}, false, ccl::kLineColor},
  };
}

constexpr const char* kOneLine =
    R"({"version": 1, "units": "pixels", "lines": [{"name": "q", "from": [20, 30], "to": [90, 60]}]})";
const std::vector<ccl::Outline> kOneOutline = {{"q", {{20, 30}, {90, 60}}, false, ccl::kLineColor}};

using Pixels = std::vector<uint8_t>;

/// A picture without drawings, with outlines blended onto it.
Pixels with_outlines(Pixels plain, const std::vector<ccl::Outline>& outlines, uint32_t width, uint32_t height,
                     const ccl::PixelLayout& layout = {}) {
  const ccl::OutlineLayer layer(outlines, width, height);
  for (const ccl::LayerPixel& over : layer.pixels()) {
    uint32_t pixel = 0;
    std::memcpy(&pixel, &plain[size_t{over.index} * 4], 4);
    pixel = ccl::draw::blend_layer(over.color, layout, pixel);
    std::memcpy(&plain[size_t{over.index} * 4], &pixel, 4);
  }
  return plain;
}

/// Columns from x0 to before x1, and rows from y0 to before y1.
struct Box {
  int32_t x0, y0, x1, y1;

  bool contains(int32_t x, int32_t y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
};

/// How many pixels differ. Those outside the box fail the test.
size_t count_changes(const Pixels& a, const Pixels& b, const Box& box) {
  EXPECT_EQ(a.size(), b.size());
  size_t count = 0;
  for (size_t i = 0; i < std::min(a.size(), b.size()) / 4; ++i) {
    if (std::memcmp(&a[4 * i], &b[4 * i], 4) != 0) {
      const auto x = static_cast<int32_t>(i % kWidth);
      const auto y = static_cast<int32_t>(i / kWidth);
      EXPECT_TRUE(box.contains(x, y)) << x << ", " << y;
      ++count;
    }
  }
  return count;
}

Image square_at(uint32_t left, uint32_t top) {
  Image image = blank(kWidth, kHeight);
  for (uint32_t y = top; y < top + kSide; ++y) {
    std::fill_n(image.pixels.begin() + y * kWidth + left, kSide, uint8_t{255});
  }
  return image;
}

/// Two elements get the same frames: one draws, the other does not.
class Drawing : public testing::Test {
 protected:
  void start(const std::string& properties, const std::string& draws) {
    h = std::make_unique<Harness>(properties + " " + draws);
    plain = std::make_unique<Harness>(properties);
    for (Harness* each : {h.get(), plain.get()}) {
      ASSERT_TRUE(each->send_caps("GRAY8", kWidth, kHeight));
    }
  }

  void set_regions(const char* regions) {
    for (Harness* each : {h.get(), plain.get()}) {
      g_object_set(each->element(), "regions", regions, nullptr);
    }
  }

  struct Pair {
    Pixels drawn;
    Pixels plain;
  };

  Pair process(const Image& image) {
    return {h->pixels(h->process(image)), plain->pixels(plain->process(image))};
  }

  std::unique_ptr<Harness> h;
  std::unique_ptr<Harness> plain;
};

}  // namespace

/* Regions */

TEST_F(Drawing, RegionsInEachColorOutput) {
  const Image image = noise(kWidth, kHeight, 41);
  for (const char* output : {"colorized", "overlay"}) {
    SCOPED_TRACE(output);
    start(std::string("output=") + output, "draw-regions=true");
    set_regions(kRegions);
    const Pair pair = process(image);
    EXPECT_NE(pair.drawn, pair.plain);
    EXPECT_EQ(pair.drawn, with_outlines(pair.plain, outlines_in(kWidth, kHeight), kWidth, kHeight));
  }
}

TEST_F(Drawing, RegionsInAnotherOrderOfChannels) {
  start("", "draw-regions=true");
  for (Harness* each : {h.get(), plain.get()}) {
    each->accept("video/x-raw,format=ABGR");
  }
  set_regions(kOneLine);
  const Pair pair = process(noise(kWidth, kHeight, 42));
  EXPECT_EQ(pair.drawn, with_outlines(pair.plain, kOneOutline, kWidth, kHeight,
                                      {.red = 3, .green = 2, .blue = 1, .alpha = 0}));
}

TEST_F(Drawing, RegionsThatAreReplacedOrSwitchedLive) {
  start("", "draw-regions=true");
  const Image image = noise(kWidth, kHeight, 43);
  Pair pair = process(image);
  EXPECT_EQ(pair.drawn, pair.plain) << "without regions";
  for (int round = 0; round < 2; ++round) {
    set_regions(kRegions);
    pair = process(image);
    EXPECT_EQ(pair.drawn, with_outlines(pair.plain, outlines_in(kWidth, kHeight), kWidth, kHeight));
    set_regions(kOneLine);
    pair = process(image);
    EXPECT_EQ(pair.drawn, with_outlines(pair.plain, kOneOutline, kWidth, kHeight));
    h->set("draw-regions", "false");
    pair = process(image);
    EXPECT_EQ(pair.drawn, pair.plain);
    h->set("draw-regions", "true");
    pair = process(image);
    EXPECT_EQ(pair.drawn, with_outlines(pair.plain, kOneOutline, kWidth, kHeight));
    set_regions(nullptr);
    pair = process(image);
    EXPECT_EQ(pair.drawn, pair.plain);
  }
}

TEST_F(Drawing, RegionsThatAreEmptyOrOutsideTheFrame) {
  start("", "draw-regions=true");
  const Image image = noise(kWidth, kHeight, 44);
  for (const char* regions :
       {R"({"version": 1})",
        R"({"version": 1, "zones": [{"name": "far", "polygon": [[3, 3], [4, 3], [4, 4]]}],
                                "lines": []})"}) {
    set_regions(regions);
    const Pair pair = process(image);
    if (std::string(regions).find("far") == std::string::npos) {
      EXPECT_EQ(pair.drawn, pair.plain);
    } else {  // its name stays in the frame
      const Box corner = {kWidth - 60, kHeight - 30, kWidth, kHeight};
      EXPECT_GT(count_changes(pair.drawn, pair.plain, corner), 0u);
    }
  }
}

TEST_F(Drawing, RegionsFollowTheSizeOfFrames) {
  start("", "draw-regions=true");
  set_regions(kRegions);
  constexpr std::pair<uint32_t, uint32_t> kSizes[] = {
      {kWidth, kHeight}, {90, kHeight}, {90, 130}, {kWidth, kHeight}};
  for (const auto& [width, height] : kSizes) {
    for (Harness* each : {h.get(), plain.get()}) {
      ASSERT_TRUE(each->send_caps("GRAY8", width, height));
    }
    const Pair pair = process(noise(width, height, 45));
    EXPECT_EQ(pair.drawn, with_outlines(pair.plain, outlines_in(width, height), width, height)) << width;
  }
}

TEST_F(Drawing, RegionsOfFramesInFlight) {
  start("pipeline-depth=2", "draw-regions=true");
  const Image image = noise(kWidth, kHeight, 46);
  set_regions(kOneLine);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(h->push(image), GST_FLOW_OK);
    ASSERT_EQ(plain->push(image), GST_FLOW_OK);
    set_regions(nullptr);
  }
  const Pixels drawn = h->pixels(h->pull());
  EXPECT_EQ(drawn, with_outlines(plain->pixels(plain->pull()), kOneOutline, kWidth, kHeight));
}

/* Ids and trails */

/// Only confirmed tracks have them, and above the box.
TEST_F(Drawing, IdsAboveBoxes) {
  const auto text = static_cast<int32_t>(ccl::draw::scale_for(kHeight).text_height);
  for (const char* output : {"output=colorized", "output=overlay draw-boxes=true"}) {
    SCOPED_TRACE(output);
    start(std::string("track=true ") + output, "draw-ids=true");
    for (int32_t i = 0; i < 8; ++i) {
      const int32_t x = 20 + 4 * i;
      const Pair pair = process(square_at(static_cast<uint32_t>(x), 40));
      const Box above = {x - kReach, 40 - 2 * text, x + text + kReach, 40};
      const size_t count = count_changes(pair.drawn, pair.plain, above);
      EXPECT_EQ(count > 0, i >= 2) << i;
    }
    h->set("draw-ids", "false");
    Pair pair = process(square_at(52, 40));
    EXPECT_EQ(pair.drawn, pair.plain);
    h->set("draw-ids", "true");
    pair = process(square_at(56, 40));
    EXPECT_NE(pair.drawn, pair.plain);
  }
}

/// Behind the bottom centre of the box.
TEST_F(Drawing, TrailsBehindBoxes) {
  start("track=true", "draw-trails=true");
  size_t longest = 0;
  for (int32_t i = 0; i < 20; ++i) {
    const Pair pair = process(square_at(static_cast<uint32_t>(20 + 4 * i), 40));
    const int32_t bottom = 40 + int32_t{kSide};
    const Box path = {26 - kReach, bottom - kReach, 26 + 4 * i + kReach, bottom + kReach};
    const size_t count = count_changes(pair.drawn, pair.plain, path);
    EXPECT_EQ(count > 0, i >= 2) << i;
    longest = std::max(longest, count);
  }
  EXPECT_GT(longest, 4u * 19) << "of 20 places";
  h->set("draw-trails", "false");
  Pair pair = process(square_at(100, 40));
  EXPECT_EQ(pair.drawn, pair.plain);
  h->set("draw-trails", "true");
  pair = process(square_at(104, 40));
  EXPECT_NE(pair.drawn, pair.plain);
}

/// There are no ids and no trails then. Outlines do not need it.
TEST_F(Drawing, WithoutTrack) {
  start("output=overlay", "draw-ids=true draw-trails=true");
  for (uint32_t i = 0; i < 5; ++i) {
    const Pair pair = process(square_at(20 + 4 * i, 40));
    EXPECT_EQ(pair.drawn, pair.plain);
  }
  h->set("track", "true");
  Pair pair;
  for (uint32_t i = 5; i < 9; ++i) {
    pair = process(square_at(20 + 4 * i, 40));
  }
  EXPECT_NE(pair.drawn, pair.plain) << "from the confirmation on";
}

TEST_F(Drawing, NothingInOtherOutputs) {
  for (const char* output : {"labels", "mask", "background", "foreground", "passthrough"}) {
    SCOPED_TRACE(output);
    start(std::string("track=true track-confirm=1 output=") + output, kAll);
    set_regions(kRegions);
    for (uint32_t i = 0; i < 4; ++i) {
      const Pair pair = process(square_at(60 + 4 * i, 40));
      EXPECT_EQ(pair.drawn, pair.plain);
    }
  }
}

TEST_F(Drawing, AllInAnOutputThatChangesLive) {
  start("track=true track-confirm=1 output=mask", kAll);
  set_regions(kRegions);
  process(square_at(60, 40));
  for (const char* output : {"overlay", "mask", "colorized"}) {
    for (Harness* each : {h.get(), plain.get()}) {
      each->set("output", output);
    }
    process(square_at(64, 40));
    const Pair pair = process(square_at(68, 40));
    EXPECT_EQ(pair.drawn == pair.plain, std::string(output) == "mask") << output;
  }
}

}  // namespace cudaccl::test
