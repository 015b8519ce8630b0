// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is true of the parts of any video, cut by tracks (track/guide.h) or by shape: they are connected,
/// cover what they are parts of, and do not depend on the labeler or on how the foreground was found.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "fixture.h"
#include "fuzz.h"
#include "images.h"
#include "random.h"
#include "walkers.h"

namespace ccl::test {

namespace {

/// A stream, and beside it what is cut without tracks.
class TwinStream {
 public:
  TwinStream(const Config& config, const Settings& settings)
      : guided_(config), by_shape_(without_tracks(config)) {
    guided_.job.settings = settings;
    by_shape_.job.settings = settings;
  }

  LabelledStream& guided() { return guided_; }

  TrackedFrame push(const Image& image) {
    by_shape_.push(image);
    return guided_.push(image);
  }
  bool differs_from_shape() const { return guided_.labels != by_shape_.labels; }

 private:
  static Config without_tracks(Config config) {
    config.max_tracks = 0;
    config.output = Output::kNone;
    return config;
  }

  LabelledStream guided_;
  LabelledStream by_shape_;
};

/* Foregrounds */

/// A way to the same foreground.
struct Way {
  std::string name;
  ForegroundRule rule = {};
  Segmentation segmentation = {};
  bool is_dark = false;  ///< the foreground is black on white
};

std::vector<Way> ways() {
  std::vector<Way> ways = {{.name = "binary"},
                           {.name = "inverted", .rule = {.invert = true}, .is_dark = true},
                           {.name = "otsu", .rule = {.foreground = Foreground::kOtsu}},
                           {.name = "hysteresis"},
                           {.name = "holes"}};
  ways[3].segmentation.threshold_low = 60;
  ways[4].segmentation.morphology.fill_holes = 1;
  return ways;
}

Image seen(const Way& way, Image image) {
  if (way.is_dark) {
    for (uint8_t& value : image.memory) {
      value = static_cast<uint8_t>(255 - value);
    }
  }
  return image;
}

/// Everything that is said of a frame.
struct Said {
  TrackedFrame frame;
  std::vector<uint32_t> labels;
};

std::vector<Said> say(const AlgorithmInfo& labeler, Connectivity connectivity, const Way& way) {
  Config config{.algorithm = labeler.algorithm, .output = Output::kColorized, .max_tracks = 64};
  LabelledStream stream = separated(3, config);
  stream.job.settings.connectivity = connectivity;
  stream.job.settings.rule = way.rule;
  stream.job.segmentation = way.segmentation;
  std::vector<Said> said;
  for (int32_t t = 0; t < 48; t += 2) {
    stream.drop();
    Said& last = said.emplace_back();
    last.frame = stream.push(seen(way, draw(251, 131, pair_at(t))));
    last.labels = stream.labels;
  }
  return said;
}

TEST(TrackCutsTest, LabelersAndForegroundsDoNotMatter) {
  for (const Connectivity connectivity : {Connectivity::k4, Connectivity::k8}) {
    std::vector<Said> want;
    for (const AlgorithmInfo& labeler : labelers()) {
      for (const Way& way : ways()) {
        const std::vector<Said> got = say(labeler, connectivity, way);
        want = want.empty() ? got : want;
        ASSERT_EQ(got.size(), want.size());
        for (size_t i = 0; i < got.size(); ++i) {
          ASSERT_TRUE(is_same(got[i].frame, want[i].frame)) << labeler.nick << ", " << way.name << ", " << i;
          ASSERT_EQ(got[i].labels, want[i].labels) << labeler.nick << ", " << way.name << ", " << i;
        }
      }
    }
    EXPECT_GE(want.at(15).frame.components.size(), 2u) << "nothing was cut";
  }
}

/* Any video */

/// Ellipses that come from all sides, meet within ten frames, hide each other, and go on, in a picture of odd
/// size.
class RandomWalkers : public Random {
 public:
  explicit RandomWalkers(uint32_t seed)
      : Random(seed), width_(81 + 2 * below(31)), height_(65 + 2 * below(25)), aspect_(1 + signed_below(3)) {
    const uint32_t n = 2 + below(5);
    for (uint32_t i = 0; i < n; ++i) {
      const int32_t vx = signed_below(11) - 5;
      const int32_t vy = signed_below(7) - 3;
      const int32_t n_frames = 5 + signed_below(6);
      walkers_.push_back({.at = {signed_below(width_ / 3) + signed_below(width_ / 3) - n_frames * vx + 15,
                                 signed_below(height_ / 3) + signed_below(height_ / 3) - n_frames * vy + 15,
                                 8 + signed_below(14), aspect_},
                          .vx = vx,
                          .vy = vy});
    }
  }

