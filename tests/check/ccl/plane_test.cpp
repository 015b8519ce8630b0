// SPDX-License-Identifier: LGPL-2.1-or-later
/// Planes of labels and ids: the labels of the oracle in components that the filter keeps, and the ids of the
/// records with these labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "oracle.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kUntouchedValue = 0xdeadbeef;
constexpr uint32_t kPadding = 3;  ///< values between rows

/// Runs frames with both planes, and checks that nothing is written between their rows.
class PlaneRunner {
 public:
  PlaneRunner() { EXPECT_TRUE(make_engine(&engine_).ok()); }

  Config config;
  FrameJob job = {};  ///< of the next frame, except its images
  FrameResult result;
  std::vector<uint32_t> labels;  ///< of the last frame, dense
  std::vector<uint32_t> ids;     ///< likewise

  void run(const Image& image) {
    config.width = image.width;
    config.height = image.height;
    config.planes = kLabelPlane | kIdPlane;
    if (!(config == configured_)) {
      const Status configured = engine_->configure(config);
      ASSERT_TRUE(configured.ok()) << configured.message();
      configured_ = config;
    }
    const size_t stride = image.width + kPadding;
    std::vector<uint32_t> planes[2];
    for (std::vector<uint32_t>& plane : planes) {
      plane.assign(stride * image.height, kUntouchedValue);
    }
    std::vector<uint8_t> pixels(size_t{image.width} * image.height * 4);
    job.input = {image.pixels(), image.stride};
    job.output = {pixels.data(), size_t{image.width} * bytes_per_pixel(config.output)};
    job.label_plane = {planes[0].data(), stride * sizeof(uint32_t)};
    job.id_plane = {planes[1].data(), stride * sizeof(uint32_t)};
    const Status pushed = engine_->push(job);
    ASSERT_TRUE(pushed.ok()) << pushed.message();
    ASSERT_TRUE(engine_->pop(&result).ok());
    labels = take(planes[0], image);
    ids = take(planes[1], image);
  }

 private:
  static std::vector<uint32_t> take(const std::vector<uint32_t>& plane, const Image& image) {
    std::vector<uint32_t> values;
    for (uint32_t y = 0; y < image.height; ++y) {
      const auto row = plane.begin() + static_cast<std::ptrdiff_t>(size_t{y} * (image.width + kPadding));
      values.insert(values.end(), row, row + image.width);
      EXPECT_EQ(std::count(row + image.width, row + image.width + kPadding, kUntouchedValue), kPadding);
    }
    return values;
  }

  std::unique_ptr<Engine> engine_;
  Config configured_;
};

/// The oracle's labels, 0 where the filter does not keep the component.
std::vector<uint32_t> kept_labels(const Image& image, const Settings& settings) {
  ExpectedFrame frame = expect_labels(image, settings);
  std::vector<bool> is_kept(frame.n_labels + 1);
  for (const ExpectedRecord& record : expect_records(frame, settings, frame.n_labels + 1)) {
    is_kept[record.integers.label] = true;
  }
  for (uint32_t& label : frame.labels) {
    label = is_kept[label] ? label : 0;
  }
  return frame.labels;
}

std::vector<Settings> filters() {
  std::vector<Settings> list(7);
  list[1].filter.min_area = 5;
  list[2].filter = {.min_area = 3, .max_area = 40};
  list[3].filter = {.min_width = 3, .clear_border = true};
  list[4].filter.top_n = 4;
  list[5].filter.min_area = 1u << 20;  // keeps nothing
  list[6].filter.min_circularity = kFilterOne / 2;
  return list;
}

std::vector<Image> images() {
  return {noise(77, 61, 1, 45, 2), noise(130, 70, 2, 60, 1), noise(33, 300, 3, 40, 3),
          plain("one pixel", 1, 1), noise(1, 40, 4, 50, 1)};
}

class PlaneTest : public testing::TestWithParam<LabelerCase> {};

TEST_P(PlaneTest, KeptLabels) {
  PlaneRunner runner;
  runner.config.algorithm = GetParam().labeler.algorithm;
  for (const uint32_t threads : {1u, 3u}) {  // strips are merged with more than one
    runner.config.threads = threads;
    for (const Output output : {Output::kNone, Output::kColorized, Output::kMask}) {
      runner.config.output = output;
      std::vector<Settings> few = filters();
      few.resize(output == Output::kNone ? few.size() : 3);  // planes do not depend on the output
      for (const Image& image : images()) {
        for (const Settings& filter : few) {
          runner.job.settings = GetParam().settings();
          runner.job.settings.filter = filter.filter;
          runner.run(image);
          ASSERT_FALSE(HasFatalFailure());
          ASSERT_EQ(runner.labels, kept_labels(image, runner.job.settings)) << image.name;
          ASSERT_EQ(runner.ids, runner.labels) << image.name;  // without tracks
        }
      }
    }
  }
}

