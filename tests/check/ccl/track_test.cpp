// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage, one by one, with drawn frames.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "track_scene.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = DrawnStream::kWidth;
constexpr uint32_t kHeight = DrawnStream::kHeight;

class TrackTest : public DrawnStream {};

/* Birth, confirmation, death */

TEST_F(TrackTest, IdsAreGivenByLabelAndStay) {
  const std::vector<Rectangle> scene = {{10, 50, 8, 8}, {100, 20, 8, 8}, {200, 90, 8, 8}};
  for (uint32_t i = 0; i < 5; ++i) {
    const TrackedFrame frame = push(scene);
    ASSERT_EQ(frame.components.size(), 3u);
    ASSERT_EQ(frame.tracks.size(), 3u);
    EXPECT_EQ(frame.id_at(100, 20), 1u);
    EXPECT_EQ(frame.id_at(10, 50), 2u);
    EXPECT_EQ(frame.id_at(200, 90), 3u);
    for (uint32_t k = 0; k < 3; ++k) {
      EXPECT_EQ(frame.components[k].age, i);
      EXPECT_EQ(frame.tracks[k].id, k + 1);
      EXPECT_EQ(frame.tracks[k].age, i);
      EXPECT_EQ(frame.tracks[k].component, k);
      EXPECT_EQ(frame.tracks[k].parent, 0u);
      EXPECT_EQ(frame.tracks[k].cx, frame.components[k].cx);
      EXPECT_EQ(frame.tracks[k].cy, frame.components[k].cy);
      EXPECT_EQ(frame.tracks[k].first_time, TrackedStream::kStepNs);
      EXPECT_EQ(frame.tracks[k].last_time, stream.now());
      EXPECT_EQ((frame.components[k].flags & CCL_COMPONENT_NEWBORN) != 0, i == 0);
      EXPECT_EQ((frame.tracks[k].flags & CCL_TRACK_NEWBORN) != 0, i == 0);
    }
  }
}

TEST_F(TrackTest, ConfirmedWhenSeenOften) {
  for (const uint32_t confirm : {1u, 2u, 3u, 7u}) {
    stream.job.tracking.confirm_frames = confirm;
    stream.job.resets_tracks = true;
    for (uint32_t n = 1; n <= 9; ++n) {
      const TrackedFrame frame = push({{50, 50, 20, 20}});
      ASSERT_EQ(frame.tracks.size(), 1u);
      EXPECT_EQ((frame.tracks[0].flags & CCL_TRACK_CONFIRMED) != 0, n >= confirm) << confirm << " " << n;
    }
  }
}

TEST_F(TrackTest, ConfirmedTracksEndAfterTheLostTime) {
  stream.job.tracking.lost_ms = 200;  // 5 frames
  for (uint32_t i = 0; i < 5; ++i) {
    push({{150, 100, 20, 20}});
  }
  const int64_t seen = stream.now();
  for (uint32_t missed = 1; missed <= 5; ++missed) {
    const TrackedFrame frame = push({});
    ASSERT_EQ(frame.tracks.size(), 1u) << missed;
    EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_PREDICTED | CCL_TRACK_CONFIRMED));
    EXPECT_EQ(frame.tracks[0].component, CCL_NO_COMPONENT);
    EXPECT_EQ(frame.tracks[0].last_time, seen);
    EXPECT_EQ(frame.tracks[0].age, 4 + missed);
  }
  EXPECT_TRUE(push({}).tracks.empty());
  EXPECT_EQ(push({{150, 100, 20, 20}}).id_at(150, 100), 2u);
}

TEST_F(TrackTest, TentativeTracksMayMissOneFrame) {
  push({{150, 100, 20, 20}});
  EXPECT_EQ(push({}).tracks.size(), 1u);
  EXPECT_EQ(push({{150, 100, 20, 20}}).id_at(150, 100), 1u);
  EXPECT_EQ(push({}).tracks.size(), 1u);
  EXPECT_TRUE(push({}).tracks.empty());
  EXPECT_EQ(push({{150, 100, 20, 20}}).id_at(150, 100), 2u);
}

/* Motion */

