// SPDX-License-Identifier: LGPL-2.1-or-later
/// Settings of the segment stage that the engine refuses.
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "compare.h"
#include "fixture.h"

namespace ccl::test {

namespace {

class SegmentLimitsTest : public testing::Test {
 protected:
  /// The message with which a frame is rejected; empty if it is not.
  std::string refusal(const FrameJob& job) {
    std::unique_ptr<Engine> engine;
    EXPECT_TRUE(make_engine(&engine).ok());
    Config config;
    config.width = 40;
    config.height = 30;
    EXPECT_TRUE(engine->configure(config).ok());
    const Status status = engine->push(job);
    EXPECT_TRUE(status.ok() || status.code() == StatusCode::kInvalidArgument) << status.message();
    return status.message();
  }

  FrameJob job(Foreground foreground) {
    FrameJob job;
    job.input = {image_.pixels(), image_.stride};
    job.settings.rule.foreground = foreground;
    return job;
  }

  const Image image_ = grey_noise(40, 30, 1);
};

TEST_F(SegmentLimitsTest, ValuesOutOfRangeAreRejected) {
  const auto expect_refusal = [this](const FrameJob& wrong, const char* part) {
    EXPECT_NE(refusal(wrong).find(part), std::string::npos) << refusal(wrong);
  };
  FrameJob wrong = job(Foreground::kLocal);
  wrong.segmentation.local.radius = 0;
  expect_refusal(wrong, "radius of the local threshold is 0; 1 to 127");
  wrong.segmentation.local.radius = 128;
  expect_refusal(wrong, "radius of the local threshold is 128");
  wrong = job(Foreground::kLocal);
  wrong.segmentation.local.offset = -256;
  expect_refusal(wrong, "offset of the local threshold is -256");
  wrong = job(Foreground::kBinary);
  wrong.segmentation.threshold_low = 256;
  expect_refusal(wrong, "low threshold is 256");
  wrong = job(Foreground::kOtsu);
  wrong.segmentation.morphology.open_radius = 9;
  expect_refusal(wrong, "radius of opening is 9; 0 to 8");
  wrong = job(Foreground::kBinary);
  wrong.segmentation.morphology.close_radius = 200;
  expect_refusal(wrong, "radius of closing is 200");
  wrong = job(Foreground::kMotion);
  wrong.segmentation.motion.sensitivity = 101;
  expect_refusal(wrong, "sensitivity to motion is 101");
  wrong = job(Foreground::kMotion);
  wrong.segmentation.motion.max_change = 1025;
  expect_refusal(wrong, "max_change of motion is 1025");
  wrong = job(Foreground::kBinary);
  wrong.regions = std::make_shared<const RegionMask>(Regions{}, 30, 40);
  expect_refusal(wrong, "30×40 pixels, not 40×30");
}

/// Settings of other rules may have any value.
TEST_F(SegmentLimitsTest, OnlyTheRuleInUseIsChecked) {
  FrameJob good = job(Foreground::kOtsu);
  good.segmentation.local.radius = 0;
  good.segmentation.threshold_low = 1000;
  good.segmentation.motion.sensitivity = 255;
  EXPECT_EQ(refusal(good), "");
  good = job(Foreground::kValues);
  good.segmentation.morphology.open_radius = 100;
  EXPECT_EQ(refusal(good), "");
}

}  // namespace

}  // namespace ccl::test
