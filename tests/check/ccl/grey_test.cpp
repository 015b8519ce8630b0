// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics, from their definitions: over the pixels that have the label of a record.
///
/// --gtest_filter='*SanitizerSubset*' is short enough for racecheck and memcheck.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <vector>

#include "ccl/engine.h"
#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

/// A frame and the values that its statistics are made from.
struct GreyFrame {
  uint32_t width;
  uint32_t height;
  std::vector<uint8_t> bytes;
  InputImage input;
  std::vector<uint32_t> values;  ///< dense
};

/// What is expected of one component, before it is rounded.
struct Statistics {
  uint64_t sum = 0;
  uint32_t min = std::numeric_limits<uint32_t>::max();
  uint32_t max = 0;
  long double mean = 0;
  long double variance = 0;
  long double cx = 0;
  long double cy = 0;
};

Statistics expect_statistics(const GreyFrame& frame, const std::vector<uint32_t>& labels, uint32_t label,
                             uint32_t* area) {
  Statistics s;
  __int128 x_sum = 0;
  __int128 y_sum = 0;
  __int128 squares = 0;
  __int128 n = 0;
  long double plain_x = 0;
  long double plain_y = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] == label) {
      const uint32_t v = frame.values[i];
      ++n;
      s.sum += v;
      s.min = std::min(s.min, v);
      s.max = std::max(s.max, v);
      squares += __int128{v} * v;
      x_sum += __int128{v} * static_cast<int64_t>(i % frame.width);
      y_sum += __int128{v} * static_cast<int64_t>(i / frame.width);
      plain_x += static_cast<long double>(i % frame.width);
      plain_y += static_cast<long double>(i / frame.width);
    }
  }
  const auto real = [](__int128 v) { return static_cast<long double>(v); };
  s.mean = real(s.sum) / real(n);
  s.variance = real(squares * n - __int128{s.sum} * s.sum) / real(n * n);
  s.cx = s.sum != 0 ? real(x_sum) / real(s.sum) : plain_x / real(n);
  s.cy = s.sum != 0 ? real(y_sum) / real(s.sum) : plain_y / real(n);
  *area = static_cast<uint32_t>(n);
  return s;
}

/// The nearest float or a neighbour of it.
void expect_near(float got, long double want, const char* what) {
  const auto nearest = static_cast<float>(want);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  ASSERT_GE(got, std::nextafter(nearest, -kInfinity)) << what;
  ASSERT_LE(got, std::nextafter(nearest, kInfinity)) << what;
}

/// Compares up to `most` records of a result.
void check(const GreyFrame& frame, const std::vector<uint32_t>& labels, const FrameResult& result,
           size_t most = 200) {
  ASSERT_EQ(result.grey.size(), result.components.size());
  const size_t step = std::max<size_t>(1, result.grey.size() / most);
  for (size_t i = 0; i < result.grey.size(); i += step) {
    const CclGrey& got = result.grey[i];
    ASSERT_EQ(got.label, result.components[i].label);
    uint32_t area = 0;
    const Statistics want = expect_statistics(frame, labels, got.label, &area);
    ASSERT_EQ(area, result.components[i].area);
    ASSERT_EQ(got.sum, want.sum) << "label " << got.label;
    ASSERT_EQ(got.min, want.min) << "label " << got.label;
    ASSERT_EQ(got.max, want.max) << "label " << got.label;
    expect_near(got.mean, want.mean, "mean");
    expect_near(got.variance, want.variance, "variance");
    expect_near(got.cx, want.cx, "cx");
    expect_near(got.cy, want.cy, "cy");
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}

GreyFrame frame_of(const Image& image) {
  GreyFrame frame{
      .width = image.width, .height = image.height, .bytes = image.memory, .input = {}, .values = {}};
  frame.input.pixels = frame.bytes.data() + image.offset;
  frame.input.stride = image.stride;
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      frame.values.push_back(image.at(x, y));
    }
  }
  return frame;
}

