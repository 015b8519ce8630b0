// SPDX-License-Identifier: LGPL-2.1-or-later
/// A stream: what changes while frames are in flight, and what outlasts a change.
#include "ccl/stream.h"

#include <gtest/gtest.h>

#include "fixture.h"
#include "images.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 40;
constexpr uint32_t kHeight = 20;
constexpr int64_t kFrameNs = 40'000'000;

Image square_at(uint32_t x) {
  return drawn("square", kWidth, kHeight,
               [x](uint32_t px, uint32_t py) { return px >= x && px < x + 4 && py >= 8 && py < 12; });
}

/// A zone from one side to another, in parts of the width.
std::shared_ptr<const Regions> zone(double left, double right) {
  Regions regions;
  regions.zones = {{.name = "half", .polygon = {{left, 0}, {right, 0}, {right, 1}, {left, 1}}}};
  return std::make_shared<const Regions>(regions);
}

std::shared_ptr<const Regions> include(double left, double right) {
  Regions regions;
  regions.include = {{.name = "", .polygon = {{left, 0}, {right, 0}, {right, 1}, {left, 1}}}};
  return std::make_shared<const Regions>(regions);
}

class StreamTest : public testing::Test {
 protected:
  void SetUp() override {
    std::unique_ptr<Engine> engine;
    ASSERT_TRUE(make_engine(&engine).ok());
    stream.use_engine(std::move(engine));
  }

  void configure(uint32_t slots = 1, uint32_t max_tracks = 4) {
    const Status status =
        stream.configure({.width = kWidth, .height = kHeight, .max_tracks = max_tracks, .slots = slots});
    ASSERT_TRUE(status.ok()) << status.message();
  }

  Status push(const Image& image, const FrameOptions& options = {}) {
    FrameJob job;
    job.input = {.pixels = image.pixels(), .stride = image.stride};
    job.settings = settings;
    job.tracking.confirm_frames = 1;
    job.time = time += kFrameNs;
    return stream.push(job, options);
  }

  /// The types of the frame's events.
  std::vector<uint32_t> pop() {
    const Status status = stream.pop(&result);
    EXPECT_TRUE(status.ok()) << status.message();
    std::vector<uint32_t> types;
    for (const CclEvent& event : status.ok() ? result->events : std::span<const CclEvent>()) {
      types.push_back(event.type);
    }
    return types;
  }

  std::vector<uint32_t> play(const Image& image, const FrameOptions& options = {}) {
    EXPECT_TRUE(push(image, options).ok());
    return pop();
  }

  Stream stream;
  Settings settings;
  int64_t time = 0;
  const StreamResult* result = nullptr;
};

using Types = std::vector<uint32_t>;
const Types kBegin = {CCL_EVENT_STARTED, CCL_EVENT_BORN, CCL_EVENT_ENTERED};

TEST_F(StreamTest, FramesInFlightKeepTheirRegions) {
  configure(2);
  const Image left = square_at(4);
  ASSERT_TRUE(stream.set_regions(zone(0, 0.5)).ok());
  ASSERT_TRUE(push(left).ok());
  ASSERT_TRUE(stream.set_regions(zone(0.5, 1)).ok());
  ASSERT_TRUE(push(left).ok());
  EXPECT_EQ(pop(), kBegin);
  EXPECT_EQ(result->time, kFrameNs);
  EXPECT_EQ(result->tracks[0].zones, 1u);
  EXPECT_EQ(pop(), Types{});
  EXPECT_EQ(result->tracks[0].zones, 0u);
  ASSERT_EQ(result->n_inside.size(), 1u);
  EXPECT_EQ(result->n_inside[0], 0u);
}

TEST_F(StreamTest, TheMaskIsThatOfThePush) {
  configure(2, 0);
  const Image left = square_at(4);
  ASSERT_TRUE(push(left).ok());
  ASSERT_TRUE(stream.set_regions(include(0.5, 1)).ok());
  ASSERT_TRUE(push(left).ok());
  pop();
  EXPECT_EQ(result->components.size(), 1u);
  pop();
  EXPECT_EQ(result->components.size(), 0u);
  configure(1, 0);
  play(left);
  EXPECT_EQ(result->components.size(), 0u) << "regions outlast a configuration";
  ASSERT_TRUE(stream.set_regions(nullptr).ok());
  play(left);
  EXPECT_EQ(result->components.size(), 1u);
  EXPECT_EQ(result->n_inside.size(), 0u);
}

TEST_F(StreamTest, EventsGoOnOverAConfigurationAndEndWithTracks) {
  configure();
  ASSERT_TRUE(stream.set_regions(zone(0, 0.5)).ok());
  const Image left = square_at(4);
  EXPECT_EQ(play(left), kBegin);
  configure(2);
  EXPECT_EQ(play(left), Types{});
  EXPECT_EQ(result->n_inside[0], 1u);
  configure(2, 0);
  EXPECT_EQ(play(left), Types{});
  configure(2);
  EXPECT_EQ(play(left), kBegin) << "another track";
}

TEST_F(StreamTest, AResetForgetsEvents) {
  configure(2);
  ASSERT_TRUE(stream.set_regions(zone(0, 0.5)).ok());
  const Image left = square_at(4);
  EXPECT_EQ(play(left), kBegin);
  ASSERT_TRUE(push(left).ok());
  EXPECT_EQ(stream.n_in_flight(), 1u);
  stream.reset();
  EXPECT_EQ(stream.n_in_flight(), 0u);
  EXPECT_EQ(stream.pop(&result).code(), StatusCode::kNeedMoreData);
  EXPECT_EQ(play(left), kBegin);
}