TEST_F(TrackTest, VelocityIsInPixelsPerSecond) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 20; ++i) {
    frame = push({{20 + 4 * i, 150 - 2 * i, 20, 20}});
  }
  ASSERT_EQ(frame.tracks.size(), 1u);
  EXPECT_NEAR(frame.tracks[0].vx, 100, 0.5);
  EXPECT_NEAR(frame.tracks[0].vy, -50, 0.5);
}

/// A lost track moves on, and is found again where it comes out.
TEST_F(TrackTest, LostAndFound) {
  int32_t x = 20;
  for (int32_t i = 0; i < 10; ++i, x += 5) {
    push({{x, 100, 20, 20}});
  }
  for (int32_t i = 0; i < 12; ++i, x += 5) {
    const TrackedFrame frame = push({});
    ASSERT_EQ(frame.tracks.size(), 1u);
    EXPECT_NEAR(frame.tracks[0].cx, static_cast<float>(x) + 9.5f, 0.5);
    EXPECT_NEAR(frame.tracks[0].x, x, 1);
    EXPECT_EQ(frame.tracks[0].width, 20);
  }
  const TrackedFrame frame = push({{x, 100, 20, 20}});
  EXPECT_EQ(frame.id_at(x, 100), 1u);
  EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_PREDICTED));
  EXPECT_EQ(frame.tracks.size(), 1u);
}

TEST_F(TrackTest, TracksEndWhereTheyLeaveTheFrame) {
  stream.job.tracking.lost_ms = 100'000;
  for (int32_t x = 200; x < 320; x += 10) {
    push({{x, 100, 20, 20}});
  }
  size_t n_frames = 0;
  while (!push({}).tracks.empty()) {
    ASSERT_LT(++n_frames, 5u);
  }
}

/// One diameter per frame, from the first frame on, so that nothing overlaps.
TEST_F(TrackTest, FastObjectsNeedNoOverlap) {
  for (int32_t i = 0; i < 18; ++i) {
    const TrackedFrame frame =
        push({{10 + 16 * i, 20, 15, 15}, {285 - 16 * i, 80, 15, 15}, {150, 110 + 4 * i, 5, 4}});
    EXPECT_EQ(frame.id_at(10 + 16 * i, 20), 1u) << i;
    EXPECT_EQ(frame.id_at(285 - 16 * i, 80), 2u) << i;
    EXPECT_EQ(frame.id_at(150, 110 + 4 * i), 3u) << i;
    EXPECT_EQ(frame.tracks.size(), 3u) << i;
  }
}

/// A row of equal objects that moves by nearly its own distance: each object comes to lie where the next one
/// was. No id is handed down: not at the start, and not where the row leaves and enters the frame.
TEST_F(TrackTest, ConvoyKeepsItsIds) {
  constexpr int32_t kPitch = 24;
  constexpr int32_t kStep = 19;
  const auto convoy = [](int32_t frame) {
    std::vector<Rectangle> row;
    for (int32_t k = 0; k < 5; ++k) {
      row.push_back({10 + kPitch * k + kStep * frame, 60, 20, 20});
    }
    return row;
  };
  for (int32_t i = 0; i < 9; ++i) {
    const TrackedFrame frame = push(convoy(i));
    for (int32_t k = 0; k < 5; ++k) {
      EXPECT_EQ(frame.id_at(15 + kPitch * k + kStep * i, 65), static_cast<uint32_t>(k + 1)) << i << " " << k;
    }
  }
  // The first ones leave; the others keep their ids.
  for (int32_t i = 9; i < 14; ++i) {
    const TrackedFrame frame = push(convoy(i));
    for (int32_t k = 0; k < 5; ++k) {
      const int32_t x = 15 + kPitch * k + kStep * i;
      if (x < static_cast<int32_t>(kWidth) - 20) {
        EXPECT_EQ(frame.id_at(x, 65), static_cast<uint32_t>(k + 1)) << i << " " << k;
      }
    }
  }
}

/* Merges and splits */

