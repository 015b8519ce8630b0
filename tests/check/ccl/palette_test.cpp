// SPDX-License-Identifier: LGPL-2.1-or-later
/// Palettes whose colours can be distinguished, and the arithmetic of colours that both backends share.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "ccl/colors.h"

namespace ccl::test {

namespace {

struct Lab {
  double lightness, a, b;
};

/// CIE L*a*b* for daylight (D65), in which equal distances look about equally large.
Lab to_cielab(uint32_t rgb) {
  const auto linear = [](uint32_t v) {
    const double c = (v & 0xff) / 255.0;
    return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
  };
  const double red = linear(rgb >> 16);
  const double green = linear(rgb >> 8);
  const double blue = linear(rgb);
  const auto response = [](double t) {
    return t > 216.0 / 24389 ? std::cbrt(t) : (24389.0 / 27 * t + 16) / 116;
  };
  const double x = response((0.4124564 * red + 0.3575761 * green + 0.1804375 * blue) / 0.95047);
  const double y = response(0.2126729 * red + 0.7151522 * green + 0.0721750 * blue);
  const double z = response((0.0193339 * red + 0.1191920 * green + 0.9503041 * blue) / 1.08883);
  return {116 * y - 16, 500 * (x - y), 200 * (y - z)};
}

double difference(uint32_t one, uint32_t other) {
  const Lab p = to_cielab(one);
  const Lab q = to_cielab(other);
  return std::hypot(p.lightness - q.lightness, p.a - q.a, p.b - q.b);
}

constexpr double kNoticeable = 2.3;  ///< a difference that is just seen
constexpr double kClear = 5 * kNoticeable;

class PaletteTest : public testing::TestWithParam<Palette> {
 protected:
  /// The colour of a label; after its last colour the palette starts again.
  static uint32_t color(uint32_t i) {
    return palette_colors()[static_cast<size_t>(GetParam()) * kPaletteSize + i % kPaletteSize];
  }
};

TEST_P(PaletteTest, NeighboringLabelsDifferClearly) {
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    for (uint32_t distance = 1; distance <= 3; ++distance) {
      EXPECT_GT(difference(color(i), color(i + distance)), kClear)
          << "colours " << i << " and " << i + distance;
    }
  }
}

TEST_P(PaletteTest, SixtyFourConsecutiveLabelsDiffer) {
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    for (uint32_t distance = 1; distance < 64; ++distance) {
      EXPECT_GT(difference(color(i), color(i + distance)), kNoticeable)
          << "colours " << i << " and " << i + distance;
    }
  }
}

TEST_P(PaletteTest, AllColorsDiffer) {
  std::array<uint32_t, kPaletteSize> colors{};
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    colors[i] = color(i);
  }
  std::sort(colors.begin(), colors.end());
  EXPECT_EQ(std::adjacent_find(colors.begin(), colors.end()), colors.end());
}

/// Black is the usual background, white the colour of boxes.
TEST_P(PaletteTest, ColorsStandOutFromBlackAndBoxes) {
  for (uint32_t i = 0; i < kPaletteSize; ++i) {
    EXPECT_EQ(color(i) >> 24, 0xffu) << "colour " << i;
    EXPECT_GT(difference(color(i), 0x000000), 3 * kClear) << "colour " << i;
    EXPECT_GT(difference(color(i), kBoxColor), kNoticeable) << "colour " << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Categorical, PaletteTest, testing::Values(Palette::kGolden, Palette::kGlasbey),
                         [](const auto& info) {
                           return info.param == Palette::kGolden ? "golden" : "glasbey";
                         });

TEST(ViridisTest, GetsLighterFromBlueToYellow) {
  const uint32_t* colors =
      palette_colors().data() + static_cast<size_t>(Palette::kViridisByArea) * kPaletteSize;
  EXPECT_EQ(colors[0], 0xff440154u);
  EXPECT_EQ(colors[kPaletteSize - 1], 0xfffde725u);
  for (uint32_t i = 1; i < kPaletteSize; ++i) {
    EXPECT_GE(to_cielab(colors[i]).lightness, to_cielab(colors[i - 1]).lightness - 0.5) << "colour " << i;
    EXPECT_LT(difference(colors[i], colors[i - 1]), 2 * kNoticeable) << "colour " << i;
  }
}

TEST(MonoTest, IsWhite) {
  const uint32_t* colors = palette_colors().data() + static_cast<size_t>(Palette::kMono) * kPaletteSize;
  EXPECT_EQ(std::count(colors, colors + kPaletteSize, 0xffffffffu), kPaletteSize);
}

TEST(BlendTest, RoundsToNearestForEveryInput) {
  for (uint32_t alpha = 0; alpha < 256; ++alpha) {
    for (uint32_t over = 0; over < 256; ++over) {
      for (uint32_t under = 0; under < 256; ++under) {
        // Twice the distance from the exact quotient, in 255ths, is at most one step.
        const uint32_t got = blend(over, under, static_cast<uint8_t>(alpha)) & 0xff;
        const auto error =
            static_cast<int32_t>(got * 255) - static_cast<int32_t>(over * alpha + under * (255 - alpha));
        ASSERT_LE(2 * std::abs(error), 255) << over << " over " << under << " with alpha " << alpha;
      }
    }
  }
}

TEST(BlendTest, ChannelsDoNotTouchEachOther) {
  EXPECT_EQ(blend(0xff00ff00, 0x00ff00ff, 255), 0xff00ff00u);
  EXPECT_EQ(blend(0xff00ff00, 0x00ff00ff, 0), 0x00ff00ffu);
  EXPECT_EQ(blend(0x10203040, 0x10203040, 77), 0x10203040u);
}

TEST(GreyTest, LimitedRangeIsStretched) {
  EXPECT_EQ(grey(0, true), 0xff000000u);
  EXPECT_EQ(grey(16, true), 0xff000000u);
  EXPECT_EQ(grey(17, true), 0xff010101u);
  EXPECT_EQ(grey(234, true), 0xfffefefeu);
  EXPECT_EQ(grey(235, true), 0xffffffffu);
  EXPECT_EQ(grey(255, true), 0xffffffffu);
  EXPECT_EQ(grey(77, false), 0xff4d4d4du);
}

}  // namespace

}  // namespace ccl::test
