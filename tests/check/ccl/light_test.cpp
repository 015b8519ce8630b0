// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background after a frame in which the light changed, against the oracle of docs/foreground.md.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ccl/engine.h"
#include "fixture.h"
#include "light.h"
#include "random.h"

namespace ccl::test {

namespace {

using Luma = std::vector<uint8_t>;

struct Change {
  const char* name;
  int percent;                  ///< of the old light
  uint32_t object_rows_before;  ///< percent of the frame's rows that objects cover
  uint32_t object_rows_now;
  uint32_t misfits;  ///< of 1000 pixels, in addition to objects
};

constexpr Change kChanges[] = {
    {"darker", 50, 8, 8, 20},         {"lighter", 160, 10, 4, 20},
    {"much lighter", 250, 4, 10, 0},  {"another picture", 170, 0, 0, 700},
    {"some misfits", 55, 10, 10, 90}, {"large objects", 60, 50, 30, 0},
    {"new objects", 180, 0, 18, 0},   {"nothing in view", 40, 0, 0, 0},
};

/// A scene with black and white in it, and objects in it before and after the light changes.
class Scene : private Random {
 public:
  Scene(const Change& change, uint32_t width, uint32_t height, uint32_t seed)
      : Random(seed), change_(change), width_(width), height_(height) {}

  LightCase make(BackgroundModel model) {
    LightCase light{.model = model, .known = {}, .before = {}, .now = {}};
    // In blocks: a model asks whether a pixel is like its neighbours, too.
    constexpr uint32_t kSide = 12;
    const uint32_t blocks_per_row = width_ / kSide + 1;
    Luma blocks;
    for (uint32_t i = 0; i < blocks_per_row * (height_ / kSide + 1); ++i) {
      const uint32_t kind = below(12);
      blocks.push_back(static_cast<uint8_t>(kind == 0   ? below(20)
                                            : kind == 1 ? 225 + below(31)
                                                        : 50 + below(120)));
    }
    for (uint32_t i = 0; i < width_ * height_; ++i) {
      const uint32_t block = i / width_ / kSide * blocks_per_row + i % width_ / kSide;
      light.known.push_back(static_cast<uint8_t>(std::min<uint32_t>(blocks[block] + below(3), 255)));
    }
    light.before = light.known;
    cover(change_.object_rows_before, 0, &light.before);
    for (const uint8_t luma : light.known) {
      light.now.push_back(in_new_light(luma));
    }
    cover(change_.object_rows_now, 1, &light.now);
    for (size_t i = 0; i < light.now.size(); ++i) {
      // See expect_after_light(), and LightCase::before of either model.
      light.now[i] = is_near(light.now[i], light.known[i], 7) ? light.known[i] : light.now[i];
      light.before[i] = is_near(light.before[i], light.known[i], 40) ? light.known[i] : light.before[i];
    }
    return light;
  }

 private:
  static bool is_near(int a, int b, int distance) { return std::abs(a - b) <= distance; }

  /// With noise, and sometimes with so much that it decides whether the pixel fits.
  uint8_t in_new_light(uint8_t luma) {
    const uint32_t range = is_once_in(16) ? 30 : 3;
    const int noise = signed_below(2 * range + 1) - static_cast<int>(range);
    const int lit = 16 + (luma - 16) * change_.percent / 100 + (luma < 16 ? 0 : noise);
    return static_cast<uint8_t>(below(1000) < change_.misfits ? below(256) : std::clamp(lit, 0, 255));
  }

  void cover(uint32_t percent, uint32_t first_row, Luma* luma) {
    for (uint32_t y = first_row; y < first_row + height_ * percent / 100; ++y) {
      for (uint32_t x = 0; x < width_; ++x) {
        (*luma)[y * width_ + x] = static_cast<uint8_t>(below(2) == 0 ? below(30) : 200 + below(56));
      }
    }
  }

  Change change_;
  uint32_t width_;
  uint32_t height_;
};

class LightTest : public testing::TestWithParam<BackgroundModel> {
 protected:
  static constexpr uint32_t kLearningFrames = 80;
  static constexpr int64_t kFrameTime = 100'000'000;

