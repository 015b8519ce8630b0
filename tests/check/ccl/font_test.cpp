// SPDX-License-Identifier: LGPL-2.1-or-later
/// The font: its characters differ, stay in their grid, are round where they must be, and grow with the
/// frame.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ccl/config.h"
#include "ccl/draw/font.h"
#include "ccl/draw/scale.h"
#include "ccl/draw/stroke.h"

namespace ccl::test {

namespace {

using draw::kSubpixels;
using draw::Place;
using draw::Stroke;

constexpr std::string_view kCharacters =
    "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.,:-_/+=#'\"&%*()[]<>!?";

/// Pixels of a character, of a frame of 1080 rows.
std::vector<uint32_t> picture_of(char32_t character) {
  const draw::Scale scale = draw::scale_for(1080);
  std::vector<uint32_t> picture;
  const std::vector<Stroke> path = trace(draw::find_glyph(character), scale.text_height, {64, 64});
  for (int32_t y = 0; y < 36; ++y) {
    for (int32_t x = 0; x < 28; ++x) {
      uint32_t line = 0;
      for (const Stroke& stroke : path) {
        line = std::max(line, draw::cover(distance(stroke, x, y), scale.text.radius));
      }
      picture.push_back(line);
    }
  }
  return picture;
}

/// No two characters may be taken for each other: some of their pixels are opposite. O and 0 differ in their
/// width alone, and ids have digits only.
TEST(FontTest, CharactersDiffer) {
  std::map<char, std::vector<uint32_t>> pictures;
  for (const char c : kCharacters) {
    pictures[c] = picture_of(static_cast<unsigned char>(c));
    ASSERT_EQ(draw::find_glyph(static_cast<unsigned char>(c)).character, c);
  }
  pictures['\0'] = picture_of(0x263a);
  for (const auto& [a, one] : pictures) {
    for (const auto& [b, other] : pictures) {
      uint32_t n_opposite = 0;
      for (size_t i = 0; i < one.size(); ++i) {
        n_opposite += std::max(one[i], other[i]) - std::min(one[i], other[i]) > 200 ? 1 : 0;
      }
      if (a < b) {
        EXPECT_GE(n_opposite, 4u) << a << " and " << b;
      }
    }
  }
}

TEST(FontTest, GlyphsLieInTheirGrid) {
  for (const char c : kCharacters) {
    const draw::Glyph& glyph = draw::find_glyph(static_cast<unsigned char>(c));
    const std::vector<Stroke> path = trace(glyph, 80, {0, 0});
    ASSERT_FALSE(path.empty()) << c;
    int32_t right = 0;
    for (const Stroke& stroke : path) {
      for (const Place& place : {stroke.from, stroke.to}) {
        EXPECT_TRUE(place.x >= 0 && place.y >= 0 && place.y <= 100 * kSubpixels) << c;
        right = std::max(right, place.x);
      }
    }
    EXPECT_LE(right, glyph.width * 10 * kSubpixels) << c;
    EXPECT_GE(right, (glyph.width - 1) * 10 * kSubpixels) << c;
  }
}

TEST(FontTest, CurvesAreRound) {
  // The left of '0' is a quarter of a parabola from (2, 0) by (0, 0) to (0, 2); its middle is (0.5, 0.5).
  const std::vector<Stroke> path = trace(draw::find_glyph('0'), 80, {0, 0});
  const auto has = [&](int32_t x, int32_t y) {
    return std::any_of(path.begin(), path.end(), [&](const Stroke& s) { return s.from == Place{x, y}; });
  };
  EXPECT_TRUE(has(80, 80));
  EXPECT_TRUE(has(560, 80));  // on the right
  EXPECT_TRUE(has(320, 0));
  // Between two control points of 'm' lies a point of the line: the top of its left arch.
  const std::vector<Stroke> arches = trace(draw::find_glyph('m'), 80, {0, 0});
  EXPECT_TRUE(std::any_of(arches.begin(), arches.end(), [](const Stroke& s) {
    return s.to == Place{15 * kSubpixels, 30 * kSubpixels};
  }));
}

TEST(FontTest, AnyBytesAreText) {
  const draw::Scale scale = draw::scale_for(480);
  const auto width = [&](std::string_view text) { return draw::TextLine(text, scale).width(); };
  EXPECT_GT(width("ab"), width("a"));
  EXPECT_EQ(width("\xc3\xbc"), width("?"));          // ü: one box, as wide as most glyphs
  EXPECT_EQ(width("\xe2\x82\xac"), width("?"));      // €
  EXPECT_EQ(width("\xf0\x9f\x9a\x97"), width("?"));  // a car
  EXPECT_EQ(width("\xff\xff"), width("??"));         // no UTF-8
  EXPECT_EQ(width("\xe2\x82"), width("?"));          // cut off
  EXPECT_EQ(width("\xe2"
                  "a"),
            width("?a"));
  EXPECT_EQ(draw::TextLine("", scale).trace(3, 3).size(), 0u);
}

/// With 32 bits, the places of later characters would begin again at the first one.
TEST(FontTest, LongTextsEndBehindAllFrames) {
  const draw::Scale scale = draw::scale_for(draw::kMaxScaledHeight);
  const draw::TextLine text(std::string(1'000'000, 'M'), scale);
  EXPECT_GT(text.width(), kMaxDimension);
  int32_t x = 0;
  for (const draw::Stroke& stroke : text.trace(0, 0)) {
    const int32_t width = static_cast<int32_t>(2 * scale.text_height) * draw::kSubpixels;
    ASSERT_GT(stroke.from.x, x - width);
    x = stroke.from.x;
  }
}

TEST(ScaleTest, GrowsWithTheFrameUpToALimit) {
  uint32_t before = 0;
  for (const uint32_t height : {1u, 240u, 480u, 1080u, 2160u, 4320u}) {
    const draw::Scale scale = draw::scale_for(height);
    EXPECT_GT(scale.text_height, before);
    EXPECT_LT(scale.text.rim, draw::kFar - draw::kHalfPixel);
    const draw::DigitFont font(scale);
    EXPECT_LE(font.cells().width, 2 * font.cells().advance);  // see caption_coverage()
    before = scale.text_height;
  }
  EXPECT_EQ(draw::scale_for(32768), draw::scale_for(4320));
}

}  // namespace

}  // namespace ccl::test
