// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage give the same bits for every team, every order of its threads, and every
/// order of the overlaps; and whether they look at all pairs of tracks and components or only at those that
/// a grid finds near each other. A device has a team of many threads; here they are those of the CPU. Built
/// with -fsanitize=thread, it finds steps whose threads race.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "thread_team.h"
#include "track/associate.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

/// A frame's components and their overlaps with those of the frame before.
struct Measured {
  std::vector<CclComponent> records;
  std::vector<uint32_t> labels;
  std::vector<track::Overlap> overlaps;
};

/// A stream's tracks, moved by a team: one thread, or several, in groups if there are eight.
class Tracker {
 public:
  Tracker(const track::TrackSizes& sizes, uint32_t n_threads, uint64_t most_pairs)
      : memory_(track::TrackTables::bytes(sizes), std::byte{0xa5}),  // what is not written is not read
        tables_(sizes, memory_.data()),
        tracks_(sizes.max_tracks),
        n_threads_(n_threads) {
    tables_.most_pairs = most_pairs;
    *tables_.header = {};
  }

  TrackedFrame run(const track::TrackStep& step, Measured measured, bool is_matched) {
    const track::TrackFrame frame{.width = kWidth,
                                  .height = kHeight,
                                  .n_components = static_cast<uint32_t>(measured.records.size()),
                                  .is_matched = is_matched ? 1u : 0u,
                                  .n_overlaps = static_cast<uint32_t>(measured.overlaps.size()),
                                  .overlaps = measured.overlaps.data(),
                                  .records = measured.records.data(),
                                  .tracks = tracks_.data()};
    const auto associate = [&](const auto& team) { track::associate(team, step, frame, tables_); };
    if (n_threads_ == 1) {
      associate(track::HostTeam{});
    } else if (n_threads_ == 8) {
      run_team<LaneTeam>(n_threads_, associate);
    } else {
      run_team<ThreadTeam>(n_threads_, associate);
    }
    return {measured.records, {tracks_.begin(), tracks_.begin() + tables_.header->n_tracks}, {}};
  }

  static constexpr uint32_t kWidth = 300;
  static constexpr uint32_t kHeight = 180;

 private:
  std::vector<std::byte> memory_;
  track::TrackTables tables_;
  std::vector<CclTrack> tracks_;
  uint32_t n_threads_;
};

std::vector<Measured> measure(const std::vector<Image>& images) {
  FrameRunner runner;
  std::vector<Measured> frames;
  for (const Image& image : images) {
    const Outcome& outcome = runner.run(image, {});
    Measured frame{outcome.records, outcome.labels, {}};
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> pairs;
    for (size_t i = 0; !frames.empty() && i < frame.labels.size(); ++i) {
      if (frames.back().labels[i] != 0 && frame.labels[i] != 0) {
        ++pairs[{frames.back().labels[i] - 1, frame.labels[i] - 1}];
      }
    }
    for (const auto& [pair, n_pixels] : pairs) {
      frame.overlaps.push_back({pair.first, pair.second, n_pixels});
    }
    frames.push_back(frame);
  }
  return frames;
}

/// Frames that follow at once or late, tracks that are kept for different times, and resets.
track::TrackStep random_step(int64_t time_ns, std::mt19937* random) {
  constexpr uint32_t kDurations[] = {40'000, 40'000, 40'000, 100'000, 1'000'000};
  std::mt19937& next = *random;
  const uint32_t duration_us = kDurations[next() % std::size(kDurations)];
  return {.time_ns = time_ns,
          .elapsed_ns = uint64_t{duration_us} * 1000,
          .lost_ns = next() % 2'000'000 * uint64_t{1000},
          .duration_us = duration_us,
          .confirm_frames = static_cast<uint32_t>(1 + next() % 4),
          .resets = next() % 50 == 0 ? 1u : 0u};
}

