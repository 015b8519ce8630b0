// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage of the GPU beside that of the CPU: the same records, tracks, counts and pixels, to the
/// byte, in every frame of a stream.
///
/// --gtest_filter='*Few*' is short enough for racecheck and memcheck.
#include <gtest/gtest.h>

#include <atomic>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ccl/colors.h"
#include "engine_pair.h"
#include "fixture.h"
#include "fuzz.h"
#include "images.h"
#include "track/tables.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

struct Case {
  std::string name;
  Config config = {};
  FrameJob job = {};
  uint32_t n_frames = 60;
  uint32_t n_actors = 24;
  bool has_chroma = false;
  bool changes = false;  ///< settings and resets change from frame to frame
};

Config config_of(uint32_t width, uint32_t height, Output output, uint32_t max_tracks = 256) {
  Config config;
  config.width = width;
  config.height = height;
  config.output = output;
  config.max_components = 1000;
  config.max_tracks = max_tracks;
  config.slots = 2;
  return config;
}

void change(RectangleVideo* video, FrameJob* job) {
  job->resets_tracks = video->is_once_in(25);
  job->settings.filter = {};
  job->settings.filter.min_area = video->below(3) * 20;
  job->settings.filter.top_n = video->is_once_in(5) ? 3 : 0;
  job->settings.filter.min_extent = video->is_once_in(4) ? kFilterOne / 2 : 0;
  job->settings.connectivity = video->is_once_in(2) ? Connectivity::k4 : Connectivity::k8;
  job->settings.separation.neck = static_cast<uint16_t>(video->is_once_in(2) ? 0 : 1 + video->below(1024));
  job->settings.separation.aspect = static_cast<uint8_t>(1 + video->below(16));
  job->settings.palette = static_cast<Palette>(video->below(kPaletteCount));
  job->settings.draw_boxes = video->is_once_in(2);
  job->settings.color_seed = video->below(1000);
  job->settings.features = video->is_once_in(2) ? kAllFeatures : kAllFeatures | kFeatureGrey;
  job->tracking = {.confirm_frames = 1 + video->below(4), .lost_ms = video->below(400)};
}

/// Returns how many frames were compared before one differed.
uint32_t compare_frames(const Case& c, uint32_t seed, std::atomic<size_t>* n_events = nullptr) {
  EnginePair pair(c.config);
  pair.job = c.job;
  pair.has_chroma = c.has_chroma;
  RectangleVideo video(c.config.width, c.config.height, seed, c.n_actors);
  int64_t time = 0;
  for (uint32_t i = 0; i < c.n_frames; ++i) {
    if (pair.n_in_flight() == c.config.slots) {
      pair.pop(c.name + ", frame " + std::to_string(i - c.config.slots));
    }
    time += 1'000'000 * int64_t{video.below(80)};  // sometimes none
    pair.job.time = video.is_once_in(12) ? kNoTime : time;
    if (c.changes) {
      change(&video, &pair.job);
      pair.asks_for_labels = video.is_once_in(4);
    }
    pair.push(video.next());
    if (testing::Test::HasFatalFailure()) {
      return pair.n_compared();
    }
  }
  while (pair.n_in_flight() > 0) {
    pair.pop(c.name + ", frame " + std::to_string(c.n_frames - pair.n_in_flight()));
    if (testing::Test::HasFatalFailure()) {
      return pair.n_compared();
    }
  }
  EXPECT_GT(pair.n_tracks(), 0u) << c.name;
  if (n_events != nullptr) {
    *n_events += pair.n_events();
  }
  return pair.n_compared();
}

void run(const Case& c, uint32_t seed) {
  compare_frames(c, seed);
}

/// Small, for the sanitizers: both pipelines, a filter, boxes, and a table that overflows.
TEST(TrackDeviceTest, FewFrames) {
  for (const Algorithm algorithm : {Algorithm::kRuns, Algorithm::kUnionFind}) {
    for (const uint32_t max_components : {1000u, 5u}) {
      Case c{.name = "few", .config = config_of(72, 40, Output::kColorized), .n_frames = 6, .n_actors = 8};
      c.config.algorithm = algorithm;
      c.config.max_components = max_components;
      c.job.settings.filter.min_area = 4;
      c.job.settings.draw_boxes = true;
      run(c, 1);
    }
  }
}

TEST(TrackDeviceTest, EveryLabeler) {
  for (const LabelerCase& labeler : labeler_cases()) {
    Case c{.name = name_of(labeler), .config = config_of(173, 97, Output::kColorized), .n_frames = 25};
    c.config.algorithm = labeler.labeler.algorithm;
    c.job.settings = labeler.settings();
    run(c, 2);
  }
}