/// Blocks that are bright or dark, with noise in every pixel.
Image textured(uint32_t width, uint32_t height, uint32_t granularity, uint32_t density, uint32_t seed) {
  Image image = noise(width, height, granularity, density, seed);
  const Image grain = grey_noise(width, height, seed + 1);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      image.at(x, y) = static_cast<uint8_t>(image.at(x, y) / 2 + grain.at(x, y) / 2);
    }
  }
  return image;
}

class GreyTest : public testing::Test {
 protected:
  GreyTest() {
    EXPECT_TRUE(make_engine(&engine_).ok());
    job.settings.features |= kFeatureGrey;
    job.settings.rule.threshold = 128;
  }

  /// Runs and checks a frame.
  void run(GreyFrame frame, size_t most = 200) {
    config.width = frame.width;
    config.height = frame.height;
    if (configured_ != config) {
      const Status status = engine_->configure(config);
      ASSERT_TRUE(status.ok()) << status.message();
      configured_ = config;
    }
    const size_t n_pixels = size_t{frame.width} * frame.height;
    labels_.assign(n_pixels, 0);
    output_.assign(n_pixels * bytes_per_pixel(config.output), 0);
    job.input = frame.input;
    job.labels = labels_.data();
    job.output.pixels = output_.data();
    job.output.stride = size_t{frame.width} * bytes_per_pixel(config.output);
    Status status = engine_->push(job);
    ASSERT_TRUE(status.ok()) << status.message();
    status = engine_->pop(&result);
    ASSERT_TRUE(status.ok()) << status.message();
    check(frame, labels_, result, most);
    if (asks_for_roots) {
      run_again_for_roots(frame, most);
    }
  }

  Config config;
  bool asks_for_roots = false;  ///< each frame once more, with a map of roots in the place of the labels
  FrameJob job;
  FrameResult result;

 private:
  void run_again_for_roots(const GreyFrame& frame, size_t most) {
    roots_.assign(labels_.size(), 0);
    job.labels = nullptr;
    job.root_map = roots_.data();
    ASSERT_TRUE(engine_->push(job).ok());
    ASSERT_TRUE(engine_->pop(&result).ok());
    job.root_map = nullptr;
    check(frame, labels_, result, most);
  }

  std::unique_ptr<Engine> engine_;
  Config configured_;
  std::vector<uint32_t> roots_;
  std::vector<uint32_t> labels_;
  std::vector<uint8_t> output_;
};

TEST_F(GreyTest, EveryLabeler) {
  for (const LabelerCase& c : labeler_cases()) {
    config.algorithm = c.labeler.algorithm;
    job.settings.connectivity = c.connectivity;
    job.settings.rule.foreground = c.foreground;
    const bool is_binary = c.foreground == Foreground::kBinary;
    for (const auto& [width, height] : {std::pair{173u, 97u}, {64u, 64u}, {1u, 50u}, {77u, 1u}}) {
      const Image image =
          is_binary ? textured(width, height, 3, 45, width) : value_set(width, height).front();
      run(frame_of(image));
      ASSERT_FALSE(HasFatalFailure()) << name_of(c) << ", " << image.name;
    }
  }
}

TEST_F(GreyTest, EveryOutput) {
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels,
                                Output::kMask, Output::kBackground, Output::kForeground, Output::kDistance}) {
      config.output = output;
      for (const uint32_t max_tracks : {0u, 64u}) {
        config.max_tracks = max_tracks;
        job.settings.draw_boxes = max_tracks != 0;
        run(frame_of(textured(128, 61, 3, 40, 7)));
        ASSERT_FALSE(HasFatalFailure()) << labeler.nick << ", output " << static_cast<int>(output);
      }
    }
  }
}

/// What is kept depends on more than the area, on components in other strips, or on the whole frame.
TEST_F(GreyTest, Filters) {
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    std::vector<Filter> filters(5);
    filters[0].min_area = 20;
    filters[1].min_extent = kFilterOne / 2;
    filters[2].top_n = 5;
    filters[3].max_area = 30;
    filters[3].min_width = 3;
    filters[4].min_area = 1u << 30;
    for (const Filter& filter : filters) {
      job.settings.filter = filter;
      run(frame_of(textured(200, 150, 3, 40, 3)));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
    }
  }
}

