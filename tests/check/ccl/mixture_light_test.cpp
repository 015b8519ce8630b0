// SPDX-License-Identifier: LGPL-2.1-or-later
/// The mixture in a frame in which the light changes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

#include "ccl/segment/mixture.h"
#include "motion_scene.h"

namespace ccl::test {

namespace {

using mixture::Color;
using mixture::Mode;
using mixture::Pixel;

/// A scene whose light changes in frame 130, with an object in view from frame 100 on.
class MixtureLight : public testing::Test {
 protected:
  static constexpr int kSwitch = 130;
  static constexpr int kSettled = kSwitch + 10;

  MixtureLight() { stream_.motion.model = BackgroundModel::kMixture; }

  void show(int frame, const Square& square, double factor) {
    Picture picture = scene();
    if (frame >= 100) {
      draw(square, 25, &picture);  // too dark for a shadow
    }
    if (frame >= kSwitch) {
      for (uint8_t& value : picture.luma) {
        value = static_cast<uint8_t>(16 + (value - 16) * factor);
      }
      std::fill(picture.u.begin(), picture.u.end(), static_cast<uint8_t>(picture.u[0] - 12));
    }
    picture.add_noise(&random_, 2);
    stream_.push(picture, 33 * kMs * frame);
  }

  /// The object stands for a while, so that a model that learns it has a ghost where it stood.
  void expect_no_ghost(double factor) {
    const Square stood = {30, 20, 12};
    for (int i = 0; i < 200; ++i) {
      const Square square = i < kSwitch ? stood : Square{std::min(30u + 4 * (i - kSwitch), 80u), 20, 12};
      show(i, square, factor);
      ASSERT_EQ(stream_.is_relearning(), i < 31 || (i >= kSwitch && i < kSwitch + 8)) << i;
      if (i >= kSettled) {
        ASSERT_EQ(stream_.count(stood), 0u) << i;
        ASSERT_EQ(stream_.count(), stream_.count(square)) << i;
      }
      if (i >= kSettled && i < kSettled + 10) {
        ASSERT_GE(stream_.count(square), 108u) << i;
      }
    }
  }

