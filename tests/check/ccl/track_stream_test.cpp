// SPDX-License-Identifier: LGPL-2.1-or-later
/// Whole streams: tracks do not depend on how the work is done, and keep their promises in any video.
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "fuzz.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 173;
constexpr uint32_t kHeight = 97;

std::vector<Image> video(uint32_t n_frames, uint32_t seed) {
  RectangleVideo random(kWidth, kHeight, seed, 1 + seed % 24);
  std::vector<Image> frames;
  for (uint32_t i = 0; i < n_frames; ++i) {
    frames.push_back(random.next());
  }
  return frames;
}

Config colorized(uint32_t max_tracks) {
  return {.output = Output::kColorized, .max_tracks = max_tracks};
}

std::vector<TrackedFrame> run(const Config& config, const FrameJob& job, const std::vector<Image>& frames) {
  TrackedStream stream(config);
  stream.job = job;
  std::vector<TrackedFrame> results;
  for (const Image& frame : frames) {
    results.push_back(stream.push(frame));
  }
  return results;
}

void expect_same(const std::vector<TrackedFrame>& got, const std::vector<TrackedFrame>& want,
                 const std::string& what) {
  ASSERT_EQ(got.size(), want.size());
  for (size_t i = 0; i < got.size(); ++i) {
    ASSERT_TRUE(is_same(got[i], want[i])) << what << ", frame " << i;
  }
}

/// Jobs that differ in what the track stage is given.
std::vector<FrameJob> jobs() {
  std::vector<FrameJob> jobs(4);
  jobs[1].settings.connectivity = Connectivity::k4;
  jobs[1].settings.features = 0;
  jobs[2].settings.rule.foreground = Foreground::kValues;
  jobs[3].settings.filter = {.min_area = 9, .min_extent = kFilterOne / 2};
  jobs[3].tracking = {.confirm_frames = 1, .lost_ms = 150};
  return jobs;
}

TEST(TrackStreamTest, EveryLabelerGivesTheSameTracks) {
  const std::vector<Image> frames = video(60, 1);
  for (const FrameJob& job : jobs()) {
    const std::vector<TrackedFrame> want = run(colorized(64), job, frames);
    for (const AlgorithmInfo& labeler : labelers()) {
      Config config = colorized(64);
      config.algorithm = labeler.algorithm;
      expect_same(run(config, job, frames), want, labeler.nick);
    }
  }
}

TEST(TrackStreamTest, ThreadsDoNotMatter) {
  const std::vector<Image> frames = video(100, 2);
  for (const FrameJob& job : jobs()) {
    Config config = colorized(64);
    config.threads = 1;
    const std::vector<TrackedFrame> want = run(config, job, frames);
    for (const uint32_t threads : {2u, 3u, 8u}) {
      config.threads = threads;
      expect_same(run(config, job, frames), want, std::to_string(threads) + " threads");
    }
  }
}

TEST(TrackStreamTest, SlotsDoNotMatter) {
  const std::vector<Image> frames = video(60, 3);
  const std::vector<TrackedFrame> want = run(colorized(64), {}, frames);
  for (uint32_t slots = 2; slots <= 9; ++slots) {
    Config config = colorized(64);
    config.slots = slots;
    TrackedStream stream(config);
    std::vector<TrackedFrame> got;
    for (size_t i = 0; i < frames.size(); ++i) {
      if (i >= slots) {
        got.push_back(stream.finish());
      }
      stream.start(frames[i]);
    }
    while (got.size() < frames.size()) {
      got.push_back(stream.finish());
    }
    expect_same(got, want, std::to_string(slots) + " slots");
  }
}

/// A filter that changes with every frame only decides which components can be tracked.
TEST(TrackStreamTest, FiltersMayChange) {
  TrackedStream stream(colorized(64));
  stream.job.tracking.confirm_frames = 2;  // the smaller one is not seen more often at a time
  for (uint32_t i = 0; i < 40; ++i) {
    stream.job.settings.filter.min_area = i % 4 == 3 ? 200 : 1;
    stream.job.settings.filter.top_n = i % 4 == 2 ? 1 : 0;
    const TrackedFrame frame = stream.push(draw(200, 100, {{20, 20, 20, 20}, {100, 40, 10, 12}}));
    EXPECT_EQ(frame.id_at(25, 25), 1u) << i;
    if (frame.components.size() == 2) {
      EXPECT_EQ(frame.id_at(105, 45), 2u) << i;
    }
  }
}

