// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kMotion through an engine: how long the model lives.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

/// A background of noise that was learned for three seconds.
class MotionTest : public testing::Test {
 protected:
  static constexpr uint32_t kWidth = 100;
  static constexpr uint32_t kHeight = 70;

  /// 0.1 s after the frame before it.
  FrameCounts run_frame(bool has_square, bool resets = false) {
    Image image = grey_noise(kWidth, kHeight, 1);
    for (uint8_t& value : image.memory) {
      value = static_cast<uint8_t>(value / 4);
    }
    for (uint32_t i = 0; has_square && i < 20 * 20; ++i) {
      image.at(30 + i % 20, 25 + i / 20) = 200;
    }
    FrameJob job;
    job.input = {image.pixels(), image.stride};
    job.output = {output_.data(), kWidth};
    job.settings.rule.foreground = Foreground::kMotion;
    job.settings.filter.min_area = 100;
    job.time = time_ += 100'000'000;
    job.resets_background = resets;
    FrameResult result;
    const Status status = engine_->push(job);
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_TRUE(engine_->pop(&result).ok());
    return result.counts;
  }

  void configure(Output output, uint32_t threads = 1) {
    Config config;
    config.width = kWidth;
    config.height = kHeight;
    config.output = output;
    config.threads = threads;
    EXPECT_TRUE(engine_->configure(config).ok());
  }

  void SetUp() override {
    ASSERT_TRUE(make_engine(&engine_).ok());
    configure(Output::kNone);
    for (uint32_t i = 0; i < 30; ++i) {
      run_frame(false);
    }
  }

  std::unique_ptr<Engine> engine_;
  std::vector<uint8_t> output_ = std::vector<uint8_t>(kWidth * kHeight);
  int64_t time_ = 0;
};

TEST_F(MotionTest, FindsWhatAppears) {
  EXPECT_EQ(run_frame(false).n_components, 0u);
  const FrameCounts counts = run_frame(true);
  EXPECT_EQ(counts.n_components, 1u);
  EXPECT_EQ(counts.relearning, 0u);
}

TEST_F(MotionTest, ModelSurvivesAnotherConfiguration) {
  configure(Output::kMask);
  EXPECT_EQ(run_frame(true).n_components, 1u);
  configure(Output::kMask, 3);
  EXPECT_EQ(run_frame(true).n_components, 1u);
  engine_->flush();
  EXPECT_EQ(run_frame(true).n_components, 1u);
}

TEST_F(MotionTest, ResetLearnsAnew) {
  const FrameCounts counts = run_frame(true, true);
  EXPECT_EQ(counts.relearning, 1u);
  EXPECT_EQ(counts.n_labels, 0u);
}

}  // namespace

}  // namespace ccl::test
