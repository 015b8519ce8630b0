// SPDX-License-Identifier: LGPL-2.1-or-later
/// What counts at lines and in zones: a track is on the other side when it has been there for a quarter of a
/// second, and is away by a part of its size. Scenes by hand, and random tracks beside an oracle.
#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <random>
#include <span>

#include "event_fixture.h"
#include "event_oracle.h"
#include "fuzz.h"
#include "random.h"

namespace ccl::test {

namespace {

constexpr uint32_t kBorder = kConfirmed | CCL_TRACK_TOUCHES_BORDER;
constexpr uint16_t kSide = 16;  ///< of the squares; a quarter of their size is 4 pixels

/// A square whose bottom anchor has this column; its row is the middle of the frame.
CclTrack square(uint32_t id, int anchor_x, uint32_t flags = kConfirmed, int bottom = 50) {
  CclTrack track =
      dot(id, static_cast<uint16_t>(anchor_x - kSide / 2), static_cast<uint16_t>(bottom - kSide + 1), flags);
  track.width = track.height = kSide;
  track.cx = static_cast<float>(anchor_x) - 0.5F;
  track.cy = static_cast<float>(bottom) - kSide / 2;
  return track;
}

Line upright(double x) {
  return {.name = "", .from = {x, 100}, .to = {x, 0}};
}

const Fact kRight = {CCL_EVENT_CROSSED_RIGHT, 1, 0, 0};
const Fact kLeft = {CCL_EVENT_CROSSED_LEFT, 1, 0, 0};
const Fact kEntered = {CCL_EVENT_ENTERED, 1, 0, 0};
const Fact kOut = {CCL_EVENT_LEFT, 1, 0, 0};

}  // namespace

/// Four frames a second, unless a test says otherwise.
class Margins : public Events {
 protected:
  Margins() { margin = kDefaultMargin; }

  Facts play(const std::vector<CclTrack>& tracks, int64_t step = kSecond / 4) {
    return Events::play(tracks, step);
  }

  /// The events of a square whose anchor is in these columns, but not its birth.
  Facts walk(std::initializer_list<int> columns, uint32_t id = 1, int64_t step = kSecond / 4) {
    Facts all;
    for (const int x : columns) {
      const Facts now = play({square(id, x)}, step);
      std::copy_if(now.begin(), now.end(), std::back_inserter(all),
                   [](const Fact& fact) { return fact.type != CCL_EVENT_BORN; });
    }
    return all;
  }

