// SPDX-License-Identifier: LGPL-2.1-or-later
/// What sigma-delta does with input that is not a still camera in even light: the table of
/// docs/foreground.md, line by line, on the backend under test. And how long its model lives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "fixture.h"
#include "motion_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 160;
constexpr uint32_t kHeight = 96;
constexpr int64_t kSecond = 1000 * kMs;

/// What a camera shows that looks at a scene `dx`, `dy` pixels further.
Picture view(uint32_t dx = 0, uint32_t dy = 0) {
  const Picture wide = scene(kWidth + 32, kHeight + 32);
  Picture picture(kWidth, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    std::copy_n(wide.luma.begin() + (y + dy) * wide.width + dx, kWidth, picture.luma.begin() + y * kWidth);
  }
  return picture;
}

/// Of the light above black, this part is left. So it is of chroma.
Picture in_light(Picture picture, double part) {
  const auto change = [part](int black, std::vector<uint8_t>* values) {
    for (uint8_t& value : *values) {
      value = static_cast<uint8_t>(std::clamp(black + static_cast<int>((value - black) * part), 0, 255));
    }
  };
  change(16, &picture.luma);
  change(128, &picture.u);
  change(128, &picture.v);
  return picture;
}

class MotionInputTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(make_engine(&engine_).ok());
    configure({});
  }

  /// `config` needs no size.
  void configure(Config config) {
    config.width = kWidth;
    config.height = kHeight;
    ASSERT_TRUE(engine_->configure(config).ok());
  }

  /// The next frame, as it is.
  void push(const Picture& picture, int64_t time, bool resets = false) {
    FrameJob job;
    job.input = picture.input(has_chroma_);
    job.settings.rule.foreground = Foreground::kMotion;
    job.segmentation.motion = motion_;
    job.time = time;
    job.resets_background = resets;
    job.output = {output_.data(), kWidth};
    job.labels = labels_.data();
    ASSERT_TRUE(engine_->push(job).ok());
    ASSERT_TRUE(engine_->pop(&result_).ok());
  }

  /// The picture with noise, for a time.
  void show(const Picture& picture, int64_t duration, int noise = 2) {
    for (const int64_t end = time_ + duration; time_ < end; time_ += step_) {
      show_once(picture, noise);
    }
  }
  void show_once(Picture picture, int noise = 2) {
    picture.add_noise(&random_, noise);
    push(picture, time_);
  }
  void next(const Picture& picture) {
    show_once(picture);
    time_ += step_;
  }

  /// Pixels of the foreground, before morphology.
  size_t count(const Square& square) const {
    return square.count([this](uint32_t x, uint32_t y) { return labels_[y * kWidth + x] != 0; });
  }
  size_t count() const {
    return labels_.size() - static_cast<size_t>(std::count(labels_.begin(), labels_.end(), 0u));
  }
  bool is_relearning() const { return result_.counts.relearning != 0; }

  void expect_only(const std::vector<Square>& squares) {
    size_t n = 0;
    for (const Square& square : squares) {
      EXPECT_GE(count(square), size_t{square.side} * square.side * 9 / 10) << square.x;
      n += count(square);
    }
    EXPECT_LE(count() - n, kWidth * kHeight / 200u);
    EXPECT_FALSE(is_relearning());
  }

  Motion motion_;
  bool has_chroma_ = true;
  int64_t step_ = 40 * kMs;
  int64_t time_ = 0;
  std::unique_ptr<Engine> engine_;
  FrameResult result_;
  std::vector<uint8_t> output_ = std::vector<uint8_t>(kWidth * kHeight);
  std::vector<uint32_t> labels_ = std::vector<uint32_t>(kWidth * kHeight);
  std::mt19937 random_{3};
  const Square left_ = {20, 30, 24};
  const Square right_ = {100, 40, 30};
};

TEST_F(MotionInputTest, ALightSwitchKeepsThoseWhoStand) {
  for (const double part : {0.55, 1.6}) {
    SCOPED_TRACE(part);
    push(view(), time_, true);
    show(view(), 6 * kSecond);
    Picture people = view();
    draw(left_, 30, &people);
    draw(right_, 190, &people);
    show(people, 4 * kSecond);
    expect_only({left_, right_});
    next(in_light(people, part));
    EXPECT_TRUE(is_relearning());
    show(in_light(people, part), 240 * kMs);
    EXPECT_EQ(count(), 0u);
    show(in_light(people, part), 3 * kSecond);
    expect_only({left_, right_});
    show(in_light(view(), part), 200 * kMs);
    expect_only({});
  }
}

/// A camera that sees in infrared light at night has no colours then, and other levels of grey.
TEST_F(MotionInputTest, ACameraThatSwitchesToNightKeepsThoseWhoStand) {
  Picture people = view();
  draw(left_, 30, &people);
  draw(right_, 190, &people);
  Picture night = in_light(people, 0.8);
  std::fill(night.u.begin(), night.u.end(), uint8_t{128});
  std::fill(night.v.begin(), night.v.end(), uint8_t{128});
  show(view(), 6 * kSecond);
  show(people, 2 * kSecond);
  for (const Picture& picture : {night, people}) {
    next(picture);
    EXPECT_TRUE(is_relearning());
    show(picture, 240 * kMs);
    EXPECT_EQ(count(), 0u);
    show(picture, kSecond);
    expect_only({left_, right_});
  }
}

