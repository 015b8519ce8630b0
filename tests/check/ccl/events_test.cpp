// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events from tracks made by hand: the rules of docs/events.md for tracks, zones and lines.
#include <gtest/gtest.h>

#include "event_fixture.h"

namespace ccl::test {

/* Lives */

TEST_F(Events, ATrackIsBornWhenItIsConfirmedAndDiesWhenItEnds) {
  configure();
  EXPECT_EQ(play({dot(1, 10, 10, CCL_TRACK_NEWBORN)}), Facts{});
  EXPECT_EQ(play({dot(1, 10, 10, 0)}), Facts{});
  EXPECT_EQ(play({dot(1, 11, 12)}), (Facts{{CCL_EVENT_BORN, 1}}));
  EXPECT_EQ(maker.events()[0].time, 3 * kFrameNs);
  EXPECT_EQ(maker.events()[0].x, 11);
  EXPECT_EQ(maker.events()[0].y, 12);
  EXPECT_EQ(play({dot(1, 12, 12)}), Facts{});
  EXPECT_EQ(play({dot(1, 20, 13, kPredicted)}), Facts{});
  EXPECT_EQ(play({}), (Facts{{CCL_EVENT_DIED, 1}}));
  EXPECT_EQ(maker.events()[0].time, 6 * kFrameNs);
  EXPECT_EQ(maker.events()[0].x, 20) << "where it was at last";
  EXPECT_EQ(play({}), Facts{});
}

TEST_F(Events, TentativeTracksHaveNone) {
  regions.zones = {box(0, 0, 50, 100)};
  regions.zones[0].crowd = 0;
  watch_lines({{.name = "", .from = {50, 0}, .to = {50, 100}}});
  EXPECT_EQ(play({dot(1, 10, 10, 0)}), Facts{});
  EXPECT_EQ(maker.tracks()[0].zones, 0u);
  EXPECT_EQ(play({dot(1, 60, 10, 0)}), Facts{});
  EXPECT_EQ(play({}), Facts{});
}

TEST_F(Events, OrderOfEventsFollowsIds) {
  configure();
  EXPECT_EQ(play({dot(2, 1, 1), dot(5, 2, 2), dot(7, 3, 3)}),
            (Facts{{CCL_EVENT_BORN, 2}, {CCL_EVENT_BORN, 5}, {CCL_EVENT_BORN, 7}}));
  EXPECT_EQ(play({dot(5, 2, 2), dot(9, 4, 4)}),
            (Facts{{CCL_EVENT_DIED, 2}, {CCL_EVENT_DIED, 7}, {CCL_EVENT_BORN, 9}}));
}

TEST_F(Events, ClearForgetsWithoutEvents) {
  watch_zones({box(0, 0, 50, 100)});
  play({dot(1, 10, 10)});
  maker.clear();
  EXPECT_TRUE(maker.events().empty());
  EXPECT_EQ(play({}), Facts{});
  EXPECT_EQ(play({dot(2, 10, 10)}), (Facts{{CCL_EVENT_BORN, 2}, {CCL_EVENT_ENTERED, 2, 0, 0}}));
}

/* Zones */

TEST_F(Events, EnteredAndLeft) {
  watch_zones({box(10, 10, 20, 20), box(15, 0, 40, 40)});
  EXPECT_EQ(play({dot(1, 5, 15)}), (Facts{{CCL_EVENT_BORN, 1}}));
  EXPECT_EQ(play({dot(1, 10, 15)}), (Facts{{CCL_EVENT_ENTERED, 1, 0, 0}}));
  EXPECT_EQ(maker.tracks()[0].zones, 1u);
  EXPECT_EQ(play({dot(1, 16, 15)}), (Facts{{CCL_EVENT_ENTERED, 1, 0, 1}}));
  EXPECT_EQ(maker.tracks()[0].zones, 3u);
  EXPECT_EQ(play({dot(1, 20, 15)}), (Facts{{CCL_EVENT_LEFT, 1, 0, 0}}));
  EXPECT_EQ(play({dot(1, 12, 15)}), (Facts{{CCL_EVENT_LEFT, 1, 0, 1}, {CCL_EVENT_ENTERED, 1, 0, 0}}));
}

TEST_F(Events, BornAndEndedInAZone) {
  watch_zones({box(0, 0, 50, 50), box(0, 0, 60, 60)});
  EXPECT_EQ(play({dot(1, 5, 5)}),
            (Facts{{CCL_EVENT_BORN, 1}, {CCL_EVENT_ENTERED, 1, 0, 0}, {CCL_EVENT_ENTERED, 1, 0, 1}}));
  EXPECT_EQ(play({}), (Facts{{CCL_EVENT_LEFT, 1, 0, 0}, {CCL_EVENT_LEFT, 1, 0, 1}, {CCL_EVENT_DIED, 1}}));
}

TEST_F(Events, APredictedTrackStaysWhereItWasSeen) {
  watch_zones({box(10, 10, 20, 20)});
  play({dot(1, 12, 12)});
  EXPECT_EQ(play({dot(1, 30, 12, kPredicted)}), Facts{});
  EXPECT_EQ(maker.tracks()[0].zones, 1u);
  EXPECT_EQ(play({dot(1, 13, 12)}), Facts{});
  EXPECT_EQ(play({dot(1, 30, 12, kPredicted)}), Facts{});
  EXPECT_EQ(play({dot(1, 30, 12)}), (Facts{{CCL_EVENT_LEFT, 1, 0, 0}}));
  EXPECT_EQ(play({dot(1, 15, 12, kPredicted)}), Facts{});
  EXPECT_EQ(play({}), (Facts{{CCL_EVENT_DIED, 1}}));
}

TEST_F(Events, AnchorOfAZone) {
  regions.zones = {box(0, 20, 100, 100), box(0, 20, 100, 100)};
  regions.zones[1].anchor = Anchor::kCentroid;
  configure();
  CclTrack tall = dot(1, 10, 10);
  tall.height = 12;
  tall.cy = 15.5F;
  EXPECT_EQ(play({tall}), (Facts{{CCL_EVENT_BORN, 1}, {CCL_EVENT_ENTERED, 1, 0, 0}}));
  tall.cy = 20;
  EXPECT_EQ(play({tall}), (Facts{{CCL_EVENT_ENTERED, 1, 0, 1}}));
}

TEST_F(Events, AZoneOutsideTheFrameIsNeverEntered) {
  watch_zones({box(200, 200, 300, 300), box(-50, -50, 0, 0), box(0, 0, 100, 100)});
  for (const uint16_t at : {0, 50, 99}) {
    play({dot(1, at, at)});
    EXPECT_EQ(maker.tracks()[0].zones, 4u) << at;
  }
}

/// The place of what leaves the frame may be outside while a part of it is still seen, and so may the boxes
/// of members of a group.
TEST_F(Events, WhatIsPartlyOutsideTheFrameCountsAtItsBorder) {
  regions.zones = {box(-50, -50, 0, 150), box(100, -50, 150, 150), box(-50, -50, 150, 0),
                   box(-50, 100, 150, 150), box(0, 0, 100, 100)};
  for (const Anchor anchor : {Anchor::kBottom, Anchor::kCentroid}) {
    for (Zone& zone : regions.zones) {
      zone.anchor = anchor;
    }
    configure();
    for (const float at : {-8.0F, -0.5F, 99.5F, 108.0F}) {
      for (const uint16_t edge : {0, 100}) {
        CclTrack track = dot(1, edge, edge);
        track.width = track.height = 0;
        track.cx = track.cy = at;
        play({track});
        EXPECT_EQ(maker.tracks()[0].zones, 16u) << at << " " << edge;
      }
    }
  }
}

TEST_F(Events, DwelledOncePerStay) {
  regions.zones = {box(10, 10, 20, 20)};
  regions.zones[0].dwell_ns = 1 * kSecond;
  configure();
  play({dot(1, 12, 12)});
  EXPECT_EQ(play({dot(1, 13, 12)}, kSecond - 1), Facts{});
  EXPECT_EQ(play({dot(1, 13, 12)}, 1), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}}));
  EXPECT_EQ(play({dot(1, 13, 12)}, 5 * kSecond), Facts{});
  EXPECT_EQ(play({dot(1, 30, 12)}), (Facts{{CCL_EVENT_LEFT, 1, 0, 0}}));
  EXPECT_EQ(play({dot(1, 13, 12)}, 5 * kSecond), (Facts{{CCL_EVENT_ENTERED, 1, 0, 0}}));
  EXPECT_EQ(play({dot(1, 13, 12)}, kSecond), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}}));
}