  /// The track ends.
  Facts end() {
    Facts now = play({});
    EXPECT_EQ(now.back(), (Fact{CCL_EVENT_DIED, 1}));
    now.pop_back();
    return now;
  }
};

/* Lines */

TEST_F(Margins, WhoStandsOnALineDoesNotCrossIt) {
  watch_lines({upright(50)});
  EXPECT_EQ(walk({30, 40, 48, 52, 47, 53, 49, 51, 46, 52, 48, 51, 40, 30}), Facts{});
}

TEST_F(Margins, ACrossingCountsWhenTheTrackIsAwayFromTheLine) {
  watch_lines({upright(50)});
  EXPECT_EQ(walk({40, 49, 51, 52, 53}), Facts{});
  EXPECT_EQ(walk({54}), Facts{kRight}) << "a quarter of its size";
  EXPECT_EQ(maker.events()[0].time, time);
  EXPECT_EQ(walk({60, 54, 51, 49, 51, 47, 55, 47}), Facts{}) << "it was not away on the left";
  EXPECT_EQ(walk({46}), Facts{kLeft});
}

/// Frames of 40 ms: the seventh one after the crossing.
TEST_F(Margins, ACrossingCountsAfterAQuarterOfASecond) {
  watch_lines({upright(50)});
  EXPECT_EQ(walk({40, 60, 60, 60, 60, 60, 60, 60}, 1, kFrameNs), Facts{});
  EXPECT_EQ(walk({60}, 1, kFrameNs), Facts{kRight});
  EXPECT_EQ(walk({40}, 1, 10 * kSecond), Facts{}) << "since this frame";
  EXPECT_EQ(walk({40}, 1, 10 * kSecond), Facts{kLeft});
}

/// As when two people meet, and are one for a moment.
TEST_F(Margins, ABoxThatIsWrongForAFewFramesDoesNotCross) {
  regions.lines = {upright(50)};
  watch_zones({box(50, 10, 90, 90)});
  EXPECT_EQ(walk({30, 70, 70, 70, 70, 70, 70, 30, 30, 70, 30, 30, 30, 30, 30, 30, 30, 30}, 1, kFrameNs),
            Facts{});
}

/// The same scene at 768×576 and at 4K has the same events.
TEST_F(Margins, AMarginIsAPartOfTheSize) {
  for (const uint16_t scale : {1, 5}) {
    regions.lines = {{.name = "", .from = {50.0 * scale, 100.0 * scale}, .to = {50.0 * scale, 0}}};
    regions.is_relative = false;
    const uint32_t extent = 100u * scale;
    ASSERT_TRUE(maker.configure({.width = extent, .height = extent, .max_tracks = 8}, regions).ok());
    Facts all;
    for (const int x : {40, 47, 51, 47, 52, 53, 55, 60}) {
      CclTrack track = square(1, x);
      for (uint16_t* side : {&track.x, &track.y, &track.width, &track.height}) {
        *side = static_cast<uint16_t>(*side * scale);
      }
      const Facts now = play({track});
      all.insert(all.end(), now.begin(), now.end());
    }
    EXPECT_EQ(all, (Facts{{CCL_EVENT_BORN, 1}, kRight})) << scale;
    maker.clear();
  }
}

TEST_F(Margins, OfNothingCountsAtOnce) {
  regions.lines = {upright(50)};
  margin = 0;
  configure();
  EXPECT_EQ(walk({49, 51, 49}, 1, 1), (Facts{kRight, kLeft}));
}

TEST_F(Margins, OfOneSize) {
  regions.lines = {upright(50)};
  margin = 1;
  configure();
  EXPECT_EQ(walk({40, 65, 65, 35, 51, 65}), Facts{});
  EXPECT_EQ(walk({66}), Facts{kRight});
}

/// Its first place is on one side, however near.
TEST_F(Margins, BornAtALine) {
  watch_lines({upright(50)});
  EXPECT_EQ(walk({49, 51, 60}), Facts{kRight});
  EXPECT_EQ(end(), Facts{});
  EXPECT_EQ(walk({51, 49, 51, 60}, 2), Facts{});
}

TEST_F(Margins, WhatEndsAtALineDoesNotCrossIt) {
  watch_lines({upright(50)});
  EXPECT_EQ(walk({40, 52}), Facts{});
  EXPECT_EQ(end(), Facts{});
}

/// There is no room to get away from the line.
TEST_F(Margins, WhatLeavesTheFrameBehindALineCrossesIt) {
  watch_lines({upright(98), upright(2)});
  play({square(1, 90)});
  EXPECT_EQ(play({square(1, 99, kBorder)}), Facts{});
  EXPECT_EQ(end(), Facts{kRight});
  play({square(1, 90, kBorder)});
  EXPECT_EQ(play({square(1, 99, kBorder)}), Facts{});
  EXPECT_EQ(play({square(1, 97, kBorder)}), Facts{});
  EXPECT_EQ(end(), Facts{}) << "it is inside again";
}

/// Lost at the border: it is predicted until it ends. Where it was seen last is what counts, since a
/// predicted place may drift.
TEST_F(Margins, WhatIsPredictedOutOfTheFrameCrossesWhenItEnds) {
  watch_lines({upright(98)});
  for (const auto& [seen, predicted, expected] :
       {std::tuple(kBorder, kBorder, Facts{kRight}), std::tuple(kBorder, kConfirmed, Facts{kRight}),
        std::tuple(kConfirmed, kBorder, Facts{})}) {
    play({square(1, 90)});
    play({square(1, 99, seen)});
    EXPECT_EQ(play({square(1, 99, predicted | CCL_TRACK_PREDICTED)}), Facts{});
    EXPECT_EQ(end(), expected);
  }
}

TEST_F(Margins, WhoPassesTheEndOfALineDoesNotCrossIt) {
  watch_lines({{.name = "", .from = {50, 45}, .to = {50, 0}}});
  EXPECT_EQ(walk({40, 49, 51, 60, 51, 40}), Facts{}) << "the row of its anchor is 50";
}

/// It crosses the line near its end, and goes back around the end: it is where it was before, but it did
/// cross.
TEST_F(Margins, WhoGoesAroundTheEndOfALineCrossesItOnce) {
  watch_lines({{.name = "", .from = {50, 48}, .to = {50, 0}}});
  play({square(1, 40, kConfirmed, 44)});
  EXPECT_EQ(play({square(1, 52, kConfirmed, 45)}), Facts{});
  EXPECT_EQ(play({square(1, 52, kConfirmed, 50)}), Facts{}) << "still at it";
  EXPECT_EQ(play({square(1, 47, kConfirmed, 51)}), Facts{kRight}) << "away from its end";
  EXPECT_EQ(play({square(1, 40, kConfirmed, 44)}), Facts{});
}

/// A long move, as of a fast object.
TEST_F(Margins, AMoveOverSeveralLinesCountsAtEach) {
  watch_lines({upright(40), upright(50), upright(60)});
  EXPECT_EQ(walk({30, 62}), Facts{});
  EXPECT_EQ(walk({62}), (Facts{kRight, {CCL_EVENT_CROSSED_RIGHT, 1, 0, 1}}));
  EXPECT_EQ(walk({64}), (Facts{{CCL_EVENT_CROSSED_RIGHT, 1, 0, 2}}));
}

/// What is hidden behind something is where it was seen last.
TEST_F(Margins, ALostTrackThatReturns) {
  watch_lines({upright(50)});
  walk({40, 52});
  EXPECT_EQ(play({square(1, 70, kPredicted)}), Facts{});
  EXPECT_EQ(walk({51}), Facts{});
  EXPECT_EQ(play({square(1, 70, kPredicted)}), Facts{});
  EXPECT_EQ(walk({60}), Facts{kRight});
}

/// Members of a group have places of their own, and what was begun alone ends in the group.
TEST_F(Margins, TracksThatMergeAndSplit) {
  watch_lines({upright(50)});
  play({square(1, 40), square(2, 60)});
  const auto together = [](CclTrack track) {
    track.flags |= CCL_TRACK_MERGED;
    track.component = 0;
    return track;
  };
  EXPECT_EQ(play({together(square(1, 51)), together(square(2, 49))}), (Facts{{CCL_EVENT_MERGED, 2, 1}}));
  EXPECT_EQ(play({together(square(1, 55)), together(square(2, 52))}), Facts{kRight});
  EXPECT_EQ(play({square(1, 60), square(2, 48)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}}));
  EXPECT_EQ(play({square(1, 60), square(2, 40)}), (Facts{{CCL_EVENT_CROSSED_LEFT, 2, 0, 0}}));
}

