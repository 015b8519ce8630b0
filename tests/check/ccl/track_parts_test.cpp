// SPDX-License-Identifier: LGPL-2.1-or-later
/// What belongs to an object, and what is only near it: members of groups, pieces, and noise, with drawn
/// frames.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "track_scene.h"

namespace ccl::test {

namespace {

class TrackPartsTest : public DrawnStream {};

/* Groups */

/// One leaves the frame while the other one touches it. Nothing of the first one stays in the group when less
/// than a quarter of it is in the frame.
TEST_F(TrackPartsTest, MembersLeaveTheFrame) {
  for (int32_t i = 0; i < 33; ++i) {
    const int32_t x = 90 - 4 * i;
    const TrackedFrame frame = push({{x, 80, 30, 30}, {std::max(2, 150 - 6 * i), 95, 34, 20}});
    if (i >= 20 && 4 * (x + 30) >= 30) {
      ASSERT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED)) << i;
      ASSERT_TRUE(frame.has_flags(2, CCL_TRACK_MERGED)) << i;
    }
    if (4 * (x + 30) < 30) {
      ASSERT_EQ(frame.components.size(), 1u) << i;
      EXPECT_EQ(frame.components[0].id, 2u) << i;
      EXPECT_EQ(frame.find(1), nullptr) << i;
    }
  }
}

/// The large one stops. The small one, which is inside and has no side of the group's box, goes on.
TEST_F(TrackPartsTest, InnerMembersMoveByThemselves) {
  for (int32_t i = 0; i < 24; ++i) {
    const int32_t x = 20 + 4 * std::min(i, 14);
    const TrackedFrame frame = push({{x, 60, 90, 90}, {100, 14 + 5 * i, 10, 14}});
    if (i > 14) {
      ASSERT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED)) << i;
      EXPECT_NEAR(frame.find(1)->vx, 0, 2) << i;
      EXPECT_NEAR(frame.find(1)->vy, 125, 2) << i;
    }
  }
}

/// They meet and return, so that each one comes out where the other one was expected. Their areas are equal.
TEST_F(TrackPartsTest, MembersAreKnownByTheirShape) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 30; ++i) {
    const int32_t way = i < 15 ? i : 29 - i;
    frame = push({{80 + 4 * way, 90, 40, 20}, {190 - 4 * way, 91, 20, 40}});
  }
  EXPECT_EQ(frame.id_at(81, 91), 1u);
  EXPECT_EQ(frame.id_at(191, 92), 2u);
}

/* Larger components */

/// Something comes beside it for a frame.
TEST_F(TrackPartsTest, WhatIsAddedDoesNotChangeTheBox) {
  for (int32_t i = 0; i < 20; ++i) {
    const int32_t x = 50 + 3 * i;
    std::vector<Rectangle> scene = {{x, 80, 24, 40}};
    if (i == 12) {
      scene.push_back({x + 20, 90, 40, 44});
    }
    const TrackedFrame frame = push(scene);
    ASSERT_EQ(frame.components.size(), 1u);
    ASSERT_EQ(frame.components[0].width, i == 12 ? 60u : 24u);
    EXPECT_NEAR(frame.find(1)->x, x, 1) << i;
    EXPECT_NEAR(frame.find(1)->width, 24, 1) << i;
    EXPECT_NEAR(frame.find(1)->height, 40, 1) << i;
  }
}

/// It was known only in part, and comes into view bit by bit.
TEST_F(TrackPartsTest, WhatComesIntoViewIsInTheBox) {
  for (int32_t i = 0; i < 24; ++i) {
    const TrackedFrame frame = push_behind(160, 240, {{240 - 56 + 4 * std::max(i - 10, 0), 80, 70, 40}});
    ASSERT_EQ(frame.components.size(), 1u);
    EXPECT_EQ(frame.find(1)->width, frame.components[0].width) << i;
  }
}

/* Hidden and lost objects */

/// Something hides it bit by bit from the first frame on. Its velocity is that of the edge that moves.
TEST_F(TrackPartsTest, FirstVelocityIsThatOfTheEdgeThatMoves) {
  for (const int32_t way : {5, -5}) {
    stream.job.resets_tracks = true;
    TrackedFrame frame;
    uint32_t id = 0;
    for (int32_t i = 0; i < 19; ++i) {
      const int32_t x = way > 0 ? 136 : 200;
      frame = push_behind(160, 216, {{x + way * i, 80, 40, 20}});
      id = i == 0 ? frame.components[0].id : id;
      if (i == 2) {
        EXPECT_NEAR(frame.find(id)->vx, 25 * way, 1);
      }
    }
    ASSERT_EQ(frame.components.size(), 1u);
    EXPECT_EQ(frame.components[0].id, id);
  }
}