/// Its time goes on while it is predicted, but the event waits until it is seen.
TEST_F(Events, DwelledWhenItIsSeen) {
  regions.zones = {box(10, 10, 20, 20), box(10, 10, 20, 20)};
  regions.zones[0].dwell_ns = 1 * kSecond;
  configure();
  play({dot(1, 12, 12)});
  EXPECT_EQ(play({dot(1, 13, 12, kPredicted)}, 2 * kSecond), Facts{});
  EXPECT_EQ(play({dot(1, 13, 12)}), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}}));
}

TEST_F(Events, CrowdedWhenTheNumberIsExceeded) {
  regions.zones = {box(0, 0, 50, 100), box(0, 0, 50, 100)};
  regions.zones[1].crowd = 1;
  configure();
  play({dot(1, 10, 10), dot(2, 60, 10), dot(3, 60, 10)});
  EXPECT_EQ(
      play({dot(1, 10, 10), dot(2, 40, 10), dot(3, 60, 10)}),
      (Facts{{CCL_EVENT_ENTERED, 2, 0, 0}, {CCL_EVENT_ENTERED, 2, 0, 1}, {CCL_EVENT_CROWDED, 0, 2, 1}}));
  play({dot(1, 10, 10), dot(2, 40, 10), dot(3, 40, 10)});
  EXPECT_EQ(facts().back(), (Fact{CCL_EVENT_ENTERED, 3, 0, 1})) << "it is crowded already";
  play({dot(1, 10, 10)});
  EXPECT_EQ(play({dot(1, 10, 10), dot(4, 10, 10), dot(5, 10, 10)}).back(),
            (Fact{CCL_EVENT_CROWDED, 0, 3, 1}));
}