/// Tape in the wind, or a piece of a person: its place in the component of a larger track is not known, and
/// it does not cross lines a second time for the other one. It counts where it is seen again.
TEST_F(Margins, ASmallMemberOfAGroupIsHidden) {
  regions.lines = {upright(50)};
  watch_zones({box(50, 10, 90, 90)});
  const auto together = [&](int x, uint16_t height) {
    CclTrack large = square(1, x, kMerged), small = square(2, x, kMerged);
    large.component = small.component = 0;
    small.y = static_cast<uint16_t>(small.y + kSide - height);
    small.height = height;
    return play({large, small});
  };
  play({square(1, 40), square(2, 40)});
  EXPECT_EQ(together(45, 7), (Facts{{CCL_EVENT_MERGED, 2, 1}}));
  EXPECT_EQ(together(55, 7), Facts{});
  EXPECT_EQ(together(60, 7), (Facts{kEntered, kRight}));
  EXPECT_EQ(play({square(1, 60), square(2, 60)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}}));
  EXPECT_EQ(play({square(1, 60), square(2, 60)}),
            (Facts{{CCL_EVENT_ENTERED, 2, 0, 0}, {CCL_EVENT_CROSSED_RIGHT, 2, 0, 0}}));
  EXPECT_EQ(together(60, 8), (Facts{{CCL_EVENT_MERGED, 2, 1}}));
  EXPECT_EQ(together(45, 8), Facts{}) << "half as large: not hidden";
  EXPECT_EQ(together(40, 8),
            (Facts{kOut, kLeft, {CCL_EVENT_LEFT, 2, 0, 0}, {CCL_EVENT_CROSSED_LEFT, 2, 0, 0}}));
}