/// Returns how many components got an id, in all frames.
size_t expect_same_for_all_teams(const std::vector<Image>& images, uint32_t max_tracks) {
  std::vector<Measured> frames = measure(images);
  size_t most = 1;  // so that what is written behind the table is noticed
  for (const Measured& frame : frames) {
    most = std::max(most, frame.records.size());
  }
  const track::TrackSizes sizes{.max_tracks = max_tracks, .max_components = static_cast<uint32_t>(most)};
  Tracker one(sizes, 1, UINT64_MAX);  // looks at all pairs
  Tracker one_with_grid(sizes, 1, 0);
  Tracker two(sizes, 2, UINT64_MAX);
  Tracker three(sizes, 3, 0);
  Tracker eight(sizes, 8, 1000);  // both kinds of frames follow each other
  Tracker many(sizes, 32, 1000);
  std::mt19937 random(max_tracks);
  bool was_matched = false;
  size_t n_with_id = 0;
  for (size_t i = 0; i < frames.size(); ++i) {
    const track::TrackStep step = random_step(static_cast<int64_t>(i) * 40'000'000, &random);
    const bool is_matched = random() % 40 > 0;
    Measured& frame = frames[i];
    if (!was_matched || !is_matched || step.resets != 0) {
      frame.overlaps.clear();  // they were not counted
    }
    was_matched = is_matched;
    const TrackedFrame want = one.run(step, frame, is_matched);
    n_with_id += static_cast<size_t>(std::count_if(want.components.begin(), want.components.end(),
                                                   [](const CclComponent& c) { return c.id != 0; }));
    for (Tracker* tracker : {&one_with_grid, &two, &three, &eight, &many}) {
      std::shuffle(frame.overlaps.begin(), frame.overlaps.end(), random);
      EXPECT_TRUE(is_same(tracker->run(step, frame, is_matched), want)) << "frame " << i;
      if (testing::Test::HasFailure()) {
        return n_with_id;
      }
    }
  }
  return n_with_id;
}

TEST(TrackTeamTest, RandomVideo) {
  for (uint32_t seed = 1; seed <= 7; ++seed) {
    RectangleVideo video(Tracker::kWidth, Tracker::kHeight, seed, 3 * seed);
    std::vector<Image> images;
    for (uint32_t i = 0; i < 60; ++i) {
      images.push_back(video.next());
    }
    const uint32_t max_tracks = seed == 7 ? 1 : seed == 6 ? 9 : 256;
    EXPECT_GT(expect_same_for_all_teams(images, max_tracks), images.size() / 2) << seed;
  }
}

/// Large clusters.
TEST(TrackTeamTest, Noise) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 16; ++i) {
    images.push_back(noise(Tracker::kWidth, Tracker::kHeight, 2 + i % 3, 6 + 4 * (i % 5), i));
  }
  EXPECT_GT(expect_same_for_all_teams(images, 4096), images.size());
}

/// Full tables: noise of all grains, with bars as long as the frame and objects that move fast in it.
TEST(TrackTeamTest, FullTables) {
  for (const uint32_t max_tracks : {40u, 700u}) {
    RectangleVideo video(Tracker::kWidth, Tracker::kHeight, max_tracks, 12);
    std::vector<Image> images;
    for (uint32_t i = 0; i < 12; ++i) {
      Image image = video.next();
      const Image grains = noise(Tracker::kWidth, Tracker::kHeight, 1 + i % 4, 4 + 7 * (i / 4), i);
      const uint32_t bar = 60 + 3 * i;
      for (uint32_t y = 0; y < image.height; ++y) {
        for (uint32_t x = 0; x < image.width; ++x) {
          const bool is_beside = x + 2 == bar || x == bar + 2 || y == bar + 2;
          const bool is_grain = grains.at(x, y) != 0 && !is_beside;
          image.at(x, y) = x == bar || y == bar || is_grain ? kForeground : image.at(x, y);
        }
      }
      images.push_back(image);
    }
    EXPECT_GT(expect_same_for_all_teams(images, max_tracks), images.size());
  }
}

}  // namespace

}  // namespace ccl::test
