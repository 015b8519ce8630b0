// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events from tracks made by hand: the whole scene, times, changes while frames flow, and long streams.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>
#include <set>
#include <tuple>

#include "event_fixture.h"
#include "fuzz.h"

namespace ccl::test {

/* The whole scene */

TEST_F(Events, StartedAndStopped) {
  tests_start = true;
  configure();
  EXPECT_EQ(play_components(0), Facts{});
  EXPECT_EQ(play_components(3), (Facts{{CCL_EVENT_STARTED}}));
  EXPECT_EQ(maker.events()[0].time, 2 * kFrameNs);
  EXPECT_EQ(play_components(1), Facts{});
  EXPECT_EQ(play_components(0, false, kSecond), Facts{});
  EXPECT_EQ(play_components(1), Facts{}) << "shorter than the hold time";
  EXPECT_EQ(play_components(0, false, 2 * kSecond - 1), Facts{});
  EXPECT_EQ(play_components(0, false, 1), (Facts{{CCL_EVENT_STOPPED}}));
  EXPECT_EQ(play_components(0, false, 9 * kSecond), Facts{});
  EXPECT_EQ(play_components(1), (Facts{{CCL_EVENT_STARTED}}));
}

/// Nothing is foreground while the background is being learned, which says nothing about the scene.
TEST_F(Events, LearningIsNoPause) {
  tests_start = true;
  configure();
  play_components(1);
  EXPECT_EQ(play_components(0, false, kSecond), Facts{});
  EXPECT_EQ(play_components(0, true, 5 * kSecond), Facts{});
  EXPECT_EQ(play_components(0, false, kSecond - 1), Facts{});
  EXPECT_EQ(play_components(0, false, 1), (Facts{{CCL_EVENT_STOPPED}}));
}

TEST_F(Events, StartedIsFirstAndStoppedLast) {
  tests_start = true;
  regions.zones = {box(0, 0, 50, 100)};
  regions.zones[0].crowd = 0;
  configure();
  EXPECT_EQ(play({dot(1, 10, 10)}), (Facts{{CCL_EVENT_STARTED},
                                           {CCL_EVENT_BORN, 1},
                                           {CCL_EVENT_ENTERED, 1, 0, 0},
                                           {CCL_EVENT_CROWDED, 0, 1, 0}}));
  EXPECT_EQ(play_components(0, false, 2 * kSecond),
            (Facts{{CCL_EVENT_LEFT, 1, 0, 0}, {CCL_EVENT_DIED, 1}, {CCL_EVENT_STOPPED}}));
}

/* Times */

/// A time that is missing, or not later than that of the frame before, is a thirtieth of a second.
TEST_F(Events, MissingAndDecreasingTimes) {
  regions.zones = {box(0, 0, 50, 100)};
  regions.zones[0].dwell_ns = kSecond / 10;
  configure();
  const std::vector<CclTrack> inside = {dot(1, 10, 10)};
  play_at(inside, kNoTime);
  EXPECT_EQ(play_at(inside, kNoTime), Facts{});
  EXPECT_EQ(play_at(inside, 50 * kSecond), Facts{});
  EXPECT_EQ(maker.tracks()[0].zones, 1u);
  EXPECT_EQ(play_at(inside, 3 * kSecond), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}})) << "back in time";
  EXPECT_EQ(maker.events()[0].time, 3 * kSecond);
  const int64_t least = std::numeric_limits<int64_t>::min();
  const int64_t largest = std::numeric_limits<int64_t>::max();
  for (const int64_t extreme : {largest, least + 1, largest, int64_t{0}, kNoTime}) {
    play_at(inside, extreme);
  }
  EXPECT_EQ(play_at({}, kNoTime), (Facts{{CCL_EVENT_LEFT, 1, 0, 0}, {CCL_EVENT_DIED, 1}}));
}

/// Without times, events have the sum of steps.
TEST_F(Events, TimeWithoutTimes) {
  configure();
  play_at({dot(7, 10, 10)}, kNoTime);
  ASSERT_EQ(maker.events().size(), 2u);
  EXPECT_EQ(maker.events()[1].time, 0);
  play_at({dot(8, 10, 10)}, kNoTime);
  EXPECT_EQ(maker.events()[0].time, 33'333'333);
  maker.clear();
  play_at({dot(1, 10, 10)}, 10 * kSecond);
  play_at({dot(1, 10, 10), dot(2, 10, 10)}, kNoTime);
  ASSERT_EQ(maker.events().size(), 1u);
  EXPECT_EQ(maker.events()[0].time, 10 * kSecond + 33'333'333);
}