/* Zones */

TEST_F(Margins, WhoStandsAtAnEdgeDoesNotAlternate) {
  watch_zones({box(50, 10, 90, 90)});
  EXPECT_EQ(walk({30, 48, 52, 48, 53, 49, 53}), Facts{});
  EXPECT_EQ(walk({55}), Facts{kEntered});
  EXPECT_EQ(maker.tracks()[0].zones, 1u);
  EXPECT_EQ(walk({52, 48, 52, 47, 51}), Facts{});
  EXPECT_EQ(maker.n_inside()[0], 1u);
  EXPECT_EQ(walk({47, 45}), Facts{kOut});
  EXPECT_EQ(maker.n_inside()[0], 0u);
}

TEST_F(Margins, BornAndEndedAtTheEdgeOfAZone) {
  watch_zones({box(50, 10, 90, 90)});
  EXPECT_EQ(walk({51}), Facts{kEntered});
  EXPECT_EQ(walk({49}), Facts{});
  EXPECT_EQ(end(), Facts{kOut});
  EXPECT_EQ(walk({49, 51}, 2), Facts{});
  EXPECT_EQ(play({}), (Facts{{CCL_EVENT_DIED, 2}}));
}

TEST_F(Margins, InAZoneForOneFrame) {
  watch_zones({box(40, 10, 60, 90)});
  EXPECT_EQ(walk({30, 50, 70}), Facts{});
  EXPECT_EQ(walk({59, 59, 70, 41, 41, 30}), Facts{}) << "not deep inside";
  EXPECT_EQ(walk({50, 50, 70, 70}), (Facts{kEntered, kOut}));
  EXPECT_EQ(walk({50, 50, 70, 50, 70}), Facts{kEntered}) << "outside for one frame";
}

/// A door mat: half of area / perimeter is as far as anybody must be in it.
TEST_F(Margins, AZoneThatIsSmallerThanTheMarginIsEntered) {
  watch_zones({box(48, 45, 52, 55)});
  EXPECT_EQ(walk({40, 47}), Facts{});
  EXPECT_EQ(walk({50, 51}), Facts{kEntered});
  EXPECT_EQ(walk({53, 53}), Facts{kOut});
}

/// A track that goes from one to the other is in one of them in each frame, and in none twice.
TEST_F(Margins, ZonesThatShareAnEdgeHandOver) {
  watch_zones({box(0, 0, 50, 100), box(50, 0, 100, 100)});
  std::mt19937 random(5);
  int n_changes = 0;
  for (int i = 0; i < 2000; ++i) {
    n_changes += walk({static_cast<int>(42 + random() % 16)}).empty() ? 0 : 1;
    ASSERT_EQ(std::popcount(maker.tracks()[0].zones), 1);
  }
  EXPECT_GT(n_changes, 100);
}

/// The frame's border is no edge: nothing is beyond it.
TEST_F(Margins, AlongTheBorderOfTheFrame) {
  watch_zones({box(0, 0, 50, 100), box(50, 0, 110, 100)});
  const auto at = [&](int x) { return play({square(1, x, kBorder, 99)}); };
  EXPECT_EQ(at(30), (Facts{{CCL_EVENT_BORN, 1}, kEntered}));
  EXPECT_EQ(at(52), Facts{});
  EXPECT_EQ(at(60), (Facts{kOut, {CCL_EVENT_ENTERED, 1, 0, 1}}));
}