/// Two objects pass each other, in one component for many frames.
TEST_F(TrackTest, CrossingObjectsKeepTheirIds) {
  bool was_merged = false;
  for (int32_t i = 0; i < 60; ++i) {
    const Rectangle left{20 + 4 * i, 80, 24, 30};
    const Rectangle right{270 - 4 * i, 90, 24, 30};
    const TrackedFrame frame = push({left, right});
    ASSERT_EQ(frame.tracks.size(), 2u) << i;
    if (frame.components.size() == 1) {
      was_merged = true;
      EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED));
      EXPECT_TRUE(frame.has_flags(2, CCL_TRACK_MERGED));
      EXPECT_EQ(frame.tracks[0].component, frame.tracks[1].component);
      EXPECT_TRUE((frame.components[0].flags & CCL_COMPONENT_MERGED) != 0);
    } else {
      EXPECT_EQ(frame.id_at(left.x + 2, 82), 1u) << i;
      EXPECT_EQ(frame.id_at(right.x + 20, 118), 2u) << i;
    }
    EXPECT_NEAR(frame.find(1)->cx, static_cast<float>(left.x) + 11.5f, 6) << i;
    EXPECT_NEAR(frame.find(2)->cx, static_cast<float>(right.x) + 11.5f, 6) << i;
  }
  EXPECT_TRUE(was_merged);
}

/// Two objects meet, stand together, and go back where they came from.
TEST_F(TrackTest, MeetingAndParting) {
  const auto at = [](int32_t gap) {
    return std::vector<Rectangle>{{140 - gap, 60, 20, 60}, {160 + gap, 100, 20, 20}};
  };
  for (int32_t gap = 30; gap > 0; gap -= 3) {
    push(at(gap));
  }
  for (int32_t i = 0; i < 40; ++i) {
    const TrackedFrame frame = push(at(0));
    ASSERT_EQ(frame.components.size(), 1u);
    ASSERT_EQ(frame.tracks.size(), 2u);
    // The colour is that of the larger one.
    EXPECT_EQ(frame.components[0].id, 1u);
  }
  for (int32_t gap = 3; gap < 30; gap += 3) {
    const TrackedFrame frame = push(at(gap));
    EXPECT_EQ(frame.id_at(145 - gap, 65), 1u) << gap;
    EXPECT_EQ(frame.id_at(165 + gap, 105), 2u) << gap;
    EXPECT_EQ(frame.has_flags(1, CCL_TRACK_SPLIT), gap == 3);
    EXPECT_EQ(frame.has_flags(2, CCL_TRACK_SPLIT), gap == 3);
    EXPECT_FALSE(frame.has_flags(2, CCL_TRACK_MERGED));
  }
}

/// Objects that were seen alone for 0.09 s, and those that were not.
TEST_F(TrackTest, MembersWereSeenAlone) {
  for (int32_t n_alone = 1; n_alone < 8; ++n_alone) {
    stream.job.resets_tracks = true;
    for (int32_t gap = 2 * n_alone; gap > 0; gap -= 2) {
      EXPECT_EQ(push({{100 - gap, 80, 20, 40}, {120 + gap, 90, 20, 40}}).tracks.size(), 2u);
    }
    const TrackedFrame frame = push({{100, 80, 20, 40}, {120, 90, 20, 40}});
    const bool are_proven = (n_alone - 1) * TrackedStream::kStepNs >= 90'000'000;
    ASSERT_EQ(frame.tracks.size(), are_proven ? 2u : 1u) << n_alone;
    EXPECT_EQ((frame.tracks[0].flags & CCL_TRACK_MERGED) != 0, are_proven) << n_alone;
  }
}

/// Objects that are in one component for a single frame, and overlap nothing of the frame before.
TEST_F(TrackTest, FastObjectsMerge) {
  for (int32_t i = 0; i < 12; ++i) {
    const TrackedFrame frame = push({{20 + 20 * i, 60, 18, 18}, {260 - 20 * i, 70, 18, 18}});
    ASSERT_EQ(frame.tracks.size(), 2u) << i;
    EXPECT_EQ(frame.has_flags(1, CCL_TRACK_MERGED), i == 6);
    EXPECT_EQ(frame.has_flags(2, CCL_TRACK_MERGED), i == 6);
    if (i != 6) {
      EXPECT_EQ(frame.id_at(20 + 20 * i, 60), 1u) << i;
      EXPECT_EQ(frame.id_at(260 - 20 * i, 87), 2u) << i;
    }
  }
}