/* The stream's life */

const std::vector<Rectangle> kScene = {{20, 20, 20, 20}, {100, 40, 10, 12}};

TEST(TrackStreamTest, ResetsEndAllTracks) {
  TrackedStream stream(colorized(64));
  for (uint32_t i = 0; i < 5; ++i) {
    stream.push(draw(200, 100, kScene));
  }
  stream.job.resets_tracks = true;
  TrackedFrame frame = stream.push(draw(200, 100, kScene));
  EXPECT_EQ(frame.id_at(25, 25), 3u);
  EXPECT_EQ(frame.id_at(105, 45), 4u);
  EXPECT_EQ(frame.tracks.size(), 2u);
  EXPECT_TRUE(frame.has_flags(3, CCL_TRACK_NEWBORN));
  frame = stream.push(draw(200, 100, kScene));
  EXPECT_EQ(frame.id_at(25, 25), 3u);
}

TEST(TrackStreamTest, TracksSurviveAnotherConfiguration) {
  TrackedStream stream(colorized(64));
  for (uint32_t i = 0; i < 5; ++i) {
    stream.push(draw(200, 100, kScene));
  }
  Config config = colorized(64);
  config.output = Output::kNone;
  config.slots = 3;
  stream.change(config);
  EXPECT_EQ(stream.push(draw(200, 100, kScene)).id_at(25, 25), 1u);
  EXPECT_EQ(stream.push(draw(200, 100, kScene)).find(1)->age, 6u);
  config.max_tracks = 0;  // tracks end; a component's id is its label
  stream.change(config);
  EXPECT_EQ(stream.push(draw(200, 100, kScene)).id_at(105, 45), 2u);
  config.max_tracks = 32;
  stream.change(config);
  EXPECT_EQ(stream.push(draw(200, 100, kScene)).id_at(25, 25), 3u);
  EXPECT_EQ(stream.push(draw(220, 100, kScene)).id_at(25, 25), 5u);  // a frame of another size
}

/* Time */

TEST(TrackStreamTest, FramesWithoutTimes) {
  TrackedStream stream(colorized(64));
  stream.has_times = false;
  TrackedFrame frame;
  for (int32_t i = 0; i < 10; ++i) {
    frame = stream.push(draw(200, 100, {{20 + 3 * i, 20, 20, 20}}));
  }
  ASSERT_EQ(frame.tracks.size(), 1u);
  EXPECT_NEAR(frame.tracks[0].vx, 90, 0.5);
  EXPECT_EQ(frame.tracks[0].first_time, 0);
  EXPECT_EQ(frame.tracks[0].last_time, int64_t{300'000'000});
}