TEST_F(MotionInputTest, ARampOfLightIsFollowed) {
  for (const int seconds : {12, 6}) {
    SCOPED_TRACE(seconds);
    push(view(), time_, true);
    show(view(), 4 * kSecond);
    const int n_frames = 25 * seconds;
    for (int i = 0; i < n_frames; ++i) {
      next(in_light(view(), 1 - 0.4 * i / n_frames));
      ASSERT_LE(count(), kWidth * kHeight / 100u) << i;
      ASSERT_FALSE(is_relearning()) << i;
    }
  }
}

/// So does a camera that adapts its exposure. The model cannot follow, but it begins again.
TEST_F(MotionInputTest, AFastRampOfLightIsAChangeOfLight) {
  for (const int64_t duration : {500 * kMs, kSecond, 3 * kSecond}) {
    for (const double last : {0.6, 1.5}) {
      SCOPED_TRACE(std::to_string(duration / kMs) + " ms to " + std::to_string(last));
      push(view(), time_, true);
      show(view(), 10 * kSecond);
      const int64_t begin = time_;
      while (time_ < begin + duration) {
        const double part = static_cast<double>(time_ - begin) / static_cast<double>(duration);
        next(in_light(view(), 1 + (last - 1) * part));
      }
      show(in_light(view(), last), 2 * kSecond);
      EXPECT_LE(count(), kWidth * kHeight / 100u);
      Picture picture = in_light(view(), last);
      draw(left_, 30, &picture);
      next(picture);
      expect_only({left_});
    }
  }
}

/// It covers more and more of the frame, in parts that are lighter and darker than what is behind them.
TEST_F(MotionInputTest, AnObjectThatComesNearIsNoRamp) {
  show(view(), 10 * kSecond);
  for (uint32_t width = 2; width <= kWidth * 3 / 4; width += 2) {
    Picture picture = view();
    for (uint32_t y = 0; y < kHeight; ++y) {
      std::fill_n(picture.luma.begin() + y * kWidth, width, static_cast<uint8_t>(y % 40 < 20 ? 40 : 210));
    }
    next(picture);
    ASSERT_FALSE(is_relearning()) << width;
    ASSERT_GE(count(), size_t{width} * kHeight * 9 / 10) << width;
  }
}

/// The means around explain what differs.
TEST_F(MotionInputTest, ACameraMayShakeByAPixel) {
  show(view(8, 8), 2 * kSecond);
  for (int i = 0; i < 200; ++i) {
    Picture picture = view(7 + random_() % 3, 7 + random_() % 3);
    if (i >= 150) {
      draw(left_, 200, &picture);
    }
    next(picture);
    expect_only(i >= 150 ? std::vector{left_} : std::vector<Square>());
  }
}

/// By so much that most of the frame differs.
TEST_F(MotionInputTest, ACameraThatIsMovedBeginsAgain) {
  show(view(), 5 * kSecond);
  next(view(20));
  EXPECT_TRUE(is_relearning());
  show(view(20), 300 * kMs);
  expect_only({});
  Picture picture = view(20);
  draw(left_, 200, &picture);
  next(picture);
  expect_only({left_});
}

/// What differs then stays for as long as the scene was seen before, unless the model is reset.
TEST_F(MotionInputTest, ACameraThatIsMovedALittleNeedsTheSeenTimeOrAReset) {
  for (const bool resets : {false, true}) {
    SCOPED_TRACE(resets);
    push(view(), time_, true);
    show(view(), 5 * kSecond);
    next(view(5));
    EXPECT_FALSE(is_relearning());
    EXPECT_GE(count(), kWidth * kHeight / 10u);
    if (resets) {
      push(view(5), time_, true);
    }
    show(view(5), 1500 * kMs);
    EXPECT_EQ(count() > kWidth * kHeight / 10u, !resets) << count();
    show(view(5), 4 * kSecond);
    EXPECT_LE(count(), kWidth * kHeight / 100u);
  }
}

TEST_F(MotionInputTest, AnotherSceneBeginsAgain) {
  show(view(), 5 * kSecond);
  Picture other = view();
  for (size_t i = 0; i < other.luma.size(); ++i) {
    other.luma[i] = static_cast<uint8_t>(20 + i * 7 / kWidth % 200);
  }
  next(other);
  EXPECT_TRUE(is_relearning());
  show(other, 300 * kMs);
  expect_only({});
}