/// A walker comes into the frame, leg by leg: what is not seen alone before it joins is a piece of him.
TEST_F(TrackTest, PiecesAreNoMembers) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 40; ++i) {
    const int32_t y = static_cast<int32_t>(kHeight) - 2 * i;
    const Rectangle legs[] = {{100, y, 8, 30}, {114, y, 8, 30}};
    frame = push({legs[0], legs[1], {100, y + 20, 22, 40}});
    EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_MERGED)) << i;
    EXPECT_FALSE(frame.has_flags(2, CCL_TRACK_MERGED)) << i;
  }
  ASSERT_EQ(frame.tracks.size(), 1u);
  EXPECT_EQ(frame.id_at(105, 150), 1u);
}

/// What was noise beside an object ends as soon as it is a part of it.
TEST_F(TrackTest, TentativeTracksEndInConfirmedOnes) {
  for (uint32_t i = 0; i < 5; ++i) {
    push({{100, 80, 30, 40}});
  }
  EXPECT_EQ(push({{100, 80, 30, 40}, {140, 90, 10, 10}}).tracks.size(), 2u);
  const TrackedFrame frame = push({{100, 80, 30, 40}, {130, 90, 16, 10}});
  ASSERT_EQ(frame.tracks.size(), 1u);
  EXPECT_EQ(frame.tracks[0].id, 1u);
  EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_MERGED));
}

/// Three in a group; one leaves, and the others stay.
TEST_F(TrackTest, OneLeavesAGroup) {
  const auto at = [](int32_t left, int32_t right) {
    return std::vector<Rectangle>{{100 - left, 80, 20, 40}, {120, 80, 20, 40}, {140 + right, 80, 20, 40}};
  };
  for (int32_t gap = 20; gap >= 0; gap -= 2) {
    push(at(gap, gap));
  }
  for (int32_t i = 0; i < 10; ++i) {
    EXPECT_EQ(push(at(0, 0)).tracks.size(), 3u);
  }
  for (int32_t gap = 2; gap < 30; gap += 2) {
    const TrackedFrame frame = push(at(0, gap));
    EXPECT_EQ(frame.id_at(150 + gap, 90), 3u) << gap;
    EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED)) << gap;
    EXPECT_TRUE(frame.has_flags(2, CCL_TRACK_MERGED)) << gap;
    EXPECT_FALSE(frame.has_flags(3, CCL_TRACK_MERGED)) << gap;
  }
}

/// What was one object from its birth on parts: the smaller part is born, and knows where it came from.
TEST_F(TrackTest, SplitsWithoutMembersAreBirths) {
  const auto at = [](int32_t gap) {
    return std::vector<Rectangle>{{100, 80, 30, 40}, {130 + gap, 80, 20, 40}};
  };
  for (int32_t i = 0; i < 6; ++i) {
    push(at(0));
  }
  TrackedFrame frame;
  for (int32_t gap = 2; gap < 60; gap += 2) {
    frame = push(at(gap));
    EXPECT_EQ(frame.id_at(110, 90), 1u) << gap;
  }
  ASSERT_EQ(frame.tracks.size(), 2u);
  EXPECT_EQ(frame.tracks[1].parent, 1u);
  EXPECT_EQ(frame.id_at(195, 90), 2u);
}

/// A member that its group has no room for is not seen, and ends.
TEST_F(TrackTest, HiddenMembersEnd) {
  stream.job.tracking.lost_ms = 400;
  for (int32_t gap = 40; gap >= 0; gap -= 2) {
    push({{150 + gap, 80, 20, 40}, {100, 80, 30, 40}});
  }
  size_t n_frames = 0;
  while (push({{100, 80, 30, 40}}).tracks.size() == 2) {
    ASSERT_LT(++n_frames, 12u);
  }
  EXPECT_GE(n_frames, 8u);
  EXPECT_EQ(push({{100, 80, 30, 40}}).id_at(110, 90), 1u);
}

/* Fragments */

