// SPDX-License-Identifier: LGPL-2.1-or-later
/// Scenes in which ids are easily lost, exchanged or given on to another object, with drawn frames.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

#include "track_scene.h"

namespace ccl::test {

namespace {

class TrackIdentityTest : public DrawnStream {};

/* Rows */

/// The second one comes to where the first one was, and the first one overlaps nothing else.
TEST_F(TrackIdentityTest, NeighboursOfDifferentSizeAreNotExchanged) {
  for (int32_t i = 0; i < 18; ++i) {
    const int32_t x = 5 + 15 * i;
    const TrackedFrame frame = push({{x, 60, 8, 28}, {x + 9, 55, 16, 38}});
    ASSERT_EQ(frame.id_at(x + 9, 55), 1u) << i;
    ASSERT_EQ(frame.id_at(x, 60), 2u) << i;
  }
}

/// Equal objects that move by nearly their spacing. One that has left does not go on in the next one.
TEST_F(TrackIdentityTest, RowsLeaveTheFrame) {
  for (int32_t i = 0; i < 20; ++i) {
    std::vector<Rectangle> row;
    for (int32_t k = 0; k < 3; ++k) {
      row.push_back({80 + 28 * i - 34 * k, 100, 20, 20});
    }
    const TrackedFrame frame = push(row);
    for (uint32_t k = 0; k < 3; ++k) {
      const int32_t x = row[k].x;
      if (x < static_cast<int32_t>(kWidth)) {
        EXPECT_EQ(frame.id_at(x, 100), 3 - k) << i;
      } else {
        EXPECT_EQ(frame.find(3 - k), nullptr) << i << " " << k;
      }
    }
  }
}

/* Groups */

/// The smaller one passes so fast that it overlaps nothing when it comes out.
TEST_F(TrackIdentityTest, MembersLeaveWithoutOverlap) {
  for (int32_t i = 0; i < 14; ++i) {
    const int32_t x = 25 + 20 * i;
    const TrackedFrame frame = push({{150, 90, 40, 40}, {x, 100, 20, 20}});
    ASSERT_EQ(frame.id_at(150, 90), 1u) << i;
    if (x < 130 || x >= 200) {
      ASSERT_EQ(frame.id_at(x, 100), 2u) << i;
    }
  }
}

/// One is seen for three frames only, but comes towards the other one: two objects, not two pieces of one.
TEST_F(TrackIdentityTest, ObjectsThatMeetEarlyAreTwo) {
  for (int32_t i = 0; i < 20; ++i) {
    const int32_t a = 20 + 8 * i;
    const int32_t b = 270 - 8 * i;
    std::vector<Rectangle> scene = {{a, 100, 20, 20}};
    if (i >= 12) {
      scene.push_back({b, 105, 20, 26});
    }
    const TrackedFrame frame = push(scene);
    if (std::abs(a - b) > 21) {
      ASSERT_EQ(frame.id_at(a, 100), 1u) << i;
      if (i >= 12) {
        ASSERT_EQ(frame.id_at(b, 130), 2u) << i;
      }
    }
  }
}

/// What joins a group without a track of its own moves a side of it, but none of the members.
TEST_F(TrackIdentityTest, UnknownMembersMoveNobody) {
  for (int32_t i = 0; i < 8; ++i) {
    push({{100 + 2 * i, 50, 20, 20}, {140 - 2 * i, 60, 20, 20}});
  }
  TrackedFrame frame;
  for (int32_t i = 8; i < 11; ++i) {
    frame = push({{100 + 2 * i, 50, 20, 20}, {140 - 2 * i, 60, 20, 20}, {110, 75, 40, 80}});
  }
  for (const uint32_t id : {1u, 2u}) {
    ASSERT_TRUE(frame.has_flags(id, CCL_TRACK_MERGED));
    EXPECT_NEAR(frame.find(id)->cy, id == 1 ? 59.5 : 69.5, 2) << id;
  }
}

/* Lost and partly hidden objects */

/// A part of an object that is seen is a fragment of it, and not another one that was lost beside it.
TEST_F(TrackIdentityTest, LostTracksTakeNoPieces) {
  for (int32_t i = 0; i < 8; ++i) {
    push({{100, 80, 30, 40}, {132, 80, 8, 40}});
  }
  push({{100, 80, 30, 40}});
  push({{100, 80, 30, 40}});
  const TrackedFrame frame = push({{100, 80, 18, 40}, {120, 80, 10, 40}});
  EXPECT_EQ(frame.id_at(100, 80), 1u);
  EXPECT_EQ(frame.id_at(120, 80), 1u);
  EXPECT_TRUE(frame.has_flags(2, CCL_TRACK_PREDICTED));
}

/// It waits behind the bar, so that its first piece is not where it is expected.
TEST_F(TrackIdentityTest, LostTracksTakeNewOnes) {
  int32_t x = 20;
  for (; x < 160; x += 8) {
    push_behind(160, 220, {{x, 80, 40, 40}});
  }
  for (int32_t i = 0; i < 11; ++i) {
    push({});
  }
  TrackedFrame frame;
  for (x = 182; x < 240; x += 8) {
    frame = push_behind(160, 220, {{x, 80, 40, 40}});
  }
  EXPECT_EQ(frame.id_at(x - 8, 80), 1u);
  EXPECT_EQ(frame.tracks.size(), 1u);
}

/// The last piece that is seen is a narrow end of the object: that is no motion.
TEST_F(TrackIdentityTest, SmallPiecesTellLittle) {
  TrackedFrame frame;
  for (int32_t x = 20; x < 158; x += 5) {
    frame = push_behind(160, 240, {{x, 72, 10, 12}, {x + 10, 60, 30, 60}});
  }
  ASSERT_EQ(frame.components.size(), 1u);
  EXPECT_LT(frame.components[0].height, 20);
  EXPECT_NEAR(frame.find(1)->vy, 0, 20);
  EXPECT_NEAR(frame.find(1)->vx, 125, 12);
}

/* The frame's border */

/// A post stands so near to the border that the object comes into view in two pieces.
TEST_F(TrackIdentityTest, ObjectsComeInBehindAPost) {
  for (int32_t x = -34; x < 60; x += 2) {
    const TrackedFrame frame = push_behind(6, 10, {{x, 80, 30, 40}});
    for (const CclComponent& component : frame.components) {
      ASSERT_EQ(component.id, 1u) << x;
    }
  }
}

/// One leaves while another one comes in. They touch as soon as the second one is seen.
TEST_F(TrackIdentityTest, IdsAreNotGivenOnAtTheBorder) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 30; ++i) {
    const int32_t leaving = 180 + 6 * i;
    const int32_t coming = 400 - 6 * i;
    frame = push({{leaving, 50, 40, 30}, {coming, 76, 40, 50}});
  }
  ASSERT_EQ(frame.components.size(), 1u);
  EXPECT_NE(frame.components[0].id, 1u);
  EXPECT_EQ(frame.find(1), nullptr);
}

/// Something that is seen together with the object only does not change how the object moves.
TEST_F(TrackIdentityTest, ObjectsMoveOnInLargerComponents) {
  TrackedFrame frame;
  for (int32_t i = 0; i < 16; ++i) {
    std::vector<Rectangle> scene = {{40 + 5 * i, 80, 20, 30}};
    if (i >= 12) {
      scene.push_back({90, 100, 60, 40});
    }
    frame = push(scene);
  }
  EXPECT_EQ(frame.components.size(), 1u);
  EXPECT_NEAR(frame.find(1)->vx, 125, 5);
  EXPECT_NEAR(frame.find(1)->vy, 0, 5);
}

}  // namespace

}  // namespace ccl::test