/* Changes while frames flow */

TEST_F(Events, OtherZonesBeginEmpty) {
  regions.zones = {box(0, 0, 50, 100), box(0, 0, 10, 10)};
  regions.zones[0].crowd = 0;
  configure();
  play({dot(1, 5, 5)});
  watch_zones({box(0, 0, 60, 100)});
  EXPECT_EQ(play({dot(1, 5, 5)}), (Facts{{CCL_EVENT_ENTERED, 1, 0, 0}}));
  watch_zones({});
  EXPECT_EQ(play({dot(1, 5, 5)}), Facts{});
  EXPECT_EQ(maker.tracks()[0].zones, 0u);
}

TEST_F(Events, TheSameZonesGoOn) {
  regions.zones = {box(0, 0, 50, 100)};
  regions.zones[0].dwell_ns = kSecond;
  configure();
  play({dot(1, 5, 5), dot(2, 5, 5)});
  regions.include = {{.name = "", .polygon = {{0, 0}, {9, 0}, {9, 9}}}};
  configure(100);
  EXPECT_EQ(play({dot(1, 5, 5), dot(2, 5, 5)}, kSecond),
            (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}, {CCL_EVENT_DWELLED, 2, 0, 0}}));
}

/// The tracker ends all tracks; they leave the zones that they were in.
TEST_F(Events, AnotherFrameSize) {
  regions.zones = {{.name = "", .polygon = {{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}}}};
  regions.is_relative = true;
  ASSERT_TRUE(maker.configure({.width = 100, .height = 100, .max_tracks = 4}, regions).ok());
  play({dot(1, 40, 5)});
  ASSERT_TRUE(maker.configure({.width = 50, .height = 50, .max_tracks = 4}, regions).ok());
  EXPECT_EQ(play({dot(2, 24, 5), dot(3, 25, 5)}), (Facts{{CCL_EVENT_LEFT, 1, 0, 0},
                                                         {CCL_EVENT_DIED, 1},
                                                         {CCL_EVENT_BORN, 2},
                                                         {CCL_EVENT_ENTERED, 2, 0, 0},
                                                         {CCL_EVENT_BORN, 3}}));
}

TEST_F(Events, OneTrackAtMost) {
  regions.zones = {box(0, 0, 50, 100)};
  configure(1);
  EXPECT_EQ(play({dot(1, 5, 5), dot(2, 6, 6)}), (Facts{{CCL_EVENT_BORN, 1}, {CCL_EVENT_ENTERED, 1, 0, 0}}));
  EXPECT_EQ(maker.tracks().size(), 1u);
  for (uint32_t id = 2; id < 50; ++id) {
    EXPECT_EQ(play({dot(id, 5, 5)}).size(), 4u) << id;
  }
}

/// The table is full of tracks that end, and of others that begin in the same frame, each with all its
/// events.
TEST_F(Events, TakesNoMemoryPerFrame) {
  for (uint32_t i = 0; i < kMaxZones; ++i) {
    regions.zones.push_back(box(0, 0, 50, 100));
    regions.lines.push_back({.name = "", .from = {50, 0}, .to = {50, 100}});
    regions.zones[i].crowd = 3;
  }
  configure(16);
  const CclEvent* memory = nullptr;
  for (uint32_t frame = 0; frame < 20; ++frame) {
    std::vector<CclTrack> tracks;
    for (uint32_t i = 0; i < 16; ++i) {
      tracks.push_back(dot(frame * 16 + i + 1, 5, 5));
    }
    const size_t expected = 16 * 33 + (frame == 0 ? 32 : 16 * 33);
    EXPECT_EQ(play(tracks).size(), expected) << frame;
    EXPECT_TRUE(memory == nullptr || memory == maker.events().data());
    memory = maker.events().data();
  }
}

