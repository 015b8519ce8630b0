// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks that guide how a component is cut that shows several of them (track/guide.h), and pieces that are
/// two objects and no fragments (track/share.h).
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
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

/// The id of the only component of which the box has this pixel; 0 if there are none or several.
uint32_t only_id_at(const TrackedFrame& frame, int32_t x, int32_t y) {
  uint32_t id = 0;
  uint32_t n = 0;
  for (const CclComponent& c : frame.components) {
    if (x >= static_cast<int32_t>(c.x) && x < static_cast<int32_t>(c.x + c.width) &&
        y >= static_cast<int32_t>(c.y) && y < static_cast<int32_t>(c.y + c.height)) {
      id = c.id;
      ++n;
    }
  }
  return n == 1 ? id : 0;
}

/// By shape alone the pair is one component: otherwise the tests below would show nothing.
TEST(TrackGuideTest, ShapeAloneDoesNotCutThePair) {
  LabelledStream stream = separated();
  EXPECT_EQ(stream.push(draw(pair_at(30))).components.size(), 1u);
}

TEST(TrackGuideTest, TwoWhoWalkTogetherAreTwo) {
  LabelledStream stream = separated();
  for (int32_t t = 0; t < kFrames; ++t) {
    const std::vector<Walker> pair = pair_at(t);
    const Image image = draw(pair);
    const TrackedFrame frame = stream.push(image);
    ASSERT_EQ(frame.components.size(), 2u) << t;
    EXPECT_EQ(only_id_at(frame, pair[0].x - 4, pair[0].y), 1u) << t;
    EXPECT_EQ(only_id_at(frame, pair[1].x + 4, pair[1].y), 2u) << t;
    EXPECT_FALSE(frame.has_flags(1, CCL_TRACK_MERGED) || frame.has_flags(2, CCL_TRACK_MERGED)) << t;
    const auto n_pixels =
        std::count(image.pixels(), image.pixels() + size_t{kHeight} * image.stride, kForeground);
    EXPECT_EQ(frame.components[0].area + frame.components[1].area, n_pixels) << t;
    // Equal ellipses side by side share what they cover.
    EXPECT_LT(std::max(frame.components[0].area, frame.components[1].area),
              3 * std::min(frame.components[0].area, frame.components[1].area) / 2)
        << t;
  }
}

/// Without separation they share a component, as ever.
TEST(TrackGuideTest, NothingIsCutWithoutSeparation) {
  Stream stream{Config{.max_tracks = 64}};
  TrackedFrame frame;
  for (int32_t t = 0; t < 30; ++t) {
    frame = stream.push(draw(pair_at(t)));
  }
  EXPECT_EQ(frame.components.size(), 1u);
  EXPECT_TRUE(frame.has_flags(1, CCL_TRACK_MERGED));
}

TEST(TrackGuideTest, EveryLabelerCutsAlike) {
  std::vector<TrackedFrame> expected[2];
  for (const LabelerCase& labeler : labeler_cases()) {
    if (labeler.foreground == Foreground::kValues) {
      continue;
    }
    std::vector<TrackedFrame>& of_connectivity = expected[labeler.connectivity == Connectivity::k8 ? 1 : 0];
    LabelledStream stream = separated(3, {.algorithm = labeler.labeler.algorithm, .max_tracks = 64});
    stream.job.settings.connectivity = labeler.connectivity;
    for (int32_t t = 0; t < kFrames; ++t) {
      const TrackedFrame frame = stream.push(draw(pair_at(t)));
      if (of_connectivity.size() == static_cast<size_t>(t)) {
        of_connectivity.push_back(frame);
      }
      ASSERT_TRUE(is_same(frame, of_connectivity[static_cast<size_t>(t)])) << name_of(labeler) << ", " << t;
    }
  }
  EXPECT_EQ(expected[0].size(), static_cast<size_t>(kFrames));
  EXPECT_EQ(expected[1].size(), static_cast<size_t>(kFrames));
}