/// Also if the frame that resets the tracks is discarded. Frames without time stamps follow.
TEST_F(StreamTest, TimeOfEventsBeginsAgainWithThatOfTracks) {
  const Image image = square_at(4);
  for (const bool is_discarded : {false, true}) {
    configure(2);
    time = int64_t{1'000'000'000'000};
    play(image);
    FrameJob job;
    job.input = {.pixels = image.pixels(), .stride = image.stride};
    job.tracking.confirm_frames = 1;
    job.resets_tracks = true;
    ASSERT_TRUE(stream.push(job).ok());
    if (is_discarded) {
      stream.flush();
      job.resets_tracks = false;
      ASSERT_TRUE(stream.push(job).ok());
    }
    pop();
    ASSERT_FALSE(result->events.empty());
    EXPECT_EQ(result->events[0].time, 0);
    EXPECT_LT(result->tracks[0].last_time, kFrameNs);
    stream.reset();
  }
}

/// It gives the same ids again.
TEST_F(StreamTest, AnotherEngineForgetsEvents) {
  configure();
  ASSERT_TRUE(stream.set_regions(zone(0, 0.5)).ok());
  EXPECT_EQ(play(square_at(4)), kBegin);
  SetUp();
  configure();
  EXPECT_EQ(play(square_at(4)), kBegin);
}

/// A reset of the background waits for a frame that has one, also in a batch.
TEST_F(StreamTest, AResetOfTheBackgroundIsNotLost) {
  ASSERT_TRUE(stream.configure({.width = kWidth, .height = kHeight, .batch = 3}).ok());
  const Image image = square_at(4);
  const auto frame = [&](Foreground foreground, bool resets) {
    FrameJob job;
    job.input = {.pixels = image.pixels(), .stride = image.stride};
    job.settings.rule.foreground = foreground;
    job.segmentation.motion.warm_up_ms = 10;
    job.time = time += kFrameNs;
    job.resets_background = resets;
    return Stream::Frame{job, {}};
  };
  const auto is_relearning = [&](const std::vector<Stream::Frame>& frames) {
    EXPECT_TRUE(stream.push(frames).ok());
    std::vector<bool> found;
    for (size_t i = 0; i < frames.size(); ++i) {
      pop();
      found.push_back(result->counts.relearning != 0);
    }
    return found;
  };
  const Stream::Frame motion = frame(Foreground::kMotion, false);
  EXPECT_EQ(is_relearning({motion}), std::vector{true});
  EXPECT_EQ(is_relearning({frame(Foreground::kMotion, false)}), std::vector{false});
  EXPECT_EQ(is_relearning({frame(Foreground::kOtsu, true)}), std::vector{false});
  EXPECT_EQ(is_relearning({frame(Foreground::kValues, false), frame(Foreground::kMotion, false),
                           frame(Foreground::kMotion, false)}),
            (std::vector{false, true, false}));
}

TEST_F(StreamTest, LabelsAndObjects) {
  configure(2, 0);
  const Image left = square_at(4);
  play(left);
  EXPECT_EQ(result->labels, nullptr);
  play(left, {.needs_labels = true});
  ASSERT_NE(result->labels, nullptr);
  EXPECT_EQ(result->labels[size_t{8} * kWidth + 4], 1u);
  Objects objects;
  ASSERT_TRUE(stream.list_objects(5, &objects).ok());
  ASSERT_EQ(objects.components.size(), 1u);
  EXPECT_EQ(objects.polygons.size(), 0u);
  settings.features |= kFeatureHull;
  play(left);
  ASSERT_TRUE(stream.list_objects(5, &objects).ok());
  ASSERT_EQ(objects.polygons.size(), 1u);
  EXPECT_EQ(objects.vertices.size(), 4u);
  ASSERT_TRUE(stream.list_objects(0, &objects).ok());
  EXPECT_EQ(objects.polygons.size(), 0u);
  stream.flush();
  EXPECT_EQ(stream.list_objects(5, &objects).code(), StatusCode::kInvalidArgument);
}

TEST_F(StreamTest, OfEquallyLargeObjectsTheFirstIsListed) {
  configure(1, 0);
  const Image two = drawn("two squares", kWidth, kHeight, [](uint32_t x, uint32_t y) {
    return y >= 8 && y < 12 && ((x >= 4 && x < 8) || (x >= 20 && x < 24));
  });
  play(two);
  Objects objects;
  ASSERT_TRUE(stream.list_objects(1, &objects).ok());
  ASSERT_EQ(objects.components.size(), 1u);
  EXPECT_EQ(objects.components[0].label, 1u);
}

TEST_F(StreamTest, RefusalsChangeNothing) {
  const Image left = square_at(4);
  EXPECT_EQ(push(left).code(), StatusCode::kInvalidArgument) << "not configured";
  configure();
  settings.features |= kFeatureHull;
  ASSERT_TRUE(push(left).ok());
  EXPECT_EQ(push(square_at(30)).code(), StatusCode::kInvalidArgument) << "no slot is free";
  EXPECT_EQ(stream.configure({.width = 0, .height = 1}).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(stream.config().has_value());
  pop();
  EXPECT_EQ(result->time, 2 * kFrameNs);
  EXPECT_EQ(result->components[0].x, 4u);
  Objects objects;
  ASSERT_TRUE(stream.list_objects(5, &objects).ok());
  EXPECT_EQ(objects.polygons.size(), 1u);
}

}  // namespace

}  // namespace ccl::test