/// More components than records: planes have them all.
TEST_P(PlaneTest, TableThatOverflows) {
  PlaneRunner runner;
  runner.config.algorithm = GetParam().labeler.algorithm;
  runner.config.max_components = 3;
  for (const Settings& filter : filters()) {
    runner.job.settings = GetParam().settings();
    runner.job.settings.filter = filter.filter;
    const Image image = noise(77, 61, 1, 45, 2);
    runner.run(image);
    ASSERT_FALSE(HasFatalFailure());
    ASSERT_EQ(runner.labels, kept_labels(image, runner.job.settings));
    ASSERT_EQ(runner.ids, runner.labels);
  }
}

/// Each pixel has the id of the record with its label; none does in a frame whose table overflows.
TEST_P(PlaneTest, IdsOfTracks) {
  PlaneRunner runner;
  runner.config.algorithm = GetParam().labeler.algorithm;
  runner.config.max_tracks = 12;  // some components have no track
  runner.job.settings = GetParam().settings();
  for (const uint32_t max_components : {1000u, 6u}) {
    runner.config.max_components = max_components;
    RandomVideo video(120, 90, 5);
    uint32_t n_with_id = 0;
    uint32_t n_overflows = 0;
    for (uint32_t i = 0; i < 30; ++i) {
      runner.job.settings.filter.min_area = i % 3 * 20;
      runner.run(video.next());
      ASSERT_FALSE(HasFatalFailure());
      std::map<uint32_t, uint32_t> id_of{{0, 0}};
      for (const CclComponent& record : runner.result.components) {
        id_of[record.label] = record.id;
      }
      for (size_t pixel = 0; pixel < runner.labels.size(); ++pixel) {
        const uint32_t want = runner.result.overflow ? 0 : id_of.at(runner.labels[pixel]);
        ASSERT_EQ(runner.ids[pixel], want) << "frame " << i << ", pixel " << pixel;
        n_with_id += want != 0 ? 1 : 0;
      }
      n_overflows += runner.result.overflow ? 1 : 0;
    }
    EXPECT_GT(n_with_id, 1000u);
    EXPECT_EQ(n_overflows > 0, max_components == 6);
  }
}

INSTANTIATE_TEST_SUITE_P(Labelers, PlaneTest, testing::ValuesIn(labeler_cases()), test_name<LabelerCase>);

/// With hysteresis, components without a strong pixel are not kept.
TEST(PlaneHysteresisTest, WeakComponentsAreBackground) {
  for (const AlgorithmInfo& labeler : labelers()) {
    PlaneRunner runner;
    runner.config.algorithm = labeler.algorithm;
    runner.job.settings.rule.threshold = 245;
    runner.job.segmentation.threshold_low = 190;
    runner.run(grey_noise(90, 70, 3));
    ASSERT_FALSE(HasFatalFailure());
    const std::vector<uint32_t> present = [&] {
      std::vector<uint32_t> all = runner.labels;
      std::sort(all.begin(), all.end());
      all.erase(std::unique(all.begin(), all.end()), all.end());
      all.erase(all.begin(), std::upper_bound(all.begin(), all.end(), 0u));
      return all;
    }();
    ASSERT_LT(present.size(), runner.result.counts.n_labels) << labeler.nick;
    ASSERT_EQ(present.size(), runner.result.components.size()) << labeler.nick;
    for (size_t i = 0; i < present.size(); ++i) {
      const CclComponent& record = runner.result.components[i];
      EXPECT_EQ(present[i], record.label);
      EXPECT_EQ(std::count(runner.labels.begin(), runner.labels.end(), record.label), record.area);
    }
  }
}

TEST(PlaneContractTest, PlanesMustHaveRoom) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  Config config;
  config.width = 20;
  config.height = 10;
  config.planes = 1u << 5;
  EXPECT_EQ(engine->configure(config).code(), StatusCode::kInvalidArgument);
  config.planes = kLabelPlane;
  ASSERT_TRUE(engine->configure(config).ok());
  const Image image = noise(20, 10, 1, 50, 1);
  std::vector<uint32_t> values(20 * 10);
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);  // no plane
  job.label_plane = {values.data(), 79};
  EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);
  job.label_plane.stride = 82;
  EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);
  job.label_plane.stride = 80;
  EXPECT_TRUE(engine->push(job).ok());
  engine->flush();
  if (engine->backend() == Backend::kCpu) {
    job.label_plane.memory = Memory::kDevice;
    EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);
  }
}

}  // namespace

}  // namespace ccl::test