/// The frame's border cuts it before and after something hides it: it is as deep in the frame as before.
TEST_F(TrackPartsTest, LostTracksReturnAlongTheBorder) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 31; ++i) {
    frame = push_behind(110, 160, {{20 + 5 * i, 180, 22, 40}});
  }
  ASSERT_EQ(frame.components.size(), 1u);
  EXPECT_EQ(frame.components[0].id, 1u);
}

/// A post cuts it in two from the first frame on. It stands at first, so its pieces are two tracks.
TEST_F(TrackPartsTest, WhatVanishesDoesNotJoinThePieceBesideIt) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 20; ++i) {
    frame = push_behind(155, 159, {{127 + 3 * std::max(0, i - 3), 60, 42, 46}});
    EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_MERGED)) << i;
    EXPECT_FALSE(frame.has_flags(2, CCL_TRACK_MERGED)) << i;
  }
  EXPECT_EQ(frame.components.size(), 1u);
}

/// They come into the frame, one above the other, and move along the border by the same way. The space
/// between them stays.
TEST_F(TrackPartsTest, NeighboursThatComeInAreTwoObjects) {
  for (int32_t i = 0; i < 4; ++i) {
    const int32_t width = 12 + 7 * i;
    const auto right = static_cast<int32_t>(kWidth);
    const TrackedFrame frame =
        push({{right - width, 49 - i, width, 29 + i}, {right - 60 + 13 * i, 82, 13, 45 - i}});
    EXPECT_EQ(frame.tracks.size(), 2u) << i;
  }
}

/* Pieces and noise */

/// A speck is where the object comes next, while a piece stays behind: the object is no part of the speck.
TEST_F(TrackPartsTest, NoiseDoesNotGetTheObject) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 9; ++i) {
    const int32_t x = 40 + 8 * i;
    std::vector<Rectangle> scene = {{x, 80, 24, 40}};
    if (i == 7) {
      scene.push_back({x + 27, 98, 3, 3});
    }
    if (i == 8) {
      scene = {{x, 90, 24, 30}, {x - 8, 80, 32, 8}};
    }
    frame = push(scene);
  }
  EXPECT_EQ(frame.id_at(110, 100), 1u);
}

/// What appears in front of an object that comes in is longer than the way that the object makes in a frame.
TEST_F(TrackPartsTest, NoiseIsNoPieceOfWhatComesIn) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 10; ++i) {
    const int32_t right = 3 * (i + 1);
    std::vector<Rectangle> scene = {{right - 60, 80, 60, 40}};
    if (i == 9) {
      scene.push_back({right + 4, 84, 24, 30});
    }
    frame = push(scene);
  }
  ASSERT_EQ(frame.components.size(), 2u);
  EXPECT_EQ(frame.id_at(10, 100), 1u);
  EXPECT_EQ(frame.id_at(40, 100), 2u);
}

/// What is outside is a part of an object that leaves, so that what appears beside it does not fit.
TEST_F(TrackPartsTest, NoiseIsNoPieceOfWhatLeaves) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 26; ++i) {
    const int32_t x = 200 + 4 * i;
    std::vector<Rectangle> scene = {{x, 80, 50, 40}};
    if (i == 25) {
      scene.push_back({x - 34, 84, 24, 20});
    }
    frame = push(scene);
  }
  ASSERT_EQ(frame.components.size(), 2u);
  EXPECT_EQ(frame.id_at(310, 100), 1u);
  EXPECT_EQ(frame.id_at(270, 90), 2u);
}

/// It comes in behind a post, and both are narrow: its width is that of its pieces together, although less of
/// it is seen in that frame, which cuts it, than before.
TEST_F(TrackPartsTest, PiecesOfWhatComesInGiveItsWidth) {
  for (int32_t x = -9; x < 10; x += 2) {
    std::vector<Rectangle> scene = {{x, 80, 11, 36}};
    if (x == 1) {
      scene.push_back({2, 90, 3, 16, 0});
    }
    const TrackedFrame frame = push_behind(6, 10, scene);
    for (const CclComponent& component : frame.components) {
      ASSERT_EQ(component.id, 1u) << x;
    }
  }
}

}  // namespace

}  // namespace ccl::test