TEST_F(Margins, DwellingBeginsWhenTheTrackCounts) {
  regions.zones = {box(50, 10, 90, 90)};
  regions.zones[0].dwell_ns = kSecond;
  configure();
  walk({40});
  EXPECT_EQ(play({square(1, 51)}, kSecond), Facts{});
  EXPECT_EQ(walk({60}), Facts{kEntered});
  EXPECT_EQ(play({square(1, 51)}, kSecond), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}}));
}

/* Changes while frames flow */

TEST_F(Margins, OtherLinesBeginWithoutCrossings) {
  watch_lines({upright(50)});
  walk({40, 52});
  margin = 0.1;
  configure();
  EXPECT_EQ(walk({60}), Facts{}) << "what it did before belongs to another line";
  EXPECT_EQ(walk({52, 48, 48}), Facts{kLeft}) << "the new margin";
  regions.include = {{.name = "", .polygon = {{0, 0}, {9, 0}, {9, 9}}}};
  margin = kDefaultMargin;
  configure();
  walk({40, 52});
  regions.include = {};
  configure();
  EXPECT_EQ(walk({60}), Facts{kRight}) << "the same line";
}

TEST_F(Margins, ClearForgetsCrossings) {
  watch_lines({upright(98)});
  play({square(1, 90)});
  play({square(1, 99, kBorder)});
  maker.clear();
  EXPECT_EQ(play({}), Facts{});
  EXPECT_EQ(walk({99, 97, 90}), Facts{kLeft});
}

/* An oracle */

namespace {

/// Tracks that walk, stand, sway, jump, hide and return near lines and edges, and whose boxes are unsteady.
class Walkers : public Random {
 public:
  using Random::Random;

  std::vector<CclTrack> next() {
    std::erase_if(tracks_, [&](const Walker&) { return below(60) == 0; });
    while (tracks_.size() < 8 && below(4) == 0) {
      tracks_.push_back(
          {.id = ++last_id_, .x = signed_below(100), .y = signed_below(100), .size = 2 + below(24)});
    }
    std::vector<CclTrack> shown;
    for (Walker& walker : tracks_) {
      shown.push_back(move(&walker));
    }
    return shown;
  }

 private:
  struct Walker {
    uint32_t id;
    int x, y;
    uint32_t size;
    int vx = 0, vy = 0;
    bool is_confirmed = false;
  };

  CclTrack move(Walker* walker) {
    if (below(12) == 0) {
      walker->vx = signed_below(7) - 3;
      walker->vy = signed_below(7) - 3;
    }
    if (below(40) == 0) {
      walker->x = signed_below(100);
      walker->y = signed_below(100);
    }
    walker->x = std::clamp(walker->x + walker->vx, 0, 99);
    walker->y = std::clamp(walker->y + walker->vy, 0, 99);
    walker->is_confirmed |= below(3) == 0;
    const uint32_t flags = (walker->is_confirmed ? kConfirmed : 0u) |
                           (below(3) == 0 ? uint32_t{CCL_TRACK_MERGED} : 0u) |
                           (below(6) == 0 ? uint32_t{CCL_TRACK_PREDICTED} : 0u) |
                           (below(3) == 0 ? uint32_t{CCL_TRACK_TOUCHES_BORDER} : 0u);
    CclTrack track = dot(walker->id, 0, 0, flags);
    track.component = (flags & CCL_TRACK_PREDICTED) != 0 ? CCL_NO_COMPONENT : below(3);
    track.width = static_cast<uint16_t>(walker->size + below(4));
    track.height = static_cast<uint16_t>(walker->size + below(4));
    track.x = static_cast<uint16_t>(std::max(walker->x + signed_below(3) - track.width / 2, 0));
    track.y = static_cast<uint16_t>(std::max(walker->y + signed_below(3) - track.height, 0));
    track.cx = static_cast<float>(walker->x * 8 + signed_below(16)) / 8;
    track.cy = static_cast<float>(walker->y * 8 + signed_below(16)) / 8;
    return track;
  }