/// Tracks that come, go, jump, hide and share components at random: what was counted is what is there, and
/// nothing happens to a track before its birth or after its end. Events of each type occur.
TEST_F(Events, CountsOfRandomTracksAgree) {
  regions.zones = {box(0, 0, 50, 100), box(25, 25, 75, 75), box(90, 90, 200, 200)};
  regions.zones[1].crowd = 4;
  regions.zones[0].dwell_ns = 3 * kFrameNs;
  regions.lines = {{.name = "", .from = {50, 0}, .to = {50, 100}}};
  configure(12);
  std::mt19937 random(11);
  const auto below = [&](uint32_t end) { return static_cast<uint32_t>(random() % end); };
  std::vector<CclTrack> tracks;
  std::set<uint32_t> alive;
  int64_t inside[3] = {};
  uint64_t n_of_type[CCL_EVENT_COUNT] = {};
  constexpr uint32_t kFrames = 20000;
  const uint32_t n_frames = std::max(kFrames, number_from_environment("CUDACCL_FUZZ_FRAMES", kFrames));
  for (uint32_t frame = 0, next_id = 1; frame < n_frames; ++frame) {
    std::erase_if(tracks, [&](const CclTrack&) { return below(40) == 0; });
    while (tracks.size() < 12 && below(3) == 0) {
      tracks.push_back(dot(next_id++, 0, 0, 0));
    }
    for (CclTrack& track : tracks) {
      const bool is_confirmed = (track.flags & CCL_TRACK_CONFIRMED) != 0 || below(3) == 0;
      const bool is_hidden = below(4) == 0;
      const uint32_t id = track.id;
      const uint32_t flags = is_confirmed * uint32_t{CCL_TRACK_CONFIRMED} +
                             is_hidden * uint32_t{CCL_TRACK_PREDICTED} +
                             below(2) * uint32_t{CCL_TRACK_MERGED};
      track = dot(id, static_cast<uint16_t>(below(100)), static_cast<uint16_t>(below(100)), flags);
      track.component = is_hidden ? CCL_NO_COMPONENT : below(5);
      track.parent = below(4) == 0 ? below(id) : 0;
    }
    constexpr uint32_t kQuietFrames = 80;  // longer than the hold time
    play_at(tracks, time += kFrameNs, frame / kQuietFrames % 2);
    std::set<std::tuple<uint32_t, uint32_t, bool>>
        at_places;  // memory is taken for one of a track at each place
    for (const CclEvent& event : maker.events()) {
      ++n_of_type[event.type];
      const bool is_at_line = ccl_event_is_at_line(event.type) != 0;
      ASSERT_TRUE(event.id == 0 || event.where == CCL_NO_PLACE ||
                  at_places.emplace(event.id, event.where, is_at_line).second)
          << event.type << " in frame " << frame;
      if (event.type == CCL_EVENT_BORN) {
        ASSERT_TRUE(alive.insert(event.id).second);
      }
      ASSERT_TRUE(event.id == 0 || alive.contains(event.id)) << event.type << " of " << event.id;
      if (event.type == CCL_EVENT_DIED) {
        alive.erase(event.id);
      }
      if (event.type == CCL_EVENT_ENTERED || event.type == CCL_EVENT_LEFT) {
        inside[event.where] += event.type == CCL_EVENT_ENTERED ? 1 : -1;
      }
      const bool has_other = event.type == CCL_EVENT_MERGED || event.type == CCL_EVENT_SPLIT;
      ASSERT_TRUE(!has_other || (event.other != event.id && alive.contains(event.other)));
    }
    for (uint32_t zone = 0; zone < 3; ++zone) {
      const auto count = std::count_if(maker.tracks().begin(), maker.tracks().end(),
                                       [&](const CclTrack& track) { return (track.zones >> zone & 1) != 0; });
      ASSERT_EQ(inside[zone], count) << frame;
      ASSERT_EQ(maker.n_inside()[zone], count) << frame;
    }
  }
  for (uint32_t type = CCL_EVENT_BORN; type < CCL_EVENT_COUNT; ++type) {
    EXPECT_GT(n_of_type[type], 100u) << ccl_event_nick(type);
  }
}

TEST_F(Events, TooManyZonesAreRefused) {
  regions.zones.assign(kMaxZones + 1, box(0, 0, 1, 1));
  EXPECT_EQ(maker.configure({.width = 9, .height = 9, .max_tracks = 1}, regions).code(),
            StatusCode::kInvalidArgument);
  regions.zones.clear();
  regions.lines.assign(kMaxLines + 1, {.name = "", .from = {0, 0}, .to = {1, 1}});
  EXPECT_EQ(maker.configure({.width = 9, .height = 9, .max_tracks = 1}, regions).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace ccl::test