TEST(TrackDeviceTest, EveryOutput) {
  for (const Algorithm algorithm : {Algorithm::kRuns, Algorithm::kUnionFind}) {
    for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels,
                                Output::kMask, Output::kBackground, Output::kForeground, Output::kDistance}) {
      for (const bool has_chroma : {false, true}) {
        for (const uint32_t width : {160u, 173u}) {
          Case c{.name = "output " + std::to_string(static_cast<uint32_t>(output)),
                 .config = config_of(width, 97, output),
                 .n_frames = 20,
                 .has_chroma = has_chroma};
          c.config.algorithm = algorithm;
          c.config.planes = output == Output::kDistance ? kDistancePlane | kIdPlane : 0u;
          c.job.settings.draw_boxes = true;
          c.job.settings.filter.min_area = width == 160 ? 1 : 30;
          c.job.settings.mask_on = 200;
          run(c, 3);
        }
      }
    }
  }
}

TEST(TrackDeviceTest, EveryNumberOfSlots) {
  for (uint32_t slots = 1; slots <= 9; ++slots) {
    Case c{.name = std::to_string(slots) + " slots", .config = config_of(320, 180, Output::kColorized)};
    c.config.slots = slots;
    run(c, slots);
  }
}

/// Resets, filters, palettes, boxes and connectivities that change with every frame, and requests for labels.
TEST(TrackDeviceTest, SettingsThatChange) {
  for (const Output output : {Output::kColorized, Output::kOverlay, Output::kNone}) {
    for (uint32_t slots = 1; slots <= 5; slots += 2) {
      Case c{.name = "changes", .config = config_of(173, 97, output), .n_frames = 150, .changes = true};
      c.config.slots = slots;
      run(c, slots);
    }
  }
}

TEST(TrackDeviceTest, OddSizes) {
  for (const auto& [width, height] : {std::pair{1u, 1u},
                                      {1u, 200u},
                                      {200u, 1u},
                                      {7u, 33u},
                                      {63u, 65u},
                                      {64u, 64u},
                                      {65u, 129u},
                                      {641u, 360u},
                                      {1032u, 63u}}) {
    Case c{.name = std::to_string(width) + "x" + std::to_string(height),
           .config = config_of(width, height, Output::kColorized),
           .n_frames = 40,
           .n_actors = 8 + width * height / 2000};
    run(c, 4);
  }
}

TEST(TrackDeviceTest, ShortTables) {
  for (const uint32_t max_tracks : {1u, 3u, 20u}) {
    Case c{.name = "max_tracks " + std::to_string(max_tracks),
           .config = config_of(173, 97, Output::kColorized, max_tracks)};
    run(c, 5);
  }
}

/// Runs images that are given, one after the other, and again.
void run_images(const Config& config, const FrameJob& job, const std::vector<Image>& images,
                uint32_t n_frames, EnginePair* pair) {
  pair->configure(config);
  pair->job = job;
  for (uint32_t i = 0; i < n_frames; ++i) {
    pair->job.time = i * int64_t{40'000'000};
    pair->push(images[i % images.size()]);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    pair->pop("frame " + std::to_string(i));
    ASSERT_FALSE(testing::Test::HasFatalFailure());
  }
}

/// Some frames have more components than records: there the records are chosen late, and have the id 0.
TEST(TrackDeviceTest, TablesThatOverflow) {
  std::vector<Image> images;
  RectangleVideo video(160, 120, 7, 12);
  for (uint32_t i = 0; i < 12; ++i) {
    images.push_back(i % 4 == 3 ? noise(160, 120, 4, 20, i) : video.next());
  }
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Output output : {Output::kColorized, Output::kOverlay, Output::kMask, Output::kLabels}) {
      for (const uint32_t min_area : {1u, 10u}) {
        Config config = config_of(160, 120, output);
        config.algorithm = labeler.algorithm;
        config.max_components = 25;
        FrameJob job;
        job.settings.draw_boxes = true;
        job.settings.filter.min_area = min_area;
        job.settings.features |= output == Output::kMask ? kFeatureGrey : 0u;
        EnginePair pair(config);
        run_images(config, job, images, 24, &pair);
        ASSERT_FALSE(testing::Test::HasFatalFailure()) << labeler.nick;
        EXPECT_EQ(pair.n_grey() > 0, output == Output::kMask);
        EXPECT_GT(pair.n_overflows(), 0u);
        EXPECT_LT(pair.n_overflows(), 24u);
      }
    }
  }
}