  uint32_t last_id_ = 0;
  std::vector<Walker> tracks_;
};

/// Whole pixels and halves, so that anchors are on edges and corners, too.
Regions random_regions(Walkers* random) {
  const auto point = [&] { return Point{random->below(201) / 2.0, random->below(201) / 2.0}; };
  const auto change = [&](auto* place) {
    constexpr double kMargins[] = {0, kDefaultMargin, kDefaultMargin, 0.3, 1};
    place->margin = kMargins[random->below(5)];
    place->anchor = random->below(2) == 0 ? Anchor::kBottom : Anchor::kCentroid;
  };
  Regions regions = {.is_relative = false, .include = {}, .exclude = {}};
  regions.zones = {box(0, 0, 50, 100), box(50, 0, 100, 100), box(40, 40, 46, 46)};
  for (size_t n_corners = 3; n_corners < 6; ++n_corners) {
    Zone zone;
    while (zone.polygon.size() < n_corners) {
      zone.polygon.push_back(point());
    }
    regions.zones.push_back(zone);
  }
  regions.lines = {upright(50), {.name = "", .from = {20, 80}, .to = {80, 35}}};
  for (int i = 0; i < 3; ++i) {
    Line line = {.name = "", .from = point(), .to = point()};
    line.to.x += line.from == line.to ? 1 : 0;
    regions.lines.push_back(line);
  }
  std::for_each(regions.zones.begin(), regions.zones.end(), [&](Zone& zone) { change(&zone); });
  std::for_each(regions.lines.begin(), regions.lines.end(), [&](Line& line) { change(&line); });
  return regions;
}

/// Returns how many frames were compared before one differed; adds up how many events there were.
uint32_t compare_with_oracle(uint32_t seed, uint32_t n_frames, std::span<std::atomic<uint64_t>> n_of_type) {
  Walkers walkers(seed);
  EventMaker maker;
  EventOracle oracle(100, 100);
  Regions regions;
  int64_t now = 0;
  for (uint32_t frame = 0; frame < n_frames; ++frame) {
    if (frame == 0 || walkers.below(300) == 0) {
      regions = random_regions(&walkers);
      oracle.use(regions);
      EXPECT_TRUE(maker.configure({.width = 100, .height = 100, .max_tracks = 8}, regions).ok());
    }
    const std::vector<CclTrack> tracks = walkers.next();
    now += kFrameNs + (walkers.below(8) == 0 ? walkers.below(400) * 1'000'000 : 0);
    maker.update({.tracks = tracks, .n_components = 1, .time = now, .hold_ns = kSecond});
    Facts got;
    for (const CclEvent& event : maker.events()) {
      ++n_of_type[event.type];
      if (event.type != CCL_EVENT_STARTED && event.type != CCL_EVENT_MERGED &&
          event.type != CCL_EVENT_SPLIT) {
        got.push_back({event.type, event.id, event.other, event.where});
      }
    }
    EXPECT_EQ(got, oracle.next(tracks, now)) << "seed " << seed << ", frame " << frame;
    std::vector<uint32_t> n_inside(regions.zones.size());
    for (const CclTrack& track : maker.tracks()) {
      EXPECT_EQ(track.zones, oracle.zones_of(track.id)) << "seed " << seed << ", frame " << frame;
      for (size_t i = 0; i < n_inside.size(); ++i) {
        n_inside[i] += track.zones >> i & 1;
      }
    }
    EXPECT_TRUE(std::equal(n_inside.begin(), n_inside.end(), maker.n_inside().begin()));
    if (testing::Test::HasFailure()) {
      return frame;
    }
  }
  return n_frames;
}

}  // namespace

/// See fuzz.h for longer runs.
TEST(MarginOracle, OfRandomTracks) {
  std::atomic<uint64_t> n_of_type[CCL_EVENT_COUNT] = {};
  constexpr uint32_t kFrames = 1000;
  fuzz(6, kFrames, [&](uint32_t seed) { return compare_with_oracle(seed, kFrames, n_of_type); });
  for (const uint32_t type :
       {CCL_EVENT_ENTERED, CCL_EVENT_LEFT, CCL_EVENT_CROSSED_LEFT, CCL_EVENT_CROSSED_RIGHT}) {
    EXPECT_GT(n_of_type[type], 100u) << ccl_event_nick(type);
  }
}

}  // namespace ccl::test
