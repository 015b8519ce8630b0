// SPDX-License-Identifier: LGPL-2.1-or-later
/// The sigma-delta model of the backend under test finds in random videos, frame by frame and pixel by pixel,
/// what the oracle finds: the foreground, and the background that the model believes. See fuzz.h for longer
/// runs.
#include "background_oracle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "fixture.h"
#include "fuzz.h"
#include "random_video.h"

namespace ccl::test {

namespace {

struct Format {
  const char* name;
  bool has_chroma;
  int shift_x;
  int shift_y;
};

constexpr Format kFormats[] = {
    {"grey", false, 0, 0}, {"4:2:0", true, 1, 1}, {"4:2:2", true, 1, 0}, {"4:4:4", true, 0, 0}};

struct Size {
  int width;
  int height;
};

/// With rows that end in each place of a vector of chroma: a backend computes with what is behind them.
constexpr Size kSizes[] = {{1, 1},   {1, 19},  {19, 1},  {17, 33}, {20, 11},
                           {24, 13}, {40, 15}, {67, 50}, {72, 20}, {131, 70}};
constexpr int kRates[] = {1, 5, 25, 60, 120};
constexpr int kFrames = 150;

/// Each channel shows one of Y, U and V, unless it is cut off: red is Y + V − 128, green Y, blue Y + U − 128.
constexpr ColorMatrix kApart = {
    .black = 0, .luma = 65536, .red_v = 65536, .green_u = 0, .green_v = 0, .blue_u = 65536};

std::vector<uint8_t> expect_pixels(const VideoShape& shape, const BackgroundOracle& oracle) {
  const std::vector<uint8_t> luma = oracle.luma();
  const std::vector<uint8_t> u = oracle.u();
  const std::vector<uint8_t> v = oracle.v();
  std::vector<uint8_t> pixels;
  for (int i = 0; i < shape.width * shape.height; ++i) {
    const int at =
        (i / shape.width >> shape.shift_y) * shape.chroma_width() + (i % shape.width >> shape.shift_x);
    for (const int chroma : {shape.has_chroma ? v[at] : 128, 128, shape.has_chroma ? u[at] : 128}) {
      pixels.push_back(static_cast<uint8_t>(std::clamp(luma[i] + chroma - 128, 0, 255)));
    }
    pixels.push_back(255);
  }
  return pixels;
}

/// The backend under test.
class Model {
 public:
  explicit Model(const VideoShape& shape) : shape_(shape) {
    const size_t n_pixels = static_cast<size_t>(shape.width * shape.height);
    labels_.resize(n_pixels);
    pixels_.resize(n_pixels * 4);
  }

  void start() {
    ASSERT_TRUE(make_engine(&engine_).ok());
    Config config;
    config.width = static_cast<uint32_t>(shape_.width);
    config.height = static_cast<uint32_t>(shape_.height);
    config.output = Output::kBackground;
    config.layout = {.red = 0, .green = 1, .blue = 2, .alpha = 3};
    config.threads = 1;
    ASSERT_TRUE(engine_->configure(config).ok());
  }

  void see(const VideoFrame& frame) {
    FrameJob job;
    job.input = {frame.luma.data(), static_cast<size_t>(shape_.width)};
    if (shape_.has_chroma) {
      job.input.chroma = {.u = frame.u.data(),
                          .v = frame.v.data(),
                          .stride = static_cast<size_t>(shape_.chroma_width()),
                          .shift_x = static_cast<uint8_t>(shape_.shift_x),
                          .shift_y = static_cast<uint8_t>(shape_.shift_y)};
    }
    job.output = {.pixels = pixels_.data(), .stride = static_cast<size_t>(shape_.width) * 4};
    job.settings.rule.foreground = Foreground::kMotion;
    job.settings.matrix = kApart;
    job.settings.limited_range = false;
    job.segmentation.motion = frame.motion;
    job.time = frame.time;
    job.resets_background = frame.resets;
    job.labels = labels_.data();
    ASSERT_TRUE(engine_->push(job).ok());
    FrameResult result;
    ASSERT_TRUE(engine_->pop(&result).ok());
    is_learning_ = result.counts.relearning != 0;
  }