/* Lines */

TEST_F(Events, CrossedInBothDirections) {
  watch_lines(
      {{.name = "", .from = {50, 100}, .to = {50, 0}}, {.name = "", .from = {55, 0}, .to = {55, 100}}});
  play({dot(1, 40, 10)});
  EXPECT_EQ(play({dot(1, 52, 10)}), (Facts{{CCL_EVENT_CROSSED_RIGHT, 1, 0, 0}}));
  EXPECT_EQ(maker.events()[0].x, 52);
  EXPECT_EQ(play({dot(1, 60, 10)}), (Facts{{CCL_EVENT_CROSSED_LEFT, 1, 0, 1}}));
  EXPECT_EQ(play({dot(1, 40, 10)}),
            (Facts{{CCL_EVENT_CROSSED_LEFT, 1, 0, 0}, {CCL_EVENT_CROSSED_RIGHT, 1, 0, 1}}));
}

/// The move from where it was seen last to where it is seen again counts as one.
TEST_F(Events, PredictedTracksCrossWhenTheyAreSeenAgain) {
  watch_lines({{.name = "", .from = {50, 100}, .to = {50, 0}}});
  play({dot(1, 40, 10)});
  EXPECT_EQ(play({dot(1, 60, 10, kPredicted)}), Facts{});
  EXPECT_EQ(play({dot(1, 40, 10, kPredicted)}), Facts{});
  EXPECT_EQ(play({dot(1, 60, 10, kPredicted)}), Facts{});
  EXPECT_EQ(play({dot(1, 70, 10)}), (Facts{{CCL_EVENT_CROSSED_RIGHT, 1, 0, 0}}));
}

