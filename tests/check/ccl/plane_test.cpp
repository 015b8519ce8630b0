// SPDX-License-Identifier: LGPL-2.1-or-later
/// Planes of labels and ids: the labels of the oracle in components that the filter keeps, and the ids of the
/// records with these labels.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "oracle.h"
#include "plane_runner.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kBothPlanes = kLabelPlane | kIdPlane;

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
  PlaneRunner runner(kBothPlanes);
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
  PlaneRunner runner(kBothPlanes);
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
  PlaneRunner runner(kBothPlanes);
  runner.config.algorithm = GetParam().labeler.algorithm;
  runner.config.max_tracks = 12;  // some components have no track
  runner.job.settings = GetParam().settings();
  for (const uint32_t max_components : {1000u, 6u}) {
    runner.config.max_components = max_components;
    RectangleVideo video(120, 90, 5, 12);
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
    PlaneRunner runner(kBothPlanes);
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
  expect_room_is_needed(kLabelPlane, &FrameJob::label_plane);
  expect_room_is_needed(kIdPlane, &FrameJob::id_plane);
  expect_room_is_needed(kDistancePlane, &FrameJob::distance_plane);
}

TEST(PlaneContractTest, UnknownPlanesAreRefused) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  EXPECT_EQ(engine->configure({.width = 20, .height = 10, .layout = {}, .planes = 1u << 5}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace

}  // namespace ccl::test
