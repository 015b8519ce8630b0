// SPDX-License-Identifier: LGPL-2.1-or-later
/// The vector code of the background models against the rules applied pixel by pixel.
#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "motion_scene.h"

namespace ccl::test {

namespace {

using host::SimdLevel;

/// Frames of everything: still and changing parts, flashes, resets.
class RandomFrames {
 public:
  RandomFrames(uint32_t width, uint32_t height) : picture_(width, height) {}

  const Picture& next() {
    const uint32_t what = random_() % 16;
    for (std::vector<uint8_t>* plane : {&picture_.luma, &picture_.u, &picture_.v}) {
      for (uint8_t& value : *plane) {
        const uint32_t r = random_();
        if (what == 0 || r % 64 == 0) {
          value = static_cast<uint8_t>(r >> 8);
        } else {
          value = static_cast<uint8_t>(value + (r >> 8) % 5 - 2);
        }
      }
    }
    return picture_;
  }

 private:
  std::mt19937 random_{11};
  Picture picture_;
};

using Case = std::tuple<BackgroundModel, SimdLevel>;

class MotionSimdTest : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (!host::is_supported(level())) {
      GTEST_SKIP() << "this processor or build does not support " << host::simd_name(level());
    }
  }

  BackgroundModel model() const { return std::get<0>(GetParam()); }
  SimdLevel level() const { return std::get<1>(GetParam()); }
};

/// What both streams have seen and believe is the same.
void expect_equal(const MotionStream& got, const MotionStream& want, uint32_t width, uint32_t height,
                  int frame) {
  ASSERT_EQ(got.bits(), want.bits()) << width << "x" << height << ", frame " << frame;
  ASSERT_EQ(got.is_relearning(), want.is_relearning());
  std::vector<uint8_t> got_luma(size_t{width} * height);
  std::vector<uint8_t> want_luma(size_t{width} * height);
  ASSERT_TRUE(got.background().read_luma(got_luma.data(), width));
  ASSERT_TRUE(want.background().read_luma(want_luma.data(), width));
  ASSERT_EQ(got_luma, want_luma) << width << "x" << height << ", frame " << frame;
}

TEST_P(MotionSimdTest, EqualsTheRules) {
  for (const auto& [width, height] :
       {std::pair{1u, 1u}, {2u, 1u}, {1u, 5u}, {31u, 7u}, {64u, 3u}, {65u, 66u}, {131u, 70u}, {200u, 129u}}) {
    for (const bool has_chroma : {false, true}) {
      MotionStream got(width, height, host::background_kernels(level()), 3);
      MotionStream want(width, height, host::kPlainBackgroundKernels);
      got.motion = want.motion = {.model = model(), .learning_ms = 700, .warm_up_ms = 100, .max_change = 900};
      RandomFrames frames(width, height);
      for (int i = 0; i < 60; ++i) {
        const Picture& picture = frames.next();
        got.push(picture, i * 40 * kMs, has_chroma, i == 41);
        want.push(picture, i * 40 * kMs, has_chroma, i == 41);
        ASSERT_NO_FATAL_FAILURE(expect_equal(got, want, width, height, i));
      }
    }
  }
}

/// Bits of an alternating chroma plane (NV12), and of chroma at every resolution.
TEST_P(MotionSimdTest, ChromaLayoutsAreEqual) {
  constexpr uint32_t kWidth = 99;
  constexpr uint32_t kHeight = 67;
  RandomFrames frames(kWidth, kHeight);
  MotionStream planar(kWidth, kHeight, host::background_kernels(level()));
  MotionStream alternating(kWidth, kHeight, host::background_kernels(level()));
  planar.motion.model = alternating.motion.model = model();
  planar.motion.warm_up_ms = alternating.motion.warm_up_ms = 100;
  for (int i = 0; i < 40; ++i) {
    const Picture& picture = frames.next();
    std::vector<uint8_t> uv(2 * picture.chroma_size());
    for (size_t k = 0; k < picture.chroma_size(); ++k) {
      uv[2 * k] = picture.u[k];
      uv[2 * k + 1] = picture.v[k];
    }
    planar.push(picture, i * 40 * kMs);
    alternating.push({.pixels = picture.luma.data(),
                      .stride = kWidth,
                      .chroma = {.u = uv.data(),
                                 .v = uv.data() + 1,
                                 .stride = size_t{2} * picture.chroma_width(),
                                 .step = 2,
                                 .shift_x = 1,
                                 .shift_y = 1}},
                     i * 40 * kMs);
    ASSERT_NO_FATAL_FAILURE(expect_equal(alternating, planar, kWidth, kHeight, i));
  }
}

/// Chroma of every pixel that repeats that of 2×2 pixels gives the same foreground while nothing is learnt
/// from it.
TEST_P(MotionSimdTest, FullChromaIsRead) {
  Picture picture = scene(97, 33);
  std::vector<uint8_t> u(97 * 33, 120);
  std::vector<uint8_t> v(97 * 33, 140);
  MotionStream stream(97, 33, host::background_kernels(level()));
  stream.motion.model = model();
  const auto push = [&](int64_t time) {
    stream.push(
        {.pixels = picture.luma.data(), .stride = 97, .chroma = {.u = u.data(), .v = v.data(), .stride = 97}},
        time);
  };
  for (int i = 0; i < 50; ++i) {
    push(i * 40 * kMs);
  }
  EXPECT_EQ(stream.count(), 0u);
  u[33 * 50 / 2] = 200;
  push(50 * 40 * kMs);
  EXPECT_EQ(stream.count(), 1u);
  EXPECT_TRUE(stream.is_foreground(33 * 50 / 2 % 97, 33 * 50 / 2 / 97));
}

INSTANTIATE_TEST_SUITE_P(Levels, MotionSimdTest,
                         testing::Combine(testing::Values(BackgroundModel::kSigmaDelta,
                                                          BackgroundModel::kMixture),
                                          testing::ValuesIn(host::kSimdLevels)),
                         [](const auto& info) {
                           const bool is_mixture = std::get<0>(info.param) == BackgroundModel::kMixture;
                           return std::string(is_mixture ? "mixture_" : "sigma_delta_") +
                                  host::simd_name(std::get<1>(info.param));
                         });

}  // namespace

}  // namespace ccl::test
