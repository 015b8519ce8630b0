// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background models on small scenes, and their clock.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <utility>

#include "ccl/segment/light.h"
#include "ccl/segment/mixture.h"
#include "motion_scene.h"

namespace ccl::test {

namespace {

class MotionTest : public ChangingLight, public testing::TestWithParam<BackgroundModel> {
 protected:
  MotionTest() : ChangingLight(GetParam()) {}

  using Scene::show;

  Picture background_ = scene();
  Square square_ = {40, 20, 16};
};

TEST_P(MotionTest, AStillSceneHasNoForeground) {
  for (int i = 0; i < 300; ++i) {
    show(background_, 1, 3);
    ASSERT_EQ(stream_.count(), 0u) << i;
    ASSERT_EQ(stream_.is_relearning(), i * kFrame < stream_.motion.warm_up_ms * kMs) << i;
  }
}

TEST_P(MotionTest, AMovingObjectIsFound) {
  show(background_, 1500);
  for (uint32_t x = 0; x < 70; ++x) {
    Picture picture = background_;
    const Square square = {x, 20, 16};
    draw(square, 200, &picture);
    show(picture, 1);
    ASSERT_GE(stream_.count(square), 250u) << x;
    ASSERT_LE(stream_.count(), 260u) << x;
  }
}

TEST_P(MotionTest, AnObjectThatStaysBecomesBackground) {
  stream_.motion.learning_ms = 3000;
  show(background_, 12'000);
  Picture picture = background_;
  draw(square_, 200, &picture);
  show(picture, 2000);
  EXPECT_GE(stream_.count(square_), 250u);
  show(picture, 2000);
  EXPECT_EQ(stream_.count(), 0u);
}

TEST_P(MotionTest, AGhostStaysNoLongerThanTheObjectStood) {
  Picture picture = background_;
  draw(square_, 20, &picture);
  show(picture, 8'000);
  show(background_, 100);
  EXPECT_GE(stream_.count(square_), 180u);  // the pixels around explain the outermost ones
  show(background_, 8'500);
  EXPECT_EQ(stream_.count(), 0u);
}

/// The kernels of the GPU read a mode only if the one before it has weight.
TEST(Mixture, ModesStayInTheOrderOfTheirWeights) {
  std::mt19937 random(3);
  uint32_t n_full = 0;
  for (uint32_t i = 0; i < 200; ++i) {
    mixture::Pixel<WordLane> pixel = mixture::initialize<WordLane>({100, 128, 128}, 0, false);
    for (uint32_t frame = 0; frame < 100; ++frame) {
      const mixture::Rates rates = {.weight = static_cast<uint16_t>(random() % (i % 2 == 0 ? 200 : 32769)),
                                    .prune = static_cast<uint16_t>(random() % (i % 3 == 0 ? 2 : 1025)),
                                    .mean = static_cast<uint16_t>(random() % 2049),
                                    .chroma = static_cast<uint8_t>(random() % 9)};
      pixel.modes[0].variance |= random() % 8 == 0 ? mixture::kGhost : 0;
      pixel = mixture::update<WordLane>(rates, pixel, {static_cast<uint32_t>(random() % 5) * 60, 128, 128});
      for (uint32_t k = 1; k < mixture::kModes; ++k) {
        ASSERT_GE(pixel.modes[k - 1].weight, pixel.modes[k].weight) << i << ", frame " << frame;
      }
      ASSERT_LE(pixel.modes[0].variance, mixture::kMaxVariance);
      n_full += pixel.modes[mixture::kModes - 1].weight > 0 ? 1 : 0;
    }
  }
  EXPECT_GE(n_full, 1000u);
}

TEST_P(MotionTest, ALightSwitchIsLearntAtOnce) {
  show(background_, 4000);
  Picture bright = background_;
  bright.change_luma([&](int value) { return value + 60; });
  show(bright, 1);
  EXPECT_TRUE(stream_.is_relearning());
  EXPECT_EQ(stream_.count(), 0u);
  for (int i = 0; i < 9; ++i) {
    show(bright, 1);
    EXPECT_EQ(stream_.count(), 0u);
  }
  EXPECT_FALSE(stream_.is_relearning());
  draw(square_, 20, &bright);
  show(bright, 1);
  EXPECT_FALSE(stream_.is_relearning());
  EXPECT_GE(stream_.count(square_), 250u);
}

/// The object is in view when the light changes, and moves on: it is found, and leaves no ghost.
TEST(Light, AnObjectIsNotLearntWithTheNewLight) {
  MotionStream stream(96, 64);
  std::mt19937 random(7);
  for (int i = 0; i < 200; ++i) {
    const bool is_bright = i >= 130;
    Picture picture = scene();
    const Square square = {static_cast<uint32_t>(i < 100 ? 80 : 10 + (i - 100) / 2), 20, 12};
    if (i >= 100) {
      draw(square, 30, &picture);
    }
    picture.change_luma([&](int value) { return is_bright ? value * 13 / 8 : value; });
    picture.add_noise(&random, 2);
    stream.push(picture, 33 * kMs * i);
    ASSERT_EQ(stream.is_relearning(), i < 31 || (i >= 130 && i < 138)) << i;
    if (i >= 138) {
      ASSERT_GE(stream.count(square), 100u) << i;
      ASSERT_LE(stream.count(), 170u) << i;
    }
  }
}

class SigmaDeltaLight : public ChangingLight, public testing::Test {
 protected:
  void expect_only(const Square& square, int frame) {
    ASSERT_FALSE(stream_.is_relearning()) << frame;
    ASSERT_GE(stream_.count(square), size_t{square.side} * square.side * 3 / 4) << frame;
    ASSERT_EQ(stream_.count(), stream_.count(square)) << frame;
  }

  void move_fast(double factor) {
    for (int i = 0; i < 200; ++i) {
      const Square square = {static_cast<uint32_t>(i < 100 ? 0 : (i - 100) * 5 % 70), 20, 12};
      show(i, square, factor);
      if (i >= kSettled) {
        expect_only(square, i);
      }
    }
  }
};

/// In the frame in which the light changes, a fast object covers pixels that it did not cover before.
TEST_F(SigmaDeltaLight, AFastObjectLeavesNoGhostInALighterFrame) {
  move_fast(1.6);
}

TEST_F(SigmaDeltaLight, AFastObjectLeavesNoGhostInADarkerFrame) {
  move_fast(0.5);
}

TEST_F(SigmaDeltaLight, AnObjectThatStandsIsFoundAndLeavesNoGhost) {
  const Square stays = {40, 20, 12};
  for (int i = 0; i < 200; ++i) {
    const Square square = i < 160 ? stays : Square{40 + static_cast<uint32_t>(i - 160), 20, 12};
    show(i, square);
    if (i >= kSettled) {
      expect_only(square, i);
    }
  }
}

/// Another picture is no change of light: what does not fit a gain is not kept.
TEST_P(MotionTest, WhatIsNoGainIsLearnt) {
  for (int i = 0; i < 200; ++i) {
    Picture picture = scene();
    for (uint32_t at = 0; i >= kSwitch && at < picture.luma.size(); ++at) {
      picture.luma[at] = static_cast<uint8_t>(at % 96 < 48 ? picture.luma[at] + 70 : picture.luma[at] - 60);
    }
    show(picture, 1);
    if (i >= kSettled) {
      ASSERT_FALSE(stream_.is_relearning()) << i;
      ASSERT_EQ(stream_.count(), 0u) << i;
    }
  }
}

/// It comes just after the light has changed, and differs too little to be found. It must not become
/// background at once.
TEST_F(SigmaDeltaLight, ADarkFrameDoesNotLearnAFaintObjectFast) {
  const Square stays = {40, 20, 12};
  std::vector<uint8_t> luma(96 * 64);
  uint32_t before = 0;
  for (int i = 0; i < kSettled; ++i) {
    Picture picture = scene();
    if (i > kSwitch) {
      draw(stays, static_cast<uint8_t>(picture.luma[20 * 96 + 40] + 12), &picture);
    }
    if (i >= kSwitch) {
      picture.change_luma([&](int value) { return 16 + (value - 16) * 2 / 5; });
    }
    stream_.push(picture, 33 * kMs * i);
    ASSERT_TRUE(stream_.background().read_luma(luma.data(), 96));
    before = i == kSwitch - 1 ? luma[26 * 96 + 44] : before;
  }
  const auto known = static_cast<int>(light::relight(before, light::kUnchanged * 2 / 5));
  EXPECT_NEAR(luma[26 * 96 + 44], known, 2);
}

/// What is learnt in a dark frame is less exact in a lighter one.
TEST(Light, VariancesGrowWithTheGain) {
  const auto relit = [](uint32_t variance, uint32_t margin, double gain) {
    return light::relight_variance(variance, margin, static_cast<uint32_t>(light::kUnchanged * gain), 64);
  };
  EXPECT_EQ(relit(4, 6, 2.5), 19u) << "10 levels become 25";
  EXPECT_EQ(relit(4, 6, 2.25), 16u) << "22.5 is rounded down";
  EXPECT_EQ(relit(4, 6, 1), 4u);
  EXPECT_EQ(relit(4, 6, 0.5), 4u);
  EXPECT_EQ(relit(40, 6, 2), 64u);
  EXPECT_EQ(relit(100, 6, 2), 100u) << "it does not fall";
  const sigma_delta::Relearning how = {.keeps_objects = true, .gain = 2 * light::kUnchanged, .margin = 6};
  EXPECT_EQ(sigma_delta::relearn(how, {100, 4, 0}, 184).variance, 14u);
  EXPECT_EQ(sigma_delta::relearn(how, {100, 4, sigma_delta::kDiffered}, 20).variance, 14u);
  EXPECT_EQ(sigma_delta::relearn_chroma(how, {120, 130, 4, 120, 130}, false, 110, 140).variance, 14u);
  EXPECT_EQ(sigma_delta::relearn_chroma(how, {120, 130, 4, 120, 130}, true, 110, 140).variance,
            sigma_delta::kUnknownVariance);
}

TEST(Light, GainIsRoundedAndBounded) {
  EXPECT_EQ(light::gain({0, 0}), light::kUnchanged);
  EXPECT_EQ(light::gain({3, 2}), light::kUnchanged * 3 / 2);
  EXPECT_EQ(light::gain({2, 3}), 2731u);
  EXPECT_EQ(light::gain({1'000'000, 1}), light::kMaxGain);
  EXPECT_EQ(light::relight(100, light::kUnchanged), 100u);
  EXPECT_EQ(light::relight(101, light::kUnchanged * 3 / 2), 144u);
  EXPECT_EQ(light::relight(200, light::kUnchanged * 2), 255u);
  EXPECT_EQ(light::relight(255, light::kMaxGain), 255u);
  EXPECT_EQ(light::relight(light::kBlack, light::kMaxGain), light::kBlack);
  EXPECT_EQ(light::relight(3, light::kMaxGain), 3u);
  EXPECT_TRUE(light::keeps_objects(25, 100));
  EXPECT_FALSE(light::keeps_objects(26, 100));
  EXPECT_TRUE(light::keeps_misfits(100, 1600));
  EXPECT_FALSE(light::keeps_misfits(101, 1600));
  EXPECT_TRUE(light::fits(106, 50, 96, 4)) << "16th of 96, and the margin";
  EXPECT_FALSE(light::fits(107, 50, 96, 4));
  EXPECT_FALSE(light::fits(85, 50, 96, 4));
  EXPECT_TRUE(light::fits(light::kClipped, 200, 255, 0)) << "cut off";
  EXPECT_TRUE(light::fits(40, light::kClipped, 255, 0)) << "was cut off";
}

TEST_P(MotionTest, NoChangeOfLightIsTooLargeIfAllOfTheFrameMayChange) {
  stream_.motion.max_change = 1024;
  show(background_, 4000);
  Picture bright = background_;
  bright.change_luma([&](int value) { return value + 60; });
  show(bright, 1);
  EXPECT_FALSE(stream_.is_relearning());
  EXPECT_EQ(stream_.count(), 96u * 64);
}

TEST_P(MotionTest, ASlowRampIsFollowed) {
  show(background_, 3000);
  for (int i = 0; i < 300; ++i) {
    Picture picture = background_;
    picture.change_luma([&](int value) { return value + i / 5; });
    show(picture, 1);
    ASSERT_LE(stream_.count(), 60u) << i;  // 1 %
    ASSERT_FALSE(stream_.is_relearning());
  }
}

TEST_P(MotionTest, AResetLearnsAnew) {
  show(background_, 3000);
  Picture picture = background_;
  draw(square_, 200, &picture);
  stream_.push(picture, time_, true, true);
  EXPECT_TRUE(stream_.is_relearning());
  EXPECT_EQ(stream_.count(), 0u);
  show(picture, 1500);
  EXPECT_FALSE(stream_.is_relearning());
  EXPECT_EQ(stream_.count(), 0u);
}

/// How long an object stays foreground, with frames of `step_ms`.
int64_t absorption_time(BackgroundModel model, int64_t step_ms) {
  MotionStream stream(96, 64);
  stream.motion.model = model;
  stream.motion.learning_ms = 3000;
  int64_t time = 0;
  for (; time < 12'000; time += step_ms) {
    stream.push(scene(), time * kMs);
  }
  Picture picture = scene();
  const Square square = {40, 20, 16};
  draw(square, 200, &picture);
  const int64_t begin = time;
  do {
    stream.push(picture, time * kMs);
    time += step_ms;
  } while (stream.count(square) > 128 && time < begin + 10'000);
  return time - begin;
}

TEST_P(MotionTest, DroppedFramesDoNotSlowLearning) {
  const int64_t all = absorption_time(GetParam(), 20);
  EXPECT_NEAR(all, 3000, 300);
  for (const int64_t step : {40, 100, 400}) {
    EXPECT_NEAR(absorption_time(GetParam(), step), all, 100 + 2 * step) << step;
  }
}

TEST_P(MotionTest, ColorIsForeground) {
  show(background_, 2000);
  Picture picture = background_;
  for (uint32_t y = 10; y < 18; ++y) {
    std::fill_n(picture.u.begin() + y * picture.chroma_width() + 20, 8, uint8_t{150});
  }
  show(picture, 1);
  EXPECT_EQ(stream_.count({40, 20, 16}), 256u);
  EXPECT_EQ(stream_.count(), 256u);
}

TEST_P(MotionTest, AShadowIsBackground) {
  show(background_, 2000);
  Picture picture = background_;
  for (uint32_t y = 20; y < 36; ++y) {
    for (uint32_t x = 40; x < 56; ++x) {
      uint8_t& luma = picture.luma[y * 96 + x];
      luma = static_cast<uint8_t>(16 + (luma - 16) * 3 / 4);
      picture.u[y / 2 * 48 + x / 2] = 122;  // 128 − 0.75 · 8
      picture.v[y / 2 * 48 + x / 2] = 137;  // 128 + 0.75 · 12
    }
  }
  stream_.push(picture, time_);
  EXPECT_EQ(stream_.count(), 0u);
  stream_.motion.shadows = false;
  stream_.push(picture, time_ + kFrame);
  EXPECT_GE(stream_.count(square_), 250u);
}

TEST_P(MotionTest, SensitivityFindsWeakContrasts) {
  show(background_, 2000, 1);
  Picture picture = background_;
  for (uint32_t y = 20; y < 36; ++y) {
    for (uint32_t x = 40; x < 56; ++x) {
      picture.luma[y * 96 + x] = static_cast<uint8_t>(picture.luma[y * 96 + x] + 12);
    }
  }
  size_t before = 0;
  for (const uint8_t sensitivity : {0, 50, 100}) {
    stream_.motion.sensitivity = sensitivity;
    stream_.push(picture, time_);
    time_ += kFrame;
    EXPECT_GE(stream_.count(square_), before);
    before = stream_.count(square_);
    EXPECT_EQ(before > 128, sensitivity >= 50) << +sensitivity;
  }
}

TEST_P(MotionTest, TheBackgroundCanBeRead) {
  std::vector<uint8_t> luma(96 * 64), u(48 * 32), v(48 * 32);
  EXPECT_FALSE(stream_.background().read_luma(luma.data(), 96));
  EXPECT_FALSE(stream_.background().read_chroma(u.data(), v.data(), 48));
  show(background_, 3000);
  ASSERT_TRUE(stream_.background().read_luma(luma.data(), 96));
  ASSERT_TRUE(stream_.background().read_chroma(u.data(), v.data(), 48));
  for (size_t i = 0; i < luma.size(); ++i) {
    ASSERT_NEAR(luma[i], background_.luma[i], 3) << i;
  }
  EXPECT_EQ(u, background_.u);
  EXPECT_EQ(v, background_.v);
}

INSTANTIATE_TEST_SUITE_P(Models, MotionTest,
                         testing::Values(BackgroundModel::kSigmaDelta, BackgroundModel::kMixture),
                         [](const auto& info) {
                           return info.param == BackgroundModel::kMixture ? "mixture" : "sigma_delta";
                         });

TEST(MotionClock, FrameRatesGiveTheSameTicks) {
  const auto ticks = [](int64_t step) {
    MotionClock clock;
    uint32_t up = 0;
    uint32_t mean = 0;
    for (int64_t time = step; time <= 12'000; time += step) {
      const MotionStep frame = clock.next({}, time * kMs, false);
      if (time > step) {
        up += frame.sigma_delta_rates.up;
        mean += frame.mixture_rates.mean;
      }
    }
    return std::pair(up, mean);
  };
  for (const int64_t step : {10, 40, 100, 200}) {
    EXPECT_NEAR(ticks(step).first, 96, 2) << step;
    EXPECT_NEAR(ticks(step).second, ticks(10).second, ticks(10).second / 40) << step;
  }
}
}  // namespace

}  // namespace ccl::test