  std::vector<uint8_t> foreground() const {
    std::vector<uint8_t> foreground;
    for (const uint32_t label : labels_) {
      foreground.push_back(label != 0 ? 1 : 0);
    }
    return foreground;
  }
  const std::vector<uint8_t>& pixels() const { return pixels_; }
  bool is_learning() const { return is_learning_; }

 private:
  VideoShape shape_;
  std::unique_ptr<Engine> engine_;
  std::vector<uint32_t> labels_;
  std::vector<uint8_t> pixels_;
  bool is_learning_ = false;
};

/// Where two images of `step` bytes a pixel differ first, for messages.
std::string first_difference(const VideoShape& shape, const std::vector<uint8_t>& got,
                             const std::vector<uint8_t>& want, size_t step) {
  const auto place = std::mismatch(got.begin(), got.end(), want.begin());
  const auto i = static_cast<size_t>(place.first - got.begin());
  const auto pixel = static_cast<int>(i / step);
  return "pixel " + std::to_string(pixel % shape.width) + ", " + std::to_string(pixel / shape.width) +
         ", channel " + std::to_string(i % step) + ": " + std::to_string(*place.first) + " instead of " +
         std::to_string(*place.second);
}

using Uses = std::array<uint32_t, kUses.size()>;

void compare(const VideoShape& shape, int frames_per_second, uint32_t seed, Uses* uses) {
  RandomVideo video(shape, frames_per_second, seed);
  BackgroundOracle oracle(shape);
  Model model(shape);
  ASSERT_NO_FATAL_FAILURE(model.start());
  for (int i = 0; i < kFrames; ++i) {
    SCOPED_TRACE("frame " + std::to_string(i));
    const VideoFrame frame = video.next();
    oracle.see(frame);
    ASSERT_NO_FATAL_FAILURE(model.see(frame));
    ASSERT_EQ(model.is_learning(), oracle.is_learning());
    const std::vector<uint8_t> foreground = model.foreground();
    ASSERT_TRUE(foreground == oracle.foreground())
        << "foreground, " << first_difference(shape, foreground, oracle.foreground(), 1);
    const std::vector<uint8_t> pixels = expect_pixels(shape, oracle);
    ASSERT_TRUE(model.pixels() == pixels)
        << "background, " << first_difference(shape, model.pixels(), pixels, 4);
  }
  *uses = oracle.uses();
}

class BackgroundOracleTest : public testing::TestWithParam<Format> {
 protected:
  /// A video that follows from its seed. Returns the number of frames.
  uint32_t run(uint32_t seed) {
    const uint32_t i = seed - 1;
    const Size& size = kSizes[i % std::size(kSizes)];
    const Format& format = GetParam();
    const VideoShape shape = {size.width, size.height, format.has_chroma, format.shift_x, format.shift_y};
    const int rate = kRates[(seed + i / std::size(kSizes)) % std::size(kRates)];
    Uses uses = {};
    SCOPED_TRACE(std::to_string(size.width) + "×" + std::to_string(size.height) + ", " +
                 std::to_string(rate) + " frames/s, seed " + std::to_string(seed));
    compare(shape, rate, seed, &uses);
    const std::lock_guard lock(mutex_);
    for (size_t use = 0; use < uses.size(); ++use) {
      uses_[use] += uses[use];
    }
    n_frames_ += kFrames;
    return kFrames;
  }

  std::mutex mutex_;
  Uses uses_ = {};
  uint32_t n_frames_ = 0;
};

TEST_P(BackgroundOracleTest, FindsWhatTheRulesSay) {
  constexpr uint32_t kVideos = std::size(kSizes);
  fuzz(kVideos, kFrames, [&](uint32_t seed) { return run(seed); });
  for (size_t i = 0; i < uses_.size() && n_frames_ >= kVideos * kFrames; ++i) {
    const auto use = static_cast<Use>(i);
    if (GetParam().has_chroma || (use != Use::kShadow && use != Use::kChroma)) {
      EXPECT_GT(uses_[i], 0u) << kUses[i];
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, BackgroundOracleTest, testing::ValuesIn(kFormats),
                         [](const testing::TestParamInfo<Format>& info) {
                           std::string name = info.param.name;
                           name.erase(std::remove(name.begin(), name.end(), ':'), name.end());
                           return name;
                         });

}  // namespace

}  // namespace ccl::test