/// So does the move from its first place to that where it is confirmed.
TEST_F(Events, MovesBeforeTheConfirmationCount) {
  watch_lines({{.name = "", .from = {50, 100}, .to = {50, 0}}});
  play({dot(1, 40, 10, CCL_TRACK_NEWBORN)});
  play({dot(1, 52, 10, 0)});
  EXPECT_EQ(play({dot(1, 64, 10)}), (Facts{{CCL_EVENT_BORN, 1}, {CCL_EVENT_CROSSED_RIGHT, 1, 0, 0}}));
}

TEST_F(Events, AnchorOfALine) {
  watch_lines({{.name = "", .from = {0, 20}, .to = {100, 20}},
               {.name = "", .from = {0, 20}, .to = {100, 20}, .anchor = Anchor::kCentroid}});
  CclTrack tall = dot(1, 10, 5);
  tall.height = 10;
  tall.cy = 9.5F;
  play({tall});
  tall.y = 12;
  tall.cy = 16.5F;
  EXPECT_EQ(play({tall}), (Facts{{CCL_EVENT_CROSSED_RIGHT, 1, 0, 0}}));
  tall.y = 18;
  tall.cy = 22.5F;
  EXPECT_EQ(play({tall}), (Facts{{CCL_EVENT_CROSSED_RIGHT, 1, 0, 1}}));
}

/* Mergers and splits */

TEST_F(Events, TwoMergeAndPart) {
  configure();
  play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)});
  EXPECT_EQ(play({member(1, 0), member(2, 0), dot(3, 30, 10)}), (Facts{{CCL_EVENT_MERGED, 2, 1}}));
  EXPECT_EQ(play({member(1, 5), member(2, 5), dot(3, 30, 10)}), Facts{}) << "indices change";
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}}));
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)}), Facts{});
  EXPECT_EQ(play({member(1, 0), member(2, 0), dot(3, 30, 10)}), (Facts{{CCL_EVENT_MERGED, 2, 1}}));
}

/// One event for each group that joins, and for each part that leaves.
TEST_F(Events, GroupsMergeAndPart) {
  configure();
  play({dot(1, 1, 1), dot(2, 2, 2), dot(3, 3, 3), dot(4, 4, 4)});
  EXPECT_EQ(play({dot(1, 1, 1), member(2, 9), member(3, 9), dot(4, 4, 4)}),
            (Facts{{CCL_EVENT_MERGED, 3, 2}}));
  EXPECT_EQ(play({member(1, 9), member(2, 9), member(3, 9), dot(4, 4, 4)}),
            (Facts{{CCL_EVENT_MERGED, 2, 1}}));
  EXPECT_EQ(play({member(1, 0), member(2, 0), member(3, 0), member(4, 0)}),
            (Facts{{CCL_EVENT_MERGED, 4, 1}}));
  EXPECT_EQ(play({member(1, 0), member(2, 1), member(3, 0), member(4, 1)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}}));
  EXPECT_EQ(play({member(1, 0), member(2, 1), member(3, 1), member(4, 0)}), (Facts{{CCL_EVENT_MERGED, 3, 2},
                                                                                   {CCL_EVENT_MERGED, 4, 1},
                                                                                   {CCL_EVENT_SPLIT, 3, 1},
                                                                                   {CCL_EVENT_SPLIT, 4, 2}}));
  EXPECT_EQ(play({dot(1, 1, 1), dot(2, 2, 2), dot(3, 3, 3), dot(4, 4, 4)}),
            (Facts{{CCL_EVENT_SPLIT, 3, 2}, {CCL_EVENT_SPLIT, 4, 1}}));
}

TEST_F(Events, TwoJoinOneInTheSameFrame) {
  configure();
  play({dot(1, 1, 1), dot(2, 2, 2), dot(3, 3, 3)});
  EXPECT_EQ(play({member(1, 0), member(2, 0), member(3, 0)}),
            (Facts{{CCL_EVENT_MERGED, 2, 1}, {CCL_EVENT_MERGED, 3, 1}}));
  EXPECT_EQ(play({dot(1, 1, 1), dot(2, 2, 2), dot(3, 3, 3)}),
            (Facts{{CCL_EVENT_SPLIT, 2, 1}, {CCL_EVENT_SPLIT, 3, 1}}));
}