/// A lamp post in front of a walker cuts him in two.
TEST_F(TrackTest, FragmentsStayOneTrack) {
  bool was_fragmented = false;
  for (int32_t i = 0; i < 40; ++i) {
    const int32_t x = 40 + 5 * i;
    const TrackedFrame frame = push({{x, 60, 30, 70}, {130, 0, 6, 200, 0}});
    ASSERT_EQ(frame.tracks.size(), 1u) << i;
    EXPECT_EQ(frame.tracks[0].id, 1u);
    for (const CclComponent& c : frame.components) {
      EXPECT_EQ(c.id, 1u) << i;
    }
    if (frame.components.size() == 2) {
      was_fragmented = true;
      EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_FRAGMENTED));
      EXPECT_EQ(frame.tracks[0].x, x);
      EXPECT_EQ(frame.tracks[0].width, 30);
      EXPECT_TRUE((frame.components[0].flags & frame.components[1].flags & CCL_COMPONENT_SPLIT) != 0);
    }
  }
  EXPECT_TRUE(was_fragmented);
}

/// A walker goes behind a wide pillar and comes out in parts.
TEST_F(TrackTest, PartlySeenObjectsAreFound) {
  for (int32_t i = 0; i < 50; ++i) {
    const int32_t x = 20 + 5 * i;
    const TrackedFrame frame = push({{x, 60, 24, 60}, {130, 0, 40, 200, 0}});
    ASSERT_EQ(frame.tracks.size(), 1u) << i;
    EXPECT_EQ(frame.tracks[0].id, 1u) << i;
  }
}

/// A walker starts behind a post: the piece beyond it is not where he was expected.
TEST_F(TrackTest, PiecesOnBothSidesOfAPost) {
  const Rectangle post{130, 0, 4, 200, 0};
  for (uint32_t i = 0; i < 10; ++i) {
    push({{100, 60, 30, 70}, post});
  }
  const TrackedFrame frame = push({{110, 60, 30, 70}, post});
  ASSERT_EQ(frame.components.size(), 2u);
  EXPECT_EQ(frame.tracks.size(), 1u);
  EXPECT_EQ(frame.id_at(112, 70), 1u);
  EXPECT_EQ(frame.id_at(136, 70), 1u);
}

/// Behind a pillar, an object is expected where it is: its hidden side did not slow it.
TEST_F(TrackTest, HiddenObjectsKeepTheirSpeed) {
  bool was_hidden = false;
  for (int32_t i = 0; i < 80; ++i) {
    const int32_t x = 20 + 3 * i;
    const TrackedFrame frame = push({{x, 60, 24, 60}, {130, 0, 50, 200, 0}});
    ASSERT_EQ(frame.tracks.size(), 1u) << i;
    if (frame.components.empty()) {
      was_hidden = true;
      EXPECT_NEAR(frame.tracks[0].cx, static_cast<float>(x) + 11.5f, 4) << i;
      EXPECT_NEAR(frame.tracks[0].vx, 75, 8) << i;
    }
  }
  EXPECT_TRUE(was_hidden);
}

/* Limits */

TEST(TrackLimitsTest, OneTrack) {
  TrackedStream stream{
      Config{.output = Output::kColorized, .layout = {.red = 2, .green = 1, .blue = 0}, .max_tracks = 1}};
  for (uint32_t i = 0; i < 5; ++i) {
    const TrackedFrame frame = stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}, {100, 20, 8, 8}}));
    ASSERT_EQ(frame.tracks.size(), 1u);
    EXPECT_EQ(frame.id_at(100, 20), 1u);
    EXPECT_EQ(frame.id_at(10, 50), 0u);
    const uint8_t* grey = frame.pixels.data() + (size_t{50} * kWidth + 10) * 4;
    EXPECT_EQ(std::vector<int>(grey, grey + 4), std::vector<int>({0x80, 0x80, 0x80, 0xff}));
  }
  // As soon as there is room, the other one gets an id.
  stream.job.tracking.lost_ms = 0;
  const TrackedFrame frame = stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}}));
  EXPECT_EQ(frame.id_at(10, 50), 2u);
}

/// A frame with too many components is not matched, and the tracks survive it.
TEST(TrackLimitsTest, Overflow) {
  TrackedStream stream{Config{.max_components = 2, .max_tracks = 16}};
  for (uint32_t i = 0; i < 5; ++i) {
    stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}, {100, 20, 8, 8}}));
  }
  TrackedFrame frame = stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}, {100, 20, 8, 8}, {200, 90, 9, 9}}));
  ASSERT_EQ(frame.components.size(), 2u);
  EXPECT_EQ(frame.components[0].id, 0u);
  EXPECT_EQ(frame.components[1].id, 0u);
  EXPECT_EQ(frame.tracks.size(), 2u);
  EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_PREDICTED));
  frame = stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}, {100, 20, 8, 8}}));
  EXPECT_EQ(frame.id_at(100, 20), 1u);
  EXPECT_EQ(frame.id_at(10, 50), 2u);
  EXPECT_EQ(frame.tracks.size(), 2u);
}

