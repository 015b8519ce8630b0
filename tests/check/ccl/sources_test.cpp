// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sources of every layout and the outputs that show them: every labeler of the backend under test gives what
/// the CPU's default method gives.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "sources.h"

namespace ccl::test {

namespace {

/// What is set for a stream of frames.
struct Case {
  std::string name;
  Settings settings;
  Segmentation segmentation;
  uint32_t max_components = 16384;
};

std::vector<Case> make_cases() {
  std::vector<Case> cases;
  const auto add = [&cases](const char* name) -> Case& {
    Case& added = cases.emplace_back();
    added.name = name;
    added.settings.rule.threshold = 150;
    added.settings.background_color = 0x40123456;
    return added;
  };
  add("threshold");
  add("boxes").settings.draw_boxes = true;
  add("no overlay").settings.overlay_alpha = 0;
  Case& filtered = add("filter, palette by area, limited range");
  filtered.settings.filter.min_area = 4;
  filtered.settings.palette = Palette::kViridisByArea;
  filtered.settings.limited_range = true;
  filtered.settings.matrix = {
      .black = 0, .luma = 65536, .red_v = 103206, .green_u = -12276, .green_v = -30679, .blue_u = 121609};
  Case& overflow = add("boxes of a table that overflows");
  overflow.settings.draw_boxes = true;
  overflow.max_components = 5;
  add("values").settings.rule.foreground = Foreground::kValues;
  add("otsu").settings.rule.foreground = Foreground::kOtsu;
  add("wide threshold").segmentation.wide_threshold = 600;
  Case& hysteresis = add("wide hysteresis and boxes");
  hysteresis.segmentation.wide_threshold = 250;
  hysteresis.segmentation.threshold_low = 200;
  hysteresis.settings.draw_boxes = true;
  for (const BackgroundModel model : {BackgroundModel::kSigmaDelta, BackgroundModel::kMixture}) {
    Case& motion = add(model == BackgroundModel::kMixture ? "mixture" : "sigma-delta");
    motion.settings.rule.foreground = Foreground::kMotion;
    motion.segmentation.motion.model = model;
    motion.segmentation.motion.warm_up_ms = 150;
  }
  return cases;
}

struct Frame {
  std::vector<uint8_t> pixels;
  size_t n_records = 0;
  uint32_t n_components = 0;
  bool operator==(const Frame&) const = default;
};

/// What each frame of a stream shows.
using Sources = std::vector<std::shared_ptr<const Source>>;

Sources make_stream(Layout layout, uint32_t width, uint32_t height) {
  const std::shared_ptr<const Source> first = make_source(layout, width, height, 1);
  return {first, first, first, make_source(layout, width, height, 2)};
}

/// The frames of a stream.
std::vector<Frame> run_stream(Engine* engine, const Config& config, const Sources& stream, const Case& c) {
  std::vector<Frame> frames;
  const Status configured = engine->configure(config);
  EXPECT_TRUE(configured.ok()) << configured.message();
  const size_t row = size_t{config.width} * bytes_per_pixel(config.output) + kPadding;
  for (size_t i = 0; configured.ok() && i < stream.size(); ++i) {
    Frame& frame = frames.emplace_back();
    frame.pixels.assign(row * config.height, 0x5a);
    FrameJob job;
    job.input = stream[i]->image;
    job.output = {.pixels = frame.pixels.data(), .stride = row};
    job.settings = c.settings;
    job.segmentation = c.segmentation;
    job.time = static_cast<int64_t>(i) * 100'000'000;
    job.resets_background = i == 0;
    const Status pushed = engine->push(job);
    FrameResult result;
    if (!pushed.ok() || !engine->pop(&result).ok()) {
      ADD_FAILURE() << stream[i]->name << ": " << pushed.message();
      return {};
    }
    frame.n_records = result.components.size();
    frame.n_components = result.counts.n_components;
  }
  return frames;
}

class SourcesTest : public testing::TestWithParam<Layout> {
 protected:
  void SetUp() override { ASSERT_TRUE(make_engine(&engine_).ok()); }

  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Engine> reference_ = make_host_engine();
};

TEST_P(SourcesTest, EveryOutput) {
  for (const auto& [width, height] : {std::pair<uint32_t, uint32_t>{1, 1}, {67, 41}, {272, 34}}) {
    const Sources stream = make_stream(GetParam(), width, height);
    for (const Case& c : make_cases()) {
      for (const Output output :
           {Output::kLabels, Output::kOverlay, Output::kForeground, Output::kBackground}) {
        Config config;
        config.width = width;
        config.height = height;
        config.output = output;
        config.layout = {.red = 2, .green = 1, .blue = 0, .alpha = 3};
        config.max_components = c.max_components;
        for (const Algorithm algorithm : {Algorithm::kAuto, Algorithm::kDlp}) {
          // A model that is reset keeps what it knows noise, so both engines have the same history.
          const std::vector<Frame> want = run_stream(reference_.get(), config, stream, c);
          Config tested = config;
          tested.algorithm = algorithm;
          tested.threads = 2;
          const std::vector<Frame> got = run_stream(engine_.get(), tested, stream, c);
          ASSERT_TRUE(got == want) << stream.front()->name << ", " << c.name << ", output " << name_of(output)
                                   << ", " << width << "x" << height
                                   << (algorithm == Algorithm::kAuto ? "" : ", dlp");
        }
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, SourcesTest, testing::ValuesIn(kLayouts),
                         [](const auto& layout) { return make_source(layout.param, 8, 8, 1)->name; });

/// What appears is not in the background.
TEST(BackgroundOutputTest, ShowsWhatTheModelExpects) {
  constexpr uint32_t kWidth = 64;
  constexpr uint32_t kHeight = 48;
  for (const BackgroundModel model : {BackgroundModel::kSigmaDelta, BackgroundModel::kMixture}) {
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(make_engine(&engine).ok());
    Config config;
    config.width = kWidth;
    config.height = kHeight;
    config.output = Output::kBackground;
    ASSERT_TRUE(engine->configure(config).ok());
    std::vector<uint8_t> pixels(size_t{kWidth} * kHeight * 4);
    uint32_t n_components = 0;
    for (uint32_t i = 0; i < 30; ++i) {
      Image image = plain("scene", kWidth, kHeight, 60);
      for (uint32_t j = 0; i == 29 && j < 100; ++j) {
        image.at(20 + j % 10, 20 + j / 10) = 220;
      }
      FrameJob job;
      job.input = {image.pixels(), image.stride};
      job.output = {.pixels = pixels.data(), .stride = size_t{kWidth} * 4};
      job.settings.rule.foreground = Foreground::kMotion;
      job.segmentation.motion.model = model;
      job.time = int64_t{i} * 100'000'000;
      ASSERT_TRUE(engine->push(job).ok());
      FrameResult result;
      ASSERT_TRUE(engine->pop(&result).ok());
      n_components = result.counts.n_components;
    }
    EXPECT_EQ(n_components, 1u);
    for (size_t i = 0; i < pixels.size(); i += 4) {
      ASSERT_NEAR(pixels[i], 60, 3) << i / 4 % kWidth << ", " << i / 4 / kWidth;
      ASSERT_EQ(pixels[i], pixels[i + 2]);
      ASSERT_EQ(pixels[i + 3], 255);
    }
  }
}

/// The values of the mask, and chroma that is grey, in rows with padding.
TEST(MaskOutputTest, ValuesAndChroma) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  for (const uint32_t width : {1u, 15u, 64u, 67u}) {
    constexpr uint32_t kHeight = 21;
    const Image image = noise(width, kHeight, 3, 50, 1);
    Config config;
    config.width = width;
    config.height = kHeight;
    config.output = Output::kMask;
    ASSERT_TRUE(engine->configure(config).ok());
    const uint32_t chroma_row = (width + 1) / 2;
    const uint32_t chroma_rows = (kHeight + 1) / 2;
    for (const bool is_limited : {true, false}) {
      const size_t stride = width + (is_limited ? kPadding : 0);
      std::vector<uint8_t> luma(stride * kHeight, 0x5a);
      std::vector<uint8_t> chroma(2 * stride * chroma_rows, 0x5a);
      FrameJob job;
      job.input = {image.pixels(), image.stride};
      job.output = {.pixels = luma.data(),
                    .stride = stride,
                    .chroma = {chroma.data(), chroma.data() + stride * chroma_rows},
                    .chroma_stride = stride,
                    .chroma_row = chroma_row,
                    .chroma_rows = chroma_rows};
      job.settings.mask_on = is_limited ? 235 : 255;
      job.settings.mask_off = is_limited ? 16 : 0;
      ASSERT_TRUE(engine->push(job).ok());
      FrameResult result;
      ASSERT_TRUE(engine->pop(&result).ok());
      for (uint32_t y = 0; y < kHeight; ++y) {
        for (uint32_t x = 0; x < stride; ++x) {
          const int want = x >= width            ? 0x5a
                           : image.at(x, y) != 0 ? job.settings.mask_on
                                                 : job.settings.mask_off;
          ASSERT_EQ(luma[y * stride + x], want) << x << ", " << y;
        }
      }
      for (size_t i = 0; i < chroma.size(); ++i) {
        ASSERT_EQ(chroma[i], i % stride < chroma_row ? 128 : 0x5a) << i;
      }
    }
  }
}

}  // namespace

}  // namespace ccl::test