/// Who is not seen is still in its group. It has left it when both are seen apart.
TEST_F(Events, PartingIsSeenWhenBothAre) {
  for (const uint32_t lost : {1u, 2u}) {
    maker.clear();
    configure();
    play({dot(1, 10, 10), dot(2, 20, 10)});
    play({member(1, 0), member(2, 0)});
    const auto alone = [&](uint32_t id) { return dot(id, 10, 10, id == lost ? kPredicted : kConfirmed); };
    EXPECT_EQ(play({alone(1), alone(2)}), Facts{}) << lost;
    EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}})) << lost;
    EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10)}), Facts{}) << lost;
  }
}

TEST_F(Events, AMemberThatIsNotSeenComesBackToItsGroup) {
  configure();
  play({dot(1, 10, 10), dot(2, 20, 10)});
  play({member(1, 0), member(2, 0)});
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10, kPredicted)}), Facts{});
  EXPECT_EQ(play({member(1, 0), member(2, 0)}), Facts{});
}

/// Groups meet while one of their members is not seen: it belongs to the larger group, too.
TEST_F(Events, AMemberThatIsNotSeenGoesWithItsGroup) {
  for (const bool returns_apart : {true, false}) {
    maker.clear();
    configure();
    play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)});
    play({dot(1, 10, 10), member(2, 9), member(3, 9)});
    EXPECT_EQ(play({member(1, 0), member(2, 0), dot(3, 30, 10, kPredicted)}),
              (Facts{{CCL_EVENT_MERGED, 2, 1}}));
    EXPECT_EQ(play({member(1, 0), member(2, 0), member(3, returns_apart ? 1 : 0)}),
              (returns_apart ? Facts{{CCL_EVENT_SPLIT, 3, 1}} : Facts{}));
  }
}

TEST_F(Events, TheOldestMemberIsNotSeenWhenGroupsMeet) {
  configure();
  play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)});
  play({member(1, 0), dot(2, 20, 10), member(3, 0)});
  EXPECT_EQ(play({dot(1, 10, 10, kPredicted), member(2, 0), member(3, 0)}),
            (Facts{{CCL_EVENT_MERGED, 3, 2}}));
  EXPECT_EQ(play({dot(1, 10, 10), member(2, 0), member(3, 0)}), (Facts{{CCL_EVENT_SPLIT, 2, 1}}));
  EXPECT_EQ(play({dot(1, 10, 10), member(2, 0), member(3, 0)}), Facts{});
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 10), dot(3, 30, 10)}), (Facts{{CCL_EVENT_SPLIT, 3, 2}}));
}

TEST_F(Events, ABirthWithAParentIsASplit) {
  configure();
  play({dot(1, 10, 10), dot(2, 20, 20, 0)});
  CclTrack child = dot(3, 14, 10, CCL_TRACK_NEWBORN);
  child.parent = 1;
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 20, 0), child}), Facts{});
  child.flags = CCL_TRACK_CONFIRMED;
  CclTrack of_tentative = dot(4, 50, 10);
  of_tentative.parent = 2;
  EXPECT_EQ(play({dot(1, 10, 10), dot(2, 20, 20, 0), child, of_tentative}),
            (Facts{{CCL_EVENT_BORN, 3}, {CCL_EVENT_SPLIT, 3, 1}, {CCL_EVENT_BORN, 4}}));
}

TEST_F(Events, AMergerWithATentativeTrackIsNone) {
  configure();
  play({dot(1, 10, 10), dot(2, 20, 10, 0)});
  CclTrack tentative = member(2, 0);
  tentative.flags = CCL_TRACK_MERGED;
  EXPECT_EQ(play({member(1, 0), tentative}), Facts{});
}

}  // namespace ccl::test