  Stream stream_{96, 64};
  std::mt19937 random_{7};
};

TEST_F(MixtureLight, AnObjectLeavesNoGhostInALighterFrame) {
  expect_no_ghost(1.6);
}

TEST_F(MixtureLight, AnObjectLeavesNoGhostInADarkerFrame) {
  expect_no_ghost(0.5);
}

/// What an object may hide is background, but so is what the frame shows.
TEST_F(MixtureLight, WhatIsNoGainIsLearnt) {
  for (int i = 0; i < 200; ++i) {
    Picture picture = scene();
    for (uint32_t at = 0; i >= kSwitch && at < picture.luma.size(); ++at) {
      picture.luma[at] = static_cast<uint8_t>(at % 96 < 48 ? picture.luma[at] + 70 : picture.luma[at] - 60);
    }
    picture.add_noise(&random_, 2);
    stream_.push(picture, 33 * kMs * i);
    if (i >= kSettled) {
      ASSERT_FALSE(stream_.is_relearning()) << i;
      ASSERT_EQ(stream_.count(), 0u) << i;
    }
  }
}

/// From the definition, in floating point.
struct Expected {
  double y, u, v;
};

TEST(MixtureRelearning, HasAModeForTheFrameAndOneForWhatWasKnown) {
  std::mt19937 random(11);
  uint32_t n_both = 0;
  uint32_t n_clipped = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto between = [&](int low, int high) {
      return low + static_cast<int>(random() % static_cast<uint32_t>(high - low + 1));
    };
    const int gain = between(1000, 16'000);
    const int tint_u = between(-900, 900);
    const int tint_v = between(-900, 900);
    const int y = between(0, 255), u = between(90, 170), v = between(90, 170);
    const auto variance = static_cast<uint32_t>(between(4 << 8, 75 << 8));
    const Mode<WordLane> first = {60'000, static_cast<uint32_t>(y) << 8, variance,
                                  static_cast<uint32_t>(u | v << 8)};
    const double g = gain / 4096.0;
    Expected known;
    known.y = y < 16 ? y : std::min(255.0, std::floor(16 + (y - 16) * g + 0.5));
    const double above = std::max(0.0, known.y - 16);
    known.u = std::clamp(std::floor(128 + (u - 128) * g + tint_u * above / 4096), 0.0, 255.0);
    known.v = std::clamp(std::floor(128 + (v - 128) * g + tint_v * above / 4096), 0.0, 255.0);
    n_clipped += known.u == 0 || known.u == 255 ? 1 : 0;
    const int off = between(0, 3) * between(-6, 6);
    const Color<WordLane> color = {static_cast<uint32_t>(std::clamp(static_cast<int>(known.y) + off, 0, 255)),
                                   static_cast<uint32_t>(known.u),
                                   static_cast<uint32_t>(std::min(known.v + i % 3, 255.0))};
    const Pixel<WordLane> pixel = mixture::relearn(
        {.gain = static_cast<uint32_t>(gain), .tint_u = tint_u, .tint_v = tint_v}, first, color);

    const Mode<WordLane>& seen = pixel.modes[0];
    ASSERT_EQ(seen.mean, color.y << 8);
    ASSERT_EQ(seen.chroma, color.u | color.v << 8);
    ASSERT_NEAR(seen.variance, std::min(75.0 * 256, variance * std::max(1.0, g * g)), 6) << i;
    const double dy = known.y - color.y, du = known.u - color.u, dv = known.v - color.v;
    const bool is_same = 256 * (dy * dy + 2 * du * du + 2 * dv * dv) <= seen.variance;
    ASSERT_EQ(seen.weight + pixel.modes[1].weight, mixture::kFullWeight);
    ASSERT_EQ(pixel.modes[1].weight != 0, !is_same) << i;
    ASSERT_EQ(pixel.modes[2].weight, 0u);
    if (!is_same) {
      ++n_both;
      ASSERT_GE(seen.weight, pixel.modes[1].weight);
      ASSERT_GE(pixel.modes[1].weight, mixture::kBackgroundWeight);
      ASSERT_EQ(pixel.modes[1].mean, static_cast<uint32_t>(known.y) << 8) << i;
      ASSERT_EQ(pixel.modes[1].u(), known.u) << i;
      ASSERT_EQ(pixel.modes[1].v(), known.v) << i;
      ASSERT_EQ(pixel.modes[1].variance, seen.variance);
    }
  }
  EXPECT_GE(n_both, 1000u);
  EXPECT_LE(n_both, 19'000u);
  EXPECT_GE(n_clipped, 10u);
}

/// A light that doubles the luma and adds 1/8 of it to U, and takes 1/16 of it from V.
TEST(MixtureRelearning, FindsTheGainAndTheColourOfTheLight) {
  light::ColorSums sums = {};
  for (const uint32_t y : {32u, 48u, 80u, 96u}) {
    for (const uint32_t u : {120u, 130u}) {
      const uint32_t now = 16 + 2 * (y - 16);
      const Mode<WordLane> first = {60'000, y << 8, 1024, u | 128u << 8};
      mixture::add(first, {now, 128 + 2 * u - 256 + (now - 16) / 8, 128 - (now - 16) / 16}, &sums);
    }
  }
  const light::ColorSums before = sums;
  mixture::add({60'000, 15u << 8, 1024, 0}, {200, 0, 0}, &sums);     // black
  mixture::add({60'000, 100u << 8, 1024, 0}, {230, 255, 0}, &sums);  // cut off
  EXPECT_EQ(sums.luma.now, before.luma.now);
  EXPECT_EQ(sums.u_now, before.u_now);
  EXPECT_EQ(light::change(sums),
            (light::Change{.gain = 2 * light::kUnchanged, .tint_u = 4096 / 8, .tint_v = -4096 / 16}));
  EXPECT_EQ(light::change({}), light::Change());
  EXPECT_EQ(light::tint(1'000'000, 0, 1, light::kUnchanged), light::kMaxTint);
  EXPECT_EQ(light::tint(-1'000'000, 0, 1, light::kUnchanged), -light::kMaxTint);
  EXPECT_EQ(light::tint(1, 0, 4096 * 2, light::kUnchanged), 0) << "towards zero";
  EXPECT_EQ(light::tint(-1, 0, 4096 * 2, light::kUnchanged), 0);
}

}  // namespace

}  // namespace ccl::test