TEST_F(GreyTest, Threads) {
  for (const uint32_t threads : {1u, 2u, 3u, 8u}) {
    config.threads = threads;
    for (const uint32_t features : {kAllFeatures | kFeatureGrey, uint32_t{kFeatureGrey}}) {
      for (const uint32_t max_tracks : {0u, 64u}) {
        config.max_tracks = max_tracks;
        job.settings.features = features;
        for (const uint32_t density : {5u, 35u, 60u, 95u}) {
          run(frame_of(textured(150, 301, 2, density, density)));
          ASSERT_FALSE(HasFatalFailure()) << threads << " threads";
        }
      }
    }
  }
}

/// More components than the table holds: the statistics are those of the largest, which have records.
TEST_F(GreyTest, TablesThatOverflow) {
  asks_for_roots = true;
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    for (const uint32_t max_components : {1u, 30u, 300u}) {
      config.max_components = max_components;
      for (const Output output : {Output::kNone, Output::kColorized}) {
        config.output = output;
        for (const uint32_t min_area : {1u, 4u}) {
          job.settings.filter.min_area = min_area;
          job.settings.filter.top_n =
              min_area == 4 ? 40 : 0;  // of which a table has room for one, 30 and all
          run(frame_of(textured(220, 130, 2, 30, min_area)));
          ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
          run(frame_of(textured(220, 130, 20, 30, min_area)));
          ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
        }
      }
    }
  }
}

TEST_F(GreyTest, BitImages) {
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    job.segmentation.morphology.open_radius = 1;
    run(frame_of(textured(173, 97, 4, 45, 5)));
    ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
    job.segmentation = {};
    job.settings.rule.threshold = 200;
    job.segmentation.threshold_low = 100;
    run(frame_of(textured(173, 97, 4, 45, 6)));
    ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
    job.segmentation = {};
    job.settings.rule.threshold = 128;
  }
}

/// Dark components: all values may be 0, which is no weight for a centroid.
TEST_F(GreyTest, Zeros) {
  job.settings.rule.invert = true;
  job.settings.rule.threshold = 1;
  run(frame_of(noise(90, 70, 4, 50, 3)));
  ASSERT_GT(result.grey.size(), 3u);
  EXPECT_EQ(result.grey[0].sum, 0u);
  EXPECT_EQ(result.grey[0].cx, result.components[0].cx);
  EXPECT_EQ(result.grey[0].cy, result.components[0].cy);
}

TEST_F(GreyTest, OffUnlessWanted) {
  job.settings.features = kAllFeatures;
  config.width = config.height = 16;
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  ASSERT_TRUE(engine->configure(config).ok());
  const Image image = plain("full", 16, 16, 255);
  job.input = {image.pixels(), image.stride};
  for (const bool is_wanted : {false, true, false}) {
    job.settings.features = kAllFeatures | (is_wanted ? kFeatureGrey : 0u);
    ASSERT_TRUE(engine->push(job).ok());
    ASSERT_TRUE(engine->pop(&result).ok());
    EXPECT_EQ(result.grey.size(), is_wanted ? 1u : 0u);
  }
  EXPECT_EQ(Settings{}.features & kFeatureGrey, 0u);
}

/* Sources */

/// A frame of pixels of `step` bytes, whose values `read(pixel)` gives.
GreyFrame packed_frame(uint32_t width, uint32_t height, SourcePixels source,
                       const std::function<uint32_t(const uint8_t*)>& read) {
  GreyFrame frame{.width = width, .height = height, .bytes = {}, .input = {}, .values = {}};
  source.stride = size_t{width} * source.step + 6;
  frame.bytes.resize(source.stride * height);
  std::minstd_rand random(width);
  for (size_t i = 0; i < frame.bytes.size(); ++i) {
    const bool is_bright = (i % source.stride / 12 + i / source.stride / 5) % 3 != 0;
    frame.bytes[i] = static_cast<uint8_t>((random() >> 9 & 0x7f) + (is_bright ? 0x80 : 0));
  }
  source.pixels = frame.bytes.data();
  frame.input.source = source;
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      frame.values.push_back(read(source.pixels + y * source.stride + size_t{x} * source.step));
    }
  }
  return frame;
}