/// Without chroma, a shadow cannot be distinguished from a grey object.
TEST_F(MotionInputTest, ShadowsAreForegroundInGreyVideo) {
  for (const bool has_chroma : {false, true}) {
    SCOPED_TRACE(has_chroma);
    has_chroma_ = has_chroma;
    show(view(), 3 * kSecond);
    Picture picture = view();
    const Picture shaded = in_light(view(), 0.8);
    for (uint32_t y = right_.y; y < right_.y + right_.side; ++y) {
      const uint32_t row = y * kWidth + right_.x;
      std::copy_n(shaded.luma.begin() + row, right_.side, picture.luma.begin() + row);
    }
    draw(left_, 30, &picture);
    next(picture);
    expect_only(has_chroma ? std::vector{left_} : std::vector{left_, right_});
  }
}

TEST_F(MotionInputTest, FramesWithoutChromaBetweenOthersBeginAgain) {
  show(view(), 3 * kSecond);
  has_chroma_ = false;
  next(view());
  EXPECT_TRUE(is_relearning());
  show(view(), 1200 * kMs);
  EXPECT_FALSE(is_relearning());
}

TEST_F(MotionInputTest, TheModelSurvivesAnotherConfiguration) {
  show(view(), 3 * kSecond);
  Picture picture = view();
  draw(left_, 30, &picture);
  for (const uint32_t threads : {1u, 3u}) {
    configure({.output = Output::kMask, .threads = threads});
    next(picture);
    expect_only({left_});
  }
  engine_->flush();
  next(picture);
  expect_only({left_});
}

TEST_F(MotionInputTest, AResetLearnsAnew) {
  show(view(), 3 * kSecond);
  Picture picture = view();
  draw(left_, 30, &picture);
  push(picture, time_, true);
  EXPECT_TRUE(is_relearning());
  EXPECT_EQ(count(), 0u);
}

/// A quarter of the light, and noise of up to 6 levels. What is found must differ by more than the noise.
TEST_F(MotionInputTest, NoiseOfTheNightIsLearnt) {
  constexpr int kNoise = 6;
  const Picture night = in_light(view(), 0.25);
  show(night, 5 * kSecond, kNoise);
  for (int i = 0; i < 25; ++i) {
    show(night, step_, kNoise);
    ASSERT_LE(count(), kWidth * kHeight / 1000u) << i;
  }
  Picture picture = night;
  draw(left_, 75, &picture);
  show(picture, step_, kNoise);
  expect_only({left_});
  draw(left_, 45, &picture);
  show(picture, step_, kNoise);
  EXPECT_LE(count(left_), left_.side * left_.side / 4);
}

TEST_F(MotionInputTest, NothingIsLearntFromAJumpOfTheTime) {
  for (const int64_t jump : {3600 * kSecond, -3600 * kSecond, int64_t{1} << 62, -(int64_t{1} << 62)}) {
    SCOPED_TRACE(jump);
    push(view(), time_, true);
    show(view(), 10 * kSecond);
    Picture picture = view();
    draw(left_, 200, &picture);
    show(picture, 4 * kSecond);
    time_ += jump;
    show(picture, 4 * kSecond);
    expect_only({left_});
    show(picture, 3500 * kMs);
    EXPECT_EQ(count(), 0u);
  }
}

/// An object stays foreground for as long as the background was seen, to a frame and an eighth.
TEST_F(MotionInputTest, TimesAreTheSameAtAnyRate) {
  for (const int rate : {1, 5, 10, 25, 60, 120}) {
    SCOPED_TRACE(rate);
    step_ = kSecond / rate;
    push(view(), time_, true);
    show(view(), 8 * kSecond);
    Picture picture = view();
    draw(left_, 200, &picture);
    const int64_t begin = time_;
    do {
      next(picture);
    } while (count(left_) > 0 && time_ < begin + 30 * kSecond);
    EXPECT_NEAR(time_ - begin, 8 * kSecond, kSecond + step_);
  }
}

/// A door that is opened, and closed again: each time it is an object for the learning time.
TEST_F(MotionInputTest, WhatIsPutAsideIsAnObjectTwice) {
  motion_.learning_ms = 4000;
  Picture open = view();
  draw(right_, 190, &open);
  show(view(), 10 * kSecond);
  for (const Picture& picture : {open, view()}) {
    show(picture, 3 * kSecond);
    EXPECT_GE(count(right_), right_.side * right_.side / 2u);
    show(picture, 1500 * kMs);
    expect_only({});
    show(picture, 4 * kSecond);
  }
}

TEST_F(MotionInputTest, AComponentMayBeTheWholeFrame) {
  Picture all = view();
  std::fill(all.luma.begin(), all.luma.end(), uint8_t{220});
  motion_.max_change = 1024;
  show(view(), 5 * kSecond);
  next(all);
  EXPECT_FALSE(is_relearning());
  EXPECT_EQ(count(), kWidth * kHeight);
  ASSERT_EQ(result_.counts.n_labels, 1u);
  show(view(), 400 * kMs);
  expect_only({});
  motion_.max_change = 640;
  next(all);
  EXPECT_TRUE(is_relearning());
  EXPECT_EQ(count(), 0u);
}

}  // namespace

}  // namespace ccl::test
