// SPDX-License-Identifier: LGPL-2.1-or-later
/// When ghosts go, and what it learns where a change of light cuts off luma at
/// white.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>

#include "ccl/segment/light.h"
#include "ccl/segment/sigma_delta.h"
#include "motion_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kLumaThreshold = 6;

class GhostTest : public Scene, public testing::Test {
 protected:
  explicit GhostTest(BackgroundModel model = BackgroundModel::kSigmaDelta) : Scene(model) {}

  static void draw_chroma(const Square& square, uint8_t u, Picture* picture) {
    for (uint32_t y = square.y / 2; y < (square.y + square.side) / 2; ++y) {
      std::fill_n(picture->u.begin() + y * picture->chroma_width() + square.x / 2, square.side / 2, u);
    }
  }

  /// On a texture, no pixel is like the ones around it. The object stands from the first frame on.
  void expect_no_lasting_ghost(int64_t stood_ms, uint8_t luma, int64_t learnt_ms) {
    Picture background = scene();
    background.change_luma([&](int value) { return value + random_() % 24; });
    const Square ghost = {40, 20, 16};
    Picture picture = background;
    draw(ghost, luma, &picture);
    show(picture, stood_ms);
    show(background, 100);
    EXPECT_GE(stream_.count(ghost), 180u);
    show(background, learnt_ms);
    EXPECT_LE(stream_.count(ghost), 8u);
    const Square object = {10, 30, 16};
    draw(object, 220, &background);
    show(background, 6'000);
    EXPECT_GE(stream_.count(object), 250u);
  }
};

class MixtureGhostTest : public GhostTest {
 protected:
  MixtureGhostTest() : GhostTest(BackgroundModel::kMixture) {}
};

TEST_F(GhostTest, AGhostOnATextureDissolvesAndAnObjectThatStandsDoesNot) {
  expect_no_lasting_ghost(6'000, 20, 6'500);
}

TEST_F(MixtureGhostTest, AGhostOnATextureDissolvesAndAnObjectThatStandsDoesNot) {
  expect_no_lasting_ghost(30'000, 200, 6'000);
}

/// It has the luma of the background beside it, but another colour.
TEST_F(GhostTest, AnObjectThatStandsIsNotLearntFromTheBackgroundBesideIt) {
  Picture background(96, 64);
  for (uint32_t y = 0; y < 64; ++y) {
    std::fill_n(background.luma.begin() + y * 96, 40, uint8_t{60});
  }
  const Square square = {40, 20, 16};
  Picture picture = background;
  draw(square, 60, &picture);
  draw_chroma(square, 60, &picture);
  show(background, 25'000);
  show(picture, 10'000);
  EXPECT_EQ(stream_.count(square), 256u);
  show(background, 100);
  EXPECT_EQ(stream_.count(), 0u);
}

uint32_t relearnt_variance(bool keeps_objects, uint32_t gain, const sigma_delta::Pixel<ByteLane>& old,
                           uint32_t value) {
  return sigma_delta::relearn({.keeps_objects = keeps_objects, .gain = gain, .margin = kLumaThreshold}, old,
                              value)
      .variance;
}

TEST(ClippedLuma, HasALargeVarianceAfterAChangeOfLight) {
  constexpr uint32_t kDarker = light::kUnchanged / 2;
  constexpr uint32_t kLighter = light::kUnchanged * 3 / 2;
  constexpr uint32_t kDiffered = sigma_delta::kDiffered;
  constexpr uint32_t kLarge = sigma_delta::kClippedVariance;
  EXPECT_EQ(relearnt_variance(true, kDarker, {230, 2, 0}, 229), kLarge);
  EXPECT_EQ(relearnt_variance(true, kDarker, {229, 2, 0}, 120), 2u) << "it was not cut off";
  EXPECT_EQ(relearnt_variance(true, kDarker, {235, 2, 0}, 230), 2u) << "it still is";
  EXPECT_EQ(relearnt_variance(true, kDarker, {235, 60, 0}, 150), 60u) << "it does not fall";
  EXPECT_EQ(relearnt_variance(false, kDarker, {235, 2, 0}, 150), 2u) << "nothing is known";
  // Behind an object.
  EXPECT_EQ(relearnt_variance(true, kDarker, {230, 2, kDiffered}, 40), kLarge);
  EXPECT_EQ(relearnt_variance(true, kDarker, {229, 2, kDiffered}, 40), 2u);
  EXPECT_EQ(relearnt_variance(true, kLighter, {159, 2, kDiffered}, 40), kLarge) << "expected: 231";
  EXPECT_EQ(relearnt_variance(true, kLighter, {158, 2, kDiffered}, 40), 6u) << "expected: 229";
}

/// In the old light both the sky and an object in front of it were white.
TEST_F(GhostTest, AnObjectThatWasCutOffLeavesNoGhost) {
  constexpr int kSwitch = 130;
  for (int i = 0; i < 200; ++i) {
    const bool is_changed = i >= kSwitch;
    Picture picture(96, 64);
    std::fill_n(picture.luma.begin(), 96 * 32, static_cast<uint8_t>(is_changed ? 190 : 235));
    std::fill(picture.luma.begin() + 96 * 32, picture.luma.end(),
              static_cast<uint8_t>(is_changed ? 72 : 100));
    const Square square = {static_cast<uint32_t>(i < kSwitch ? 10 : 10 + i - kSwitch), 10, 12};
    draw(square, is_changed ? 158 : 235, &picture);
    stream_.push(picture, 33 * kMs * i);
    if (i >= kSwitch + 20) {
      ASSERT_FALSE(stream_.is_relearning()) << i;
      ASSERT_EQ(stream_.count({10, 10, 20}), 0u) << i;
    }
  }
}

}  // namespace

}  // namespace ccl::test
