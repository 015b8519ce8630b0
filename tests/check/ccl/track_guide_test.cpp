// SPDX-License-Identifier: LGPL-2.1-or-later
/// When tracks guide how a component is cut (track/guide.h). What comes of it is in track_groups_test.cpp,
/// and what all labelers make of it in track_cuts_test.cpp.
#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "walkers.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 320;
constexpr uint32_t kHeight = 120;

Image draw(const std::vector<Walker>& walkers) {
  return draw(kWidth, kHeight, walkers);
}

constexpr int32_t kFrames = 64;

/// By shape alone the pair is one component: otherwise the tests below would show nothing.
TEST(TrackGuideTest, ShapeAloneDoesNotCutThePair) {
  LabelledStream stream = separated();
  EXPECT_EQ(stream.push(draw(pair_at(30))).components.size(), 1u);
}

/// Without separation they share a component, as ever.
TEST(TrackGuideTest, NothingIsCutWithoutSeparation) {
  TrackedStream stream{Config{.max_tracks = 64}};
  TrackedFrame frame;
  for (int32_t t = 0; t < 30; ++t) {
    frame = stream.push(draw(pair_at(t)));
  }
  EXPECT_EQ(frame.components.size(), 1u);
  EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED));
}

/// Where a light comes on around several, it is cut between them, unless they are more than
/// track::kMostMembers. Either way each has its id again behind it.
TEST(TrackGuideTest, CrowdsAreNotCut) {
  constexpr uint32_t kPitch = 17;
  for (const uint32_t n : {2u, 16u, 17u, 18u, 100u}) {
    LabelledStream stream = separated(3, {.max_tracks = 128});
    const uint32_t width = 4 + kPitch * n;
    std::vector<Walker> walkers;
    for (uint32_t i = 0; i < n; ++i) {
      walkers.push_back({static_cast<int32_t>(10 + kPitch * i), 60});
    }
    for (int32_t t = 0; t < 16; ++t) {
      ASSERT_EQ(stream.push(draw(width, kHeight, walkers)).components.size(), n);
    }
    const Image light = drawn("light", width, kHeight, [n](uint32_t x, uint32_t y) {
      return x > 0 && x < 3 + kPitch * n && y >= 36 && y < 84;
    });
    EXPECT_EQ(stream.push(light).components.size(), n <= 16 ? n : 1u);
    const TrackedFrame after = stream.push(draw(width, kHeight, walkers));
    for (uint32_t i = 0; i < n; ++i) {
      EXPECT_EQ(after.id_at(walkers[i].x, 60), i + 1) << n;
    }
  }
}

/// Both are lost for some frames, and found again as they were.
TEST(TrackGuideTest, AGroupIsHiddenForAWhile) {
  LabelledStream stream = separated();
  TrackedFrame frame;
  for (int32_t t = 0; t < kFrames; ++t) {
    const bool is_hidden = t >= 28 && t < 32;
    frame = stream.push(draw(is_hidden ? std::vector<Walker>{} : pair_at(t)));
  }
  ASSERT_EQ(frame.components.size(), 2u);
  EXPECT_EQ(frame.id_at(pair_at(kFrames - 1)[0].x, 50), 1u);
  EXPECT_EQ(frame.id_at(pair_at(kFrames - 1)[1].x, 54), 2u);
}

}  // namespace

}  // namespace ccl::test