/// A frame with a record for each component, but with more of them than there can be tracks, is not matched.
TEST(TrackLimitsTest, MoreComponentsThanTracksAtAll) {
  TrackedStream stream{Config{.max_components = 2 * kMaxTracks, .max_tracks = 16}};
  constexpr int32_t kColumns = 320;
  const std::vector<Rectangle> object = {{10, 50, 8, 8}};
  const auto push_with_dots = [&](uint32_t n) {
    std::vector<Rectangle> shapes = object;
    for (uint32_t i = 0; i < n; ++i) {
      shapes.push_back(
          {2 * static_cast<int32_t>(i % kColumns), 60 + 2 * static_cast<int32_t>(i / kColumns), 1, 1});
    }
    return stream.push(draw(2 * kColumns, 400, shapes));
  };
  for (uint32_t i = 0; i < 5; ++i) {
    push_with_dots(0);
  }
  const TrackedFrame frame = push_with_dots(kMaxTracks);
  ASSERT_EQ(frame.components.size(), kMaxTracks + 1);
  EXPECT_TRUE(std::all_of(frame.components.begin(), frame.components.end(),
                          [](const CclComponent& c) { return c.id == 0; }));
  EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_PREDICTED));
  EXPECT_EQ(push_with_dots(kMaxTracks - 1).id_at(10, 50), 1u);
  EXPECT_EQ(push_with_dots(0).id_at(10, 50), 1u);
}

/// A bar grows over hundreds of objects for a moment: all share its component, and part from it.
TEST(TrackLimitsTest, HundredsInOneComponent) {
  constexpr uint32_t kObjects = 300;
  constexpr uint32_t kColumns = 25;
  TrackedStream stream{Config{.max_components = 1024, .max_tracks = 1024}};
  std::vector<Rectangle> objects;
  for (uint32_t i = 0; i < kObjects; ++i) {
    objects.push_back(
        {10 + 24 * static_cast<int32_t>(i % kColumns), 10 + 24 * static_cast<int32_t>(i / kColumns), 10, 10});
  }
  objects.push_back({20, 344, 600, 10});
  const Image apart = draw(640, 360, objects);
  const Image together = draw(640, 360, {{0, 0, 640, 360}});
  for (uint32_t i = 0; i < 6; ++i) {
    stream.push(apart);
  }
  for (uint32_t i = 0; i < 2; ++i) {
    const TrackedFrame frame = stream.push(together);
    ASSERT_EQ(frame.tracks.size(), objects.size());
    EXPECT_TRUE(std::all_of(frame.tracks.begin(), frame.tracks.end(),
                            [](const CclTrack& track) { return (track.flags & CCL_TRACK_MERGED) != 0; }));
  }
  const TrackedFrame frame = stream.push(apart);
  ASSERT_EQ(frame.components.size(), objects.size());
  for (uint32_t i = 0; i < objects.size(); ++i) {
    EXPECT_EQ(frame.components[i].id, i + 1);
  }
}

TEST(TrackLimitsTest, NoTracksNoIds) {
  TrackedStream stream{Config{}};
  const TrackedFrame frame = stream.push(draw(kWidth, kHeight, {{10, 50, 8, 8}, {100, 20, 8, 8}}));
  EXPECT_TRUE(frame.tracks.empty());
  for (const CclComponent& c : frame.components) {
    EXPECT_EQ(c.id, c.label);
    EXPECT_EQ(c.age, 0u);
  }
}

TEST(TrackLimitsTest, TooManyTracksAreRefused) {
  std::unique_ptr<Engine> engine;
  ASSERT_TRUE(make_engine(&engine).ok());
  EXPECT_TRUE(engine->configure({.width = 8, .height = 8, .max_tracks = kMaxTracks}).ok());
  EXPECT_EQ(engine->configure({.width = 8, .height = 8, .max_tracks = kMaxTracks + 1}).code(),
            StatusCode::kInvalidArgument);
}

}  // namespace

}  // namespace ccl::test