  void start(uint32_t width, uint32_t height) {
    width_ = width;
    n_frames_ = 0;
    ASSERT_TRUE(make_engine(&engine_).ok());
    Config config;
    config.width = width;
    config.height = height;
    config.output = Output::kBackground;
    ASSERT_TRUE(engine_->configure(config).ok());
    output_.assign(size_t{width} * height * 4, 0);
  }

  void push(const Luma& luma) {
    FrameJob job;
    job.input = {luma.data(), width_};
    job.output = {.pixels = output_.data(), .stride = size_t{width_} * 4};
    job.settings.rule.foreground = Foreground::kMotion;
    job.segmentation.motion.model = GetParam();
    job.time = n_frames_++ * kFrameTime;
    ASSERT_TRUE(engine_->push(job).ok());
    ASSERT_TRUE(engine_->pop(&result_).ok());
  }

  Luma background() const {
    Luma luma;
    for (size_t i = 0; i < output_.size(); i += 4) {
      luma.push_back(output_[i]);
    }
    return luma;
  }

  std::unique_ptr<Engine> engine_;
  FrameResult result_;
  std::vector<uint8_t> output_;
  uint32_t width_ = 0;
  int64_t n_frames_ = 0;
};

TEST_P(LightTest, TheBackgroundIsThatOfTheOracle) {
  uint32_t n_kept = 0;
  uint32_t n_keeping_misfits = 0;
  uint32_t n_keeping_objects = 0;
  uint32_t n_cases = 0;
  for (const auto& [width, height] : {std::pair{67u, 50u}, std::pair{320u, 96u}}) {
    for (const Change& change : kChanges) {
      for (uint32_t seed = 1; seed <= 2; ++seed) {
        const std::string what =
            std::string(change.name) + ", " + std::to_string(width) + ", seed " + std::to_string(seed);
        const LightCase light = Scene(change, width, height, seed).make(GetParam());
        start(width, height);
        for (uint32_t i = 0; i < kLearningFrames; ++i) {
          push(light.known);
        }
        ASSERT_EQ(background(), light.known) << what;
        push(light.before);
        ASSERT_EQ(result_.counts.relearning, 0u) << what;
        push(light.now);
        ASSERT_EQ(result_.counts.relearning, 1u) << what;
        const LightOutcome want = expect_after_light(light);
        const Luma got = background();
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_EQ(got[i], want.background[i])
              << what << ": pixel " << i << ", known " << +light.known[i] << ", before " << +light.before[i]
              << ", now " << +light.now[i] << ", " << want.n_misfits << " misfits";
          n_kept += got[i] != light.now[i] ? 1 : 0;
        }
        n_keeping_objects += want.keeps_objects ? 1 : 0;
        n_keeping_misfits += want.keeps_misfits ? 1 : 0;
        ++n_cases;
      }
    }
  }
  EXPECT_GE(n_kept, 1000u);
  EXPECT_GT(n_cases, n_keeping_objects);
  EXPECT_GT(n_keeping_objects, n_keeping_misfits);
  EXPECT_GE(n_keeping_misfits, n_cases / 4);
}

/// A young model would learn an object that stands in this time.
TEST_P(LightTest, AModelKeepsItsAge) {
  constexpr uint32_t kSide = 64;
  start(kSide, kSide);
  const auto show = [&](const Luma& luma, uint32_t n_frames) {
    for (uint32_t i = 0; i < n_frames; ++i) {
      push(luma);
    }
  };
  show(Luma(kSide * kSide, 100), 150);
  Luma bright(kSide * kSide, 150);
  show(bright, 1);
  ASSERT_EQ(result_.counts.relearning, 1u);
  show(bright, 5);
  for (uint32_t y = 20; y < 40; ++y) {
    std::fill_n(bright.begin() + y * kSide + 20, 20, uint8_t{20});
  }
  show(bright, 40);
  EXPECT_EQ(result_.counts.relearning, 0u);
  EXPECT_EQ(result_.counts.n_labels, 1u);
}

INSTANTIATE_TEST_SUITE_P(Models, LightTest,
                         testing::Values(BackgroundModel::kSigmaDelta, BackgroundModel::kMixture),
                         [](const testing::TestParamInfo<BackgroundModel>& info) {
                           return info.param == BackgroundModel::kMixture ? "mixture" : "sigma_delta";
                         });

}  // namespace

}  // namespace ccl::test
