// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the segment stage at their limits.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstdint>

#include "ccl/segment/local.h"
#include "ccl/segment/motion.h"
#include "ccl/segment/otsu.h"

namespace ccl::test {

namespace {

using Histogram = std::array<uint32_t, kOtsuBins>;

TEST(OtsuRuleTest, FlatFramesAreForegroundUnlessBlack) {
  for (uint32_t value = 0; value < kOtsuBins; ++value) {
    Histogram histogram{};
    histogram[value] = 1000;
    EXPECT_EQ(otsu_level(histogram.data()), 1u) << value;
  }
  EXPECT_EQ(otsu_level(Histogram{}.data()), 1u);
}

TEST(OtsuRuleTest, OfEqualLevelsTheSmallestIsTaken) {
  Histogram histogram{};
  histogram[10] = histogram[200] = 7;
  EXPECT_EQ(otsu_level(histogram.data()), 11u);
  histogram = {};  // mirrored: dividing before and after the middle is as good
  histogram[10] = histogram[20] = histogram[30] = 12345;
  EXPECT_EQ(otsu_level(histogram.data()), 11u);
}

TEST(OtsuRuleTest, LargestFrames) {
  Histogram histogram{};
  histogram[0] = 1u << 29;
  histogram[255] = 1u << 29;
  EXPECT_EQ(otsu_level(histogram.data()), 1u);
  histogram[254] = histogram[255]--;  // one pixel more than a frame can have
  EXPECT_EQ(otsu_level(histogram.data()), 1u);
}

TEST(OtsuRuleTest, VarianceOfOneSmallClass) {
  // 1 of 2²³ pixels is enough for a class, 1 of 2²³ + 1 is not.
  EXPECT_GT(otsu_variance({1, 0}, {1u << 23, 100}), 0);
  EXPECT_EQ(otsu_variance({1, 0}, {(1u << 23) + 1, 100}), 0);
  EXPECT_EQ(otsu_variance({1u << 23, 0}, {(1u << 23) + 1, 100}), 0);
}

TEST(LocalRuleTest, RootsAreExact) {
  constexpr uint64_t kEnd = uint64_t{1} << 23;
  for (uint64_t root = 1; root < kEnd; root += root < 5000 || root + 5000 > kEnd ? 1 : 37) {
    ASSERT_EQ(square_root(root * root - 1), root - 1) << root;
    ASSERT_EQ(square_root(root * root), root);
    ASSERT_EQ(square_root(root * root + 2 * root), root);
  }
  static_assert(square_root(0) == 0 && square_root(15) == 3 && square_root(16) == 4);
  static_assert(square_root((uint64_t{1} << 46) - 1) == kEnd - 1);
}

/// Windows whose sums are as large as possible, with every deviation and offset at its limit.
TEST(LocalRuleTest, LargestSumsFit) {
  constexpr uint32_t kN = kMaxWindowPixels;
  for (const int16_t offset : {-255, 0, 255}) {
    for (const uint16_t deviation : {0, 1, 1024, 65535}) {
      const LocalRule rule({.radius = kMaxLocalRadius, .offset = offset, .deviation = deviation}, false);
      for (const uint32_t value : {0u, 255u}) {
        // All pixels are 255, or half of them are 0: the mean is 255 or 127.5, s is 0 or 127.5.
        const double k = deviation / 1024.0;
        const double flat = 255 * (1 - k) - offset;
        EXPECT_EQ(rule.is_foreground(value, kN, kN * 255, kN * 255 * 255), value >= flat);
        const uint32_t half = (kN - 1) / 2;
        const double mean = 255.0 * half / kN;
        const double threshold = mean * (1 + k * (127.5 / 128 - 1)) - offset;
        EXPECT_EQ(rule.is_foreground(value, kN, half * 255, half * 255 * 255), value >= threshold);
      }
    }
  }
}

/// What an old mixture weighs in a learning time is the same for slow and fast cameras.
TEST(LearningRuleTest, TheMixtureTakesTheLearningTimeAtAnyFrameRate) {
  for (const uint32_t learning_us : {20'000'000u, 600'000'000u, 2'000'000'000u}) {
    for (const uint32_t duration_us : {4'167u, 16'667u, 40'000u, 1'000'000u}) {
      MotionStep step;
      step.model = BackgroundModel::kMixture;
      step.duration_us = duration_us;
      step.learning_us = learning_us;
      ModelState mixture{};
      mixture.is_begun = 1;
      mixture.age_us = kOldestUs;
      uint32_t weight = 0;
      for (uint32_t us = 0; us < learning_us; us += duration_us) {
        decide(step, 1, /*has_light_changed=*/false, &mixture);
        weight += mixture.mixture.weight;
      }
      EXPECT_NEAR(weight, mixture::kLearnedWeight, mixture::kLeastRate) << learning_us << " " << duration_us;
    }
  }
}

/// A value of sigma-delta has been seen for a time when its code is that of the time. A code stands for times
/// that differ by an eighth.
TEST(CreditTest, CodesRiseWithTimeAtAnyFrameRate) {
  for (const uint32_t seconds : {1u, 20u, 120u, 600u, 2000u}) {
    for (const int64_t frame_ns : {4'166'667, 16'666'667, 40'000'000, 90'000'000, 1'000'000'000}) {
      MotionClock clock;
      const Motion motion{.learning_ms = seconds * 1000};
      int64_t time = 0;
      uint32_t code = 0;
      credit::Rates rates = clock.next(motion, time, false).sigma_delta_rates.credit;
      while (code < rates.most) {
        time += frame_ns;
        rates = clock.next(motion, time, false).sigma_delta_rates.credit;
        code = credit::rise<ByteLane>(rates, code);
        ASSERT_LE(code, credit::kMaxCode);
      }
      EXPECT_NEAR(static_cast<double>(time), seconds * 1e9, seconds * 1e9 / 6 + 1e9)
          << seconds << " " << frame_ns;
    }
  }
}

TEST(CreditTest, AValueMustStayForAsLongAsTheBackgroundWasSeen) {
  const credit::Rates rates{.most = 40};
  EXPECT_EQ(credit::needed<ByteLane>(rates, 0), credit::kLeastCode);
  EXPECT_EQ(credit::needed<ByteLane>(rates, 25), 25u);
  EXPECT_EQ(credit::needed<ByteLane>(rates, 100), 40u) << "the learning time";
  EXPECT_EQ(credit::needed<ByteLane>({.most = 3}, 100), 3u) << "a learning time under half a second";
}

/// A background that is not seen any more is forgotten after the same number of learning times.
TEST(LearningRuleTest, TheMixtureForgetsAtAnyFrameRate) {
  for (const uint32_t learning_us : {20'000'000u, 600'000'000u, 2'000'000'000u}) {
    for (const uint32_t duration_us : {4'167u, 16'667u, 40'000u, 1'000'000u}) {
      MotionStep step;
      step.model = BackgroundModel::kMixture;
      step.duration_us = duration_us;
      step.learning_us = learning_us;
      ModelState state{};
      state.is_begun = 1;
      state.age_us = kOldestUs;
      mixture::Pixel<WordLane> pixel = mixture::initialize<WordLane>({50, 128, 128}, 0, false);
      double us = 0;
      const auto weight_of_old = [&] {
        uint32_t weight = 0;
        for (const auto& mode : pixel.modes) {
          weight = mode.mean == 50u << mixture::kMeanBits ? mode.weight : weight;
        }
        return weight;
      };
      while (weight_of_old() >= mixture::kBackgroundWeight && us < 40.0 * learning_us) {
        decide(step, 1, /*has_light_changed=*/false, &state);
        pixel = mixture::update<WordLane>(state.mixture, pixel, {200, 128, 128});
        us += duration_us;
      }
      // In a learning time, a weight w loses the part r of it, and what is pruned: w' = −r·w − r /
      // kPrunePart.
      const double rate = mixture::kLearnedWeight / 65536.0;
      const double pruned = 1.0 / mixture::kPrunePart;
      const double least = mixture::kBackgroundWeight / 65536.0;
      const double learning_times = std::log((1 + pruned) / (least + pruned)) / rate;
      EXPECT_NEAR(us / learning_us, learning_times, 0.5) << learning_us << " " << duration_us;
    }
  }
}

}  // namespace

}  // namespace ccl::test