/// Some frames have a record for each component, but more components than there can be tracks.
TEST(TrackDeviceTest, MoreComponentsThanAreMatched) {
  const Image dots =
      drawn("dots", 328, 320, [](uint32_t x, uint32_t y) { return x % 2 == 0 && y % 2 == 0 && y > 100; });
  std::vector<Image> images;
  RectangleVideo video(328, 320, 6, 60);
  for (uint32_t i = 0; i < 10; ++i) {
    images.push_back(i % 5 == 3 ? dots : video.next());
  }
  for (const Output output :
       {Output::kColorized, Output::kOverlay, Output::kLabels, Output::kMask, Output::kDistance}) {
    for (const uint16_t neck : {0, 700}) {
      Config config = config_of(328, 320, output, 2000);
      config.max_components = 100'000;
      config.planes = kIdPlane;
      FrameJob job;
      job.settings.draw_boxes = true;
      job.settings.separation.neck = neck;
      EnginePair pair(config);
      run_images(config, job, images, 20, &pair);
      ASSERT_FALSE(testing::Test::HasFatalFailure());
      EXPECT_GT(pair.most_records(), kMaxTracks);
      EXPECT_EQ(pair.n_overflows(), 0u);
      EXPECT_GE(pair.n_without_ids(), 4u);
    }
  }
}

/// Stripes that cross meet in so many pairs as a frame may have, and in one more: that frame is not matched.
TEST(TrackDeviceTest, AsManyPairsAsFit) {
  const auto stripes = [](bool is_upright, uint32_t n) {
    return drawn("stripes", 256, 256, [=](uint32_t x, uint32_t y) {
      const uint32_t place = is_upright ? x : y;
      return place / 4 < n && place % 4 < 2;
    });
  };
  for (const Output output : {Output::kColorized, Output::kNone}) {
    Config config = config_of(256, 256, output);
    config.max_components = 64;
    const uint32_t most = track::TrackSizes{.max_tracks = 1, .max_components = 64}.max_overlaps();
    ASSERT_EQ(most, 40u * 32u);
    ASSERT_EQ(most + 1, 61u * 21u);
    EnginePair pair(config);
    run_images(config, {},
               {stripes(true, 40), stripes(false, 32), stripes(true, 61), stripes(false, 21),
                stripes(true, 64), stripes(false, 64), stripes(false, 64)},
               21, &pair);
    ASSERT_FALSE(testing::Test::HasFatalFailure());
    EXPECT_GT(pair.n_tracks(), 0u);
    EXPECT_GT(pair.n_without_ids(), 0u);
  }
}

/// Each frame has thousands of components, and pairs in every tile.
TEST(TrackDeviceTest, Noise) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 12; ++i) {
    images.push_back(noise(320, 200, 1 + i % 3, 10 + 5 * (i % 4), i));
  }
  Config config = config_of(320, 200, Output::kColorized, kMaxTracks);
  config.max_components = 16384;
  EnginePair pair(config);
  run_images(config, {}, images, 24, &pair);
}

/// So many pairs of tracks and components that both backends sort them by place, with tables of tracks that
/// are full.
TEST(TrackDeviceTest, PixelNoise) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 6; ++i) {
    images.push_back(noise(480, 270, 1, 30, i));
  }
  for (const uint32_t max_tracks : {300u, 2048u, kMaxTracks}) {
    Config config = config_of(480, 270, Output::kNone, max_tracks);
    config.max_components = 480 * 270;
    EnginePair pair(config);
    run_images(config, {}, images, 18, &pair);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << max_tracks << " tracks";
    EXPECT_GT(pair.most_records() * uint64_t{max_tracks}, track::TrackTables().most_pairs);
  }
}

/// Frames whose tables fit in the shared memory of a block, and frames whose tables do not: 52 bytes for each
/// of more than 6,000 components. One kind follows the other.
TEST(TrackDeviceTest, TablesInBothMemories) {
  RectangleVideo video(360, 240, 12, 60);
  std::vector<Image> images;
  for (uint32_t i = 0; i < 12; ++i) {
    images.push_back(i % 6 < 4 ? video.next() : noise(360, 240, 1, 16, i / 2));
  }
  Config config = config_of(360, 240, Output::kColorized, kMaxTracks);
  config.max_components = 16384;
  EnginePair pair(config);
  run_images(config, {}, images, 36, &pair);
  ASSERT_FALSE(testing::Test::HasFatalFailure());
  EXPECT_GT(pair.most_records(), 6000u);
}

/// Through a bit image: another kernel's argument changes with every frame, too.
TEST(TrackDeviceTest, BackgroundModel) {
  for (const uint32_t slots : {1u, 3u}) {
    Case c{
        .name = "motion", .config = config_of(173, 97, Output::kForeground), .n_frames = 120, .n_actors = 10};
    c.config.slots = slots;
    c.job.settings.rule.foreground = Foreground::kMotion;
    c.job.segmentation.motion.warm_up_ms = 200;
    run(c, 8);
  }
}