/// Whatever the time stamps are, the objects keep their ids, and velocities are those of the true steps.
TEST(TrackStreamTest, TimesThatJump) {
  TrackedStream stream(colorized(64));
  int32_t x = 20;
  const auto push = [&](int64_t step) {
    stream.set_now(stream.now() + step - TrackedStream::kStepNs);
    x += 2;
    const TrackedFrame frame = stream.push(draw(400, 100, {{x, 20, 20, 20}}));
    EXPECT_EQ(frame.id_at(x, 20), 1u) << step;
    EXPECT_EQ(frame.tracks.size(), 1u);
    EXPECT_EQ(frame.tracks[0].last_time, stream.now());
  };
  for (const int64_t step :
       {int64_t{40'000'000}, int64_t{40'000'000}, int64_t{40'000'000}, int64_t{0}, -int64_t{3'000'000'000},
        int64_t{40'000'000}, int64_t{500}, int64_t{999}, int64_t{200'000'000}, int64_t{40'000'000}}) {
    push(step);
  }
}

/// A gap counts as a whole, so that a track ends in time however rarely frames come.
TEST(TrackStreamTest, TracksAreLostInTime) {
  struct Case {
    uint32_t lost_ms;
    int64_t step;
    int frames;  ///< in which the track lives on
  };
  constexpr int64_t kSecond = 1'000'000'000;
  for (const Case& one : {Case{1000, 40'000'000, 25},
                          {3000, 2 * kSecond, 1},
                          {60'000, 10 * kSecond, 6},
                          {1000, 5 * kSecond, 0},
                          {3'000'000, 1000 * kSecond, 3},
                          {UINT32_MAX, 86'400 * kSecond, 49}}) {
    TrackedStream stream(colorized(64));
    stream.job.tracking.lost_ms = one.lost_ms;
    for (int i = 0; i < 4; ++i) {
      stream.push(draw(200, 100, {{20, 20, 20, 20}}));
    }
    for (int i = 0; i <= one.frames; ++i) {
      stream.set_now(stream.now() + one.step - TrackedStream::kStepNs);
      EXPECT_EQ(stream.push(draw(200, 100, {})).tracks.size(), i < one.frames ? 1u : 0u)
          << one.lost_ms << ", " << i;
    }
  }
}

/// A dropped frame doubles the step; the object is found where its velocity takes it.
TEST(TrackStreamTest, DroppedFramesDoNotBreakTracks) {
  TrackedStream stream(colorized(64));
  int32_t x = 10;
  for (uint32_t i = 0; i < 24; ++i) {
    const uint32_t n_dropped = i > 4 && i % 3 == 0 ? 2 : 0;
    stream.set_now(stream.now() + n_dropped * TrackedStream::kStepNs);
    x += static_cast<int32_t>(1 + n_dropped) * 9;
    const TrackedFrame frame = stream.push(draw(500, 60, {{x, 20, 12, 12}, {x + 17, 20, 12, 12}}));
    EXPECT_EQ(frame.id_at(x, 20), 1u) << i;
    EXPECT_EQ(frame.id_at(x + 17, 20), 2u) << i;
  }
}

/* Any video */

/// What holds for every frame of every stream.
class Invariants {
 public:
  explicit Invariants(uint32_t max_tracks) : max_tracks_(max_tracks) {}

  void check(const TrackedFrame& frame) {
    ASSERT_LE(frame.tracks.size(), max_tracks_);
    std::set<uint32_t> living;
    uint32_t last_id = 0;
    for (const CclTrack& track : frame.tracks) {
      ASSERT_GT(track.id, last_id) << "ids ascend";
      last_id = track.id;
      living.insert(track.id);
      check_track(track, frame);
    }
    for (const uint32_t id : living_) {
      if (!living.contains(id)) {
        dead_.insert(id);
      }
    }
    living_ = living;
    for (const CclComponent& component : frame.components) {
      ASSERT_TRUE(component.id == 0 || living.contains(component.id));
      if (component.id == 0) {
        ASSERT_EQ(frame.tracks.size(), max_tracks_) << "a component without an id, though there is room";
      } else {
        ASSERT_EQ(component.age, frame.find(component.id)->age);
      }
    }
  }

 private:
  void check_track(const CclTrack& track, const TrackedFrame& frame) {
    ASSERT_FALSE(dead_.contains(track.id)) << "an id is used again";
    const bool is_new = !living_.contains(track.id);
    ASSERT_EQ(is_new, (track.flags & CCL_TRACK_NEWBORN) != 0);
    if (is_new) {
      ASSERT_GT(track.id, largest_id_);
      largest_id_ = track.id;
    }
    ASSERT_EQ(track.age, is_new ? 0 : ages_[track.id] + 1);
    ages_[track.id] = track.age;
    const bool is_predicted = (track.flags & CCL_TRACK_PREDICTED) != 0;
    ASSERT_EQ(is_predicted, track.component == CCL_NO_COMPONENT);
    if (is_predicted) {
      return;
    }
    ASSERT_LT(track.component, frame.components.size());
    const CclComponent& component = frame.components[track.component];
    ASSERT_EQ((track.flags & CCL_TRACK_MERGED) != 0, (component.flags & CCL_COMPONENT_MERGED) != 0);
    if ((track.flags & CCL_TRACK_MERGED) == 0) {
      ASSERT_EQ(component.id, track.id);
    }
    if ((track.flags & (CCL_TRACK_MERGED | CCL_TRACK_FRAGMENTED)) == 0) {
      check_box(track, component);
    }
  }

  /// The box of its component, or a smaller one in it if something else was added to the component.
  static void check_box(const CclTrack& track, const CclComponent& component) {
    const bool is_smaller = track.width < component.width || track.height < component.height;
    const bool is_old = track.age >= kProvenFrames;
    ASSERT_TRUE(is_old || !is_smaller) << "only a proven track has a box of its own";
    ASSERT_GE(track.x, component.x);
    ASSERT_GE(track.y, component.y);
    ASSERT_LE(track.x + track.width, component.x + component.width);
    ASSERT_LE(track.y + track.height, component.y + component.height);
  }

  /// A track that met another one is proven as soon as its velocity was measured twice.
  static constexpr uint32_t kProvenFrames = 3;

  uint32_t max_tracks_;
  uint32_t largest_id_ = 0;
  std::set<uint32_t> living_;
  std::set<uint32_t> dead_;
  std::map<uint32_t, uint32_t> ages_;
};

/// One video, in two engines. Returns the number of frames that were the same.
uint32_t run_random_video(uint32_t seed, uint32_t n_frames) {
  const uint32_t max_tracks = seed % 5 == 0 ? 1 + seed % 7 : 256;
  TrackedStream stream(colorized(max_tracks));
  TrackedStream twin(colorized(max_tracks));
  for (TrackedStream* each : {&stream, &twin}) {
    each->job.settings.rule.foreground = seed % 3 == 0 ? Foreground::kValues : Foreground::kBinary;
    each->job.tracking.lost_ms = seed % 4 == 0 ? 0 : 50 * (seed % 61);
  }
  RectangleVideo random(kWidth, kHeight, seed, 1 + seed % 24);
  Invariants invariants(max_tracks);
  for (uint32_t i = 0; i < n_frames; ++i) {
    const Image image = random.next();
    const TrackedFrame frame = stream.push(image);
    invariants.check(frame);
    const bool is_right = !testing::Test::HasFatalFailure() && is_same(twin.push(image), frame);
    EXPECT_TRUE(is_right) << "seed " << seed << ", frame " << i;
    if (!is_right) {
      return i;
    }
  }
  return n_frames;
}

TEST(TrackStreamTest, RandomVideo) {
  constexpr uint32_t kFrames = 150;
  fuzz(60, kFrames, [](uint32_t seed) { return run_random_video(seed, kFrames); });
}

/// Objects that cross, pass behind a bar, and come and leave at the border.
std::vector<Rectangle> crossing_scene(int32_t i) {
  return {{10 + 3 * i, 10, 20, 30},   {250 - 4 * i, 15, 26, 34},  {30 + 3 * i, 70, 34, 24},
          {260 - 5 * i, 105, 16, 20}, {-60 + 4 * i, 135, 40, 22}, {200, 170 - i, 22, 18},
          {150, 60, 12, 40, 0}};
}

/// No direction is preferred: the places of tracks are rounded, but nothing is decided in another way.
TEST(TrackStreamTest, MirroredVideoHasMirroredTracks) {
  constexpr int32_t kSide = 320;
  TrackedStream stream(Config{.max_tracks = 64});
  TrackedStream mirrored(Config{.max_tracks = 64});
  for (int32_t i = 0; i < 90; ++i) {
    std::vector<Rectangle> scene = crossing_scene(i);
    const TrackedFrame frame = stream.push(draw(kSide, 200, scene));
    for (Rectangle& r : scene) {
      r.x = kSide - r.x - r.width;
    }
    const TrackedFrame other = mirrored.push(draw(kSide, 200, scene));
    ASSERT_EQ(frame.tracks.size(), other.tracks.size()) << i;
    for (size_t k = 0; k < frame.tracks.size(); ++k) {
      const CclTrack& a = frame.tracks[k];
      const CclTrack& b = other.tracks[k];
      ASSERT_EQ(a.id, b.id) << i;
      EXPECT_EQ(a.flags, b.flags) << i << ", id " << a.id;
      EXPECT_NEAR(kSide - a.x - a.width, b.x, 2) << i << ", id " << a.id;
      EXPECT_NEAR(a.y, b.y, 1) << i << ", id " << a.id;
      EXPECT_NEAR(a.width, b.width, 2) << i << ", id " << a.id;
    }
  }
}

/// Frames of noise, in which nearly everything is a candidate for everything.
TEST(TrackStreamTest, Noise) {
  TrackedStream stream(colorized(kMaxTracks));
  Invariants invariants(kMaxTracks);
  for (uint32_t i = 0; i < 12; ++i) {
    const TrackedFrame frame = stream.push(noise(kWidth, kHeight, 1 + i % 3, 10 + 5 * (i % 4), i));
    invariants.check(frame);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << i;
  }
}

}  // namespace

}  // namespace ccl::test