/// Where a light comes on around several, it is cut between them, unless they are more than
/// track::kMostMembers.
TEST(TrackGuideTest, CrowdsAreNotCut) {
  constexpr int32_t kPitch = 17;
  for (const uint32_t n : {2u, 16u, 17u, 18u}) {
    LabelledStream stream = separated();
    std::vector<Walker> walkers;
    for (uint32_t i = 0; i < n; ++i) {
      walkers.push_back({10 + kPitch * static_cast<int32_t>(i), 60});
    }
    for (int32_t t = 0; t < 16; ++t) {
      ASSERT_EQ(stream.push(draw(walkers)).components.size(), n);
    }
    const Image light = drawn("light", kWidth, kHeight, [n](uint32_t x, uint32_t y) {
      return x > 0 && x < 3 + kPitch * n && y >= 36 && y < 84;
    });
    EXPECT_EQ(stream.push(light).components.size(), n <= 16 ? n : 1u);
  }
}

/// What happens to a group must not harm what follows.
TEST(TrackGuideTest, TrackingGoesOnAfterWhatHappensToAGroup) {
  const Image light = drawn("light", kWidth, kHeight, [](uint32_t, uint32_t) { return true; });
  for (const char* what : {"light", "reset", "jump", "gap", "halves"}) {
    const std::string event = what;
    LabelledStream stream = separated();
    TrackedFrame frame;
    for (int32_t t = 0; t < kFrames; ++t) {
      if (t == 30) {
        stream.job.resets_tracks = event == "reset";
        stream.set_now(stream.now() + (event == "jump" ? 10'000'000'000 : 0));
      }
      if (event == "halves" && t % 2 == 1) {
        stream.set_now(stream.now() + Stream::kStepNs);
        continue;
      }
      const bool is_gone = event == "gap" && t >= 28 && t < 32;
      frame = stream.push(event == "light" && t == 30 ? light : is_gone ? draw({}) : draw(pair_at(t)));
    }
    EXPECT_EQ(frame.components.size(), 2u) << event;
    std::vector<uint32_t> ids;
    for (const CclComponent& component : frame.components) {
      ids.push_back(component.id);
    }
    std::sort(ids.begin(), ids.end());
    EXPECT_TRUE(ids.size() == 2 && ids[0] > 0 && ids[0] < ids[1]) << event;
  }
}

/* Pieces of a track */

/// Two that came as one part in frame 10. Returns the frame in which the second one got its own track.
int32_t frame_of_second_track(uint8_t aspect, bool is_upright) {
  Stream stream{Config{.max_tracks = 64}};
  stream.job.settings.separation.aspect = aspect;
  for (int32_t t = 0; t < 60; ++t) {
    const int32_t apart = std::clamp(t - 10, 0, 4);
    const TrackedFrame frame = is_upright
                                   ? stream.push(drawn("above", kWidth, kHeight,
                                                       [&](uint32_t x, uint32_t y) {
                                                         const auto row = static_cast<int32_t>(y);
                                                         return x > 100 && x < 120 && row > 20 && row < 90 &&
                                                                (row < 54 - apart || row >= 54 + apart);
                                                       }))
                                   : stream.push(draw({{100 - apart, 50}, {115 + apart, 50}}));
    if (frame.tracks.size() > 1) {
      EXPECT_EQ(frame.tracks.back().parent, 1u);
      return t;
    }
  }
  return -1;
}

TEST(TrackGuideTest, PiecesBesideEachOtherBecomeTwo) {
  EXPECT_LE(frame_of_second_track(3, false), 14);
  const int32_t frame = frame_of_second_track(1, false);
  EXPECT_GT(frame, 25) << "what hides the middle does so for a moment";
  EXPECT_LT(frame, 35);
}

TEST(TrackGuideTest, PiecesAboveEachOtherStayOne) {
  EXPECT_EQ(frame_of_second_track(3, true), -1);
  EXPECT_EQ(frame_of_second_track(1, true), -1);
}

}  // namespace

}  // namespace ccl::test