TEST_F(GreyTest, Sources) {
  const auto word = [](const uint8_t* p) { return p[0] + 256u * p[1]; };
  SourcePixels rgb{.step = 4, .is_rgb = true, .red = 1, .green = 2, .blue = 3};
  rgb.red_weight = 13933;
  rgb.green_weight = 46871;
  const auto luma = [](const uint8_t* p) {
    return (13933u * p[1] + 46871u * p[2] + 4732u * p[3] + 32768u) / 65536u;
  };
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    for (const uint32_t width : {64u, 131u}) {
      run(packed_frame(width, 75, {.step = 2}, [](const uint8_t* p) { return uint32_t{p[0]}; }));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick << ", 8 bits of 16";
      run(packed_frame(width, 75, {.step = 2, .bits = 16}, word));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick << ", 16 bits";
      EXPECT_GT(result.grey[0].max, 255u);
      run(packed_frame(width, 75, {.step = 2, .bits = 10, .shift = 6},
                       [&](const uint8_t* p) { return word(p) >> 6; }));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick << ", 10 bits";
      run(packed_frame(width, 75, rgb, luma));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick << ", RGB";
    }
  }
}

/// The source, and not what an output shows in its place.
TEST_F(GreyTest, BackgroundModel) {
  config.output = Output::kBackground;
  job.settings.rule.foreground = Foreground::kMotion;
  job.segmentation.motion.warm_up_ms = 40;
  size_t n_records = 0;
  for (uint32_t i = 0; i < 30; ++i) {
    Image image = plain("scene", 120, 80, 40);
    for (uint32_t y = 20; y < 50; ++y) {
      for (uint32_t x = 3 * i; x < 3 * i + 20; ++x) {
        image.at(x, y) = static_cast<uint8_t>(150 + (x + y) % 100);
      }
    }
    job.time = i * int64_t{40'000'000};
    run(frame_of(image));
    ASSERT_FALSE(HasFatalFailure()) << i;
    n_records += result.grey.size();
  }
  EXPECT_GT(n_records, 10u);
}

/* Large sums */

/// The largest sums of a large frame: no sum of 32 bits would do.
TEST_F(GreyTest, LargeValues) {
  constexpr uint32_t kWidth = 4096;
  constexpr uint32_t kHeight = 2160;
  GreyFrame frame{.width = kWidth, .height = kHeight, .bytes = {}, .input = {}, .values = {}};
  frame.bytes.assign(size_t{kWidth} * kHeight * 2, 255);
  frame.values.assign(size_t{kWidth} * kHeight, 65535);
  for (size_t i = 0; i < frame.values.size(); i += 2) {
    frame.bytes[2 * i] = 0;  // 65280
    frame.values[i] = 65280;
  }
  frame.input.source = {.pixels = frame.bytes.data(), .stride = kWidth * 2, .step = 2, .bits = 16};
  run(frame);
  ASSERT_EQ(result.grey.size(), 1u);
  EXPECT_EQ(result.grey[0].mean, 65407.5f);
  EXPECT_EQ(result.grey[0].variance, 127.5f * 127.5f);
}

TEST_F(GreyTest, SanitizerSubset) {
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    for (const uint32_t max_components : {1000u, 5u}) {
      config.max_components = max_components;
      run(frame_of(textured(70, 40, 2, 45, 5)));
      run(packed_frame(33, 20, {.step = 2, .bits = 16}, [](const uint8_t* p) { return p[0] + 256u * p[1]; }));
      ASSERT_FALSE(HasFatalFailure()) << labeler.nick;
    }
  }
}

}  // namespace

}  // namespace ccl::test