  uint8_t aspect() const { return static_cast<uint8_t>(aspect_); }

  Image next() {
    std::vector<Walker> shown;
    for (Actor& actor : walkers_) {
      actor.at.x += actor.vx;
      actor.at.y += actor.vy;
      if (!is_once_in(30)) {
        shown.push_back(actor.at);
      }
    }
    if (is_once_in(60)) {
      return drawn("light", width_, height_, [](uint32_t, uint32_t) { return true; });
    }
    Image image = draw(width_, height_, shown);
    for (uint32_t i = is_once_in(3) ? below(40) : 0; i > 0; --i) {  // noise, and holes
      image.at(below(width_), below(height_)) = is_once_in(2) ? 0 : kForeground;
    }
    return image;
  }

 private:
  struct Actor {
    Walker at;
    int32_t vx, vy;
  };

  uint32_t width_;
  uint32_t height_;
  int32_t aspect_;
  std::vector<Actor> walkers_;
};

Config config_of(uint32_t seed) {
  return {.output = Output::kColorized,
          .max_components = seed % 7 == 0 ? 1 + seed % 5 : 4096,
          .max_tracks = seed % 5 == 0 ? 1 + seed % 3 : 64};
}

Settings settings_of(RandomWalkers* walkers) {
  Settings settings;
  settings.connectivity = walkers->is_once_in(2) ? Connectivity::k4 : Connectivity::k8;
  settings.separation = {.neck = static_cast<uint16_t>(300 + walkers->below(725)),
                         .aspect = walkers->aspect()};
  settings.filter.min_area = walkers->is_once_in(3) ? 1 + walkers->below(60) : 1;
  return settings;
}

/// A track is proven when it was seen alone for 0.14 s: not in the first frames, and not in those after a
/// reset.
constexpr uint32_t kUnprovenFrames = 3;

/// Of all videos.
struct Tally {
  std::atomic<uint32_t> n_frames = 0;
  std::atomic<uint32_t> n_guided = 0;  ///< in which tracks cut in another way than shape
};

/// One video, with `runs` and another labeler. Returns the number of frames that were right.
uint32_t run_random_walkers(uint32_t seed, uint32_t n_frames, Tally* tally) {
  RandomWalkers walkers(seed);
  const std::vector<AlgorithmInfo> all = labelers();
  Config config = config_of(seed);
  const Settings settings = settings_of(&walkers);
  config.algorithm = Algorithm::kRuns;
  TwinStream stream(config, settings);
  config.algorithm = all[seed % all.size()].algorithm;
  TwinStream other(config, settings);
  uint32_t n_since_reset = 0;
  for (uint32_t i = 0; i < n_frames; ++i) {
    const Image image = walkers.next();
    const bool is_dropped = walkers.is_once_in(10);
    const bool has_times = !walkers.is_once_in(12);
    const bool resets = walkers.is_once_in(40);
    for (TwinStream* each : {&stream, &other}) {
      each->guided().set_now(each->guided().now() + (is_dropped ? TrackedStream::kStepNs : 0));
      each->guided().has_times = has_times;
      each->guided().job.resets_tracks = resets;
    }
    n_since_reset = resets ? 1 : n_since_reset + 1;
    const TrackedFrame frame = stream.push(image);
    const bool is_equal =
        is_same(frame, other.push(image)) && stream.guided().labels == other.guided().labels;
    EXPECT_TRUE(is_equal) << "seed " << seed << ", frame " << i << ", " << all[seed % all.size()].nick;
    if (frame.components.size() < config.max_components && settings.filter.min_area == 1) {
      expect_whole(image, stream.guided().labels, frame, settings.connectivity);
    }
    expect_tracks(frame);
    if (n_since_reset < kUnprovenFrames) {
      EXPECT_FALSE(stream.differs_from_shape()) << "seed " << seed << ", frame " << i;
    }
    ++tally->n_frames;
    tally->n_guided += stream.differs_from_shape() ? 1 : 0;
    if (!is_equal || testing::Test::HasFailure()) {
      ADD_FAILURE() << "seed " << seed << ", frame " << i;
      return i;
    }
  }
  return n_frames;
}

/// See fuzz.h for longer runs.
TEST(TrackCutsTest, RandomWalkers) {
  constexpr uint32_t kFrames = 18;
  Tally tally;
  fuzz(200, kFrames, [&](uint32_t seed) { return run_random_walkers(seed, kFrames, &tally); });
  EXPECT_TRUE(tally.n_frames < 1000 || tally.n_guided * 20 > tally.n_frames)
      << tally.n_guided << " of " << tally.n_frames;
}

}  // namespace

}  // namespace ccl::test
