// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage give the same bits for every team, every order of its threads, and every
/// order of the overlaps; and whether they look at all pairs of tracks and components or only at those that
/// a grid finds near each other. A device has a team of many threads; here they are those of the CPU.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <random>
#include <thread>
#include <vector>

#include "thread_team.h"
#include "track/associate.h"
#include "track_scene.h"

namespace ccl::test {

namespace {

/// A stream's tracks, moved by a team: one thread, or several, in groups if there are eight.
class Tracker {
 public:
  Tracker(const track::TrackSizes& sizes, uint32_t n_threads, uint64_t most_pairs)
      : memory_(track::TrackTables::bytes(sizes), std::byte{0xa5}),  // what is not written is not read
        tables_(sizes, memory_.data()),
        tracks_(sizes.max_tracks),
        team_(n_threads) {
    tables_.most_pairs = most_pairs;
    *tables_.header = {};
  }

  TrackedFrame run(const track::TrackStep& step, std::vector<CclComponent> records,
                   const std::vector<track::Overlap>& overlaps) {
    const track::TrackFrame frame{.width = kWidth,
                                  .height = kHeight,
                                  .n_components = static_cast<uint32_t>(records.size()),
                                  .is_matched = 1,
                                  .n_overlaps = static_cast<uint32_t>(overlaps.size()),
                                  .overlaps = overlaps.data(),
                                  .records = records.data(),
                                  .tracks = tracks_.data()};
    if (team_.sums.size() == 1) {
      track::associate(track::HostTeam{}, step, frame, tables_);
    } else {
      std::vector<std::jthread> threads;
      for (uint32_t rank = 0; rank < team_.sums.size(); ++rank) {
        threads.emplace_back([&, rank] {
          if (team_.sums.size() == 8) {
            track::associate(LaneTeam(rank, &team_), step, frame, tables_);
          } else {
            track::associate(ThreadTeam(rank, &team_), step, frame, tables_);
          }
        });
      }
    }
    return {records, {tracks_.begin(), tracks_.begin() + tables_.header->n_tracks}, {}};
  }

  static constexpr uint32_t kWidth = 300;
  static constexpr uint32_t kHeight = 180;

 private:
  std::vector<std::byte> memory_;
  track::TrackTables tables_;
  std::vector<CclTrack> tracks_;
  TeamMemory team_;
};

/// A frame's components and their overlaps with those of the frame before.
struct Measured {
  std::vector<CclComponent> records;
  std::vector<uint32_t> labels;
  std::vector<track::Overlap> overlaps;
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

void expect_same_for_all_teams(const std::vector<Image>& images, uint32_t max_tracks) {
  const std::vector<Measured> frames = measure(images);
  const track::TrackSizes sizes{.max_tracks = max_tracks, .max_components = 16384};
  Tracker one(sizes, 1, UINT64_MAX);  // looks at all pairs
  Tracker one_with_grid(sizes, 1, 0);
  Tracker three(sizes, 3, 0);
  Tracker eight(sizes, 8, 1000);  // both kinds of frames follow each other
  std::mt19937 random(1);
  for (size_t i = 0; i < frames.size(); ++i) {
    const track::TrackStep step{.time_ns = static_cast<int64_t>(i) * 40'000'000,
                                .duration_us = 40'000,
                                .confirm_frames = 3,
                                .lost_us = 300'000};
    const TrackedFrame want = one.run(step, frames[i].records, frames[i].overlaps);
    std::vector<track::Overlap> shuffled = frames[i].overlaps;
    for (Tracker* tracker : {&one_with_grid, &three, &eight}) {
      std::shuffle(shuffled.begin(), shuffled.end(), random);
      ASSERT_TRUE(is_same(tracker->run(step, frames[i].records, shuffled), want)) << "frame " << i;
    }
  }
}

TEST(TrackTeamTest, RandomVideo) {
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    RandomVideo video(Tracker::kWidth, Tracker::kHeight, seed);
    std::vector<Image> images;
    for (uint32_t i = 0; i < 60; ++i) {
      images.push_back(video.next());
    }
    expect_same_for_all_teams(images, seed == 6 ? 9 : 256);
  }
}

/// Large clusters.
TEST(TrackTeamTest, Noise) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 16; ++i) {
    images.push_back(noise(Tracker::kWidth, Tracker::kHeight, 2 + i % 3, 6 + 4 * (i % 5), i));
  }
  expect_same_for_all_teams(images, 4096);
}

/// Full tables: noise of all grains, with bars as long as the frame and objects that move fast in it.
TEST(TrackTeamTest, FullTables) {
  for (const uint32_t max_tracks : {40u, 700u}) {
    RandomVideo video(Tracker::kWidth, Tracker::kHeight, max_tracks);
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
    expect_same_for_all_teams(images, max_tracks);
  }
}

}  // namespace

}  // namespace ccl::test