TEST(TrackDeviceTest, Hysteresis) {
  Case c{.name = "hysteresis", .config = config_of(173, 97, Output::kColorized)};
  c.job.settings.rule.threshold = 200;
  c.job.segmentation.threshold_low = 100;
  run(c, 9);
}

/// The tracks go on in another configuration, or end where they do on the host.
TEST(TrackDeviceTest, Reconfiguration) {
  RectangleVideo video(173, 97, 10, 12);
  std::vector<Image> images;
  for (uint32_t i = 0; i < 10; ++i) {
    images.push_back(video.next());
  }
  Config config = config_of(173, 97, Output::kColorized);
  EnginePair pair(config);
  run_images(config, {}, images, 10, &pair);
  config.output = Output::kMask;
  config.slots = 4;
  config.algorithm = Algorithm::kBlockEquivalence;
  run_images(config, {}, images, 10, &pair);
  config.max_tracks = 0;
  run_images(config, {}, images, 10, &pair);
  config.max_tracks = 100;
  run_images(config, {}, images, 10, &pair);
  config.max_components = 500;
  run_images(config, {}, images, 10, &pair);
}

TEST(TrackDeviceTest, LargeFrames) {
  for (const auto& [width, height] : {std::pair{1920u, 1080u}, {3840u, 2160u}}) {
    Case c{.name = "large",
           .config = config_of(width, height, Output::kColorized, 4096),
           .n_frames = 12,
           .n_actors = 1200};
    c.config.max_components = 16384;
    run(c, 11);
  }
}

/// People who come alone, meet, walk together and part, so that tracks guide cuts: by each labeler.
TEST(TrackDeviceTest, Groups) {
  constexpr uint32_t kWidth = 250;
  constexpr uint32_t kHeight = 130;
  constexpr uint32_t kFrames = 64;
  std::vector<Image> images;
  for (uint32_t i = 0; i < kFrames; ++i) {
    images.push_back(drawn("walkers", kWidth, kHeight, [i](uint32_t x, uint32_t y) {
      const auto is_in = [&](int32_t at_x, int32_t at_y) {
        const int32_t dx = static_cast<int32_t>(x) - at_x;
        const int32_t dy = static_cast<int32_t>(y) - at_y;
        return 9 * dx * dx + dy * dy <= 24 * 24;
      };
      const auto t = static_cast<int32_t>(i);
      const int32_t near = std::abs(t - 32) > 16 ? std::abs(t - 32) - 16 : 0;
      return is_in(40 + 2 * t - near, 40) || is_in(50 + 2 * t + near, 44) || is_in(210 - 2 * t + near, 95) ||
             is_in(199 - 2 * t - near, 90) || is_in(204 - 2 * t, 97 - near);
    }));
  }
  for (const LabelerCase& labeler : labeler_cases()) {
    if (labeler.settings().rule.foreground == Foreground::kValues) {
      continue;
    }
    Config config = config_of(kWidth, kHeight, Output::kColorized);
    config.algorithm = labeler.labeler.algorithm;
    FrameJob job;
    job.settings = labeler.settings();
    job.settings.separation = {.neck = 700, .aspect = 3};
    EnginePair pair(config);
    run_images(config, job, images, kFrames, &pair);
    ASSERT_FALSE(testing::Test::HasFatalFailure()) << name_of(labeler);
  }
}

/// Ids, tracks, events, grey statistics and pixels of random video: see fuzz.h for longer runs.
TEST(TrackDeviceTest, RandomVideo) {
  constexpr uint32_t kFrames = 150;
  std::atomic<size_t> n_events = 0;
  fuzz(40, kFrames, [&](uint32_t seed) {
    const uint32_t size = (seed - 1) % 40 + 1;
    Case c{.name = "seed " + std::to_string(seed),
           .config = config_of(120 + 8 * (seed % 9) + seed % 3, 60 + size, Output::kColorized),
           .n_frames = kFrames,
           .n_actors = 1 + size};
    c.config.slots = 1 + seed % 4;
    c.config.threads = 1;  // videos run beside each other
    c.job.settings.rule.foreground = seed % 3 == 0 ? Foreground::kValues : Foreground::kBinary;
    c.job.settings.features |= seed % 2 == 0 ? kFeatureGrey : 0u;
    c.job.settings.separation.neck = static_cast<uint16_t>(seed % 2 == 0 ? 0 : 1 + seed * 37 % 1024);
    c.job.settings.separation.aspect = static_cast<uint8_t>(1 + seed % 5 / 3);
    c.job.settings.filter.min_area = seed % 7 < 3 ? 1 : 25;
    c.job.tracking.lost_ms = seed % 4 == 0 ? 0 : 50 * size;
    return compare_frames(c, seed, &n_events);
  });
  EXPECT_GT(n_events, 0u);
}

}  // namespace

}  // namespace ccl::test
