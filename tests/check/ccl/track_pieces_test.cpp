// SPDX-License-Identifier: LGPL-2.1-or-later
/// Pieces of one object, beside a post or a bar, and a pair that comes as one component and parts.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "fixture.h"
#include "images.h"
#include "walkers.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 320;
constexpr uint32_t kHeight = 200;

/// Both come in through the left border as one component, and part from frame 40 on.
std::vector<TrackedFrame> pair_that_comes_as_one(uint8_t aspect) {
  LabelledStream stream = separated(aspect);
  std::vector<TrackedFrame> frames;
  for (int32_t t = 0; t < 80; ++t) {
    const int32_t apart = std::clamp(t - 40, 0, 4);
    const std::vector<Walker> pair = {{2 * t - 30 - apart, 100}, {2 * t - 18 + apart, 104}};
    frames.push_back(stream.push(draw(kWidth, kHeight, pair)));
  }
  return frames;
}

/// With the aspect of people both together are too wide for one; otherwise a post may be between two pieces.
TEST(TrackPiecesTest, APairThatComesAsOneBecomesTwo) {
  for (const uint8_t aspect : {uint8_t{1}, uint8_t{3}}) {
    const std::vector<TrackedFrame> frames = pair_that_comes_as_one(aspect);
    const auto second =
        std::find_if(frames.begin(), frames.end(), [](const TrackedFrame& f) { return f.tracks.size() > 1; });
    ASSERT_NE(second, frames.end());
    const auto parted = std::find_if(frames.begin(), frames.end(),
                                     [](const TrackedFrame& f) { return f.components.size() > 1; });
    EXPECT_GT(parted, frames.begin() + 40);
    if (aspect == 1) {
      EXPECT_GE(second - parted, 15);
      EXPECT_LE(second - parted, 20);
    } else {
      EXPECT_LE(second - parted, 1);
    }
    const CclTrack& track = second->tracks.back();
    EXPECT_EQ(track.parent, second->tracks.front().id);
    const TrackedFrame& last = frames.back();
    ASSERT_EQ(last.components.size(), 2u);
    EXPECT_NE(last.components[0].id, last.components[1].id);
    const std::vector<CclEvent> events = events_of(kWidth, kHeight, frames);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [&](const CclEvent& e) { return e.type == CCL_EVENT_BORN && e.id == track.id; }),
              1);
    EXPECT_EQ(std::count_if(events.begin(), events.end(),
                            [&](const CclEvent& e) {
                              return e.type == CCL_EVENT_SPLIT && e.id == track.id && e.other == track.parent;
                            }),
              1);
  }
}

/// An object passes a post of 4 pixels, or stands behind it for 200 ms.
TEST(TrackPiecesTest, WhatAPostCutsStaysOne) {
  for (const uint8_t aspect : {uint8_t{1}, uint8_t{3}}) {
    for (const bool stands : {false, true}) {
      LabelledStream stream = separated(aspect);
      for (int32_t t = 0; t < 40; ++t) {
        const int32_t x = stands ? std::min(80 + 4 * t, 160) + 4 * std::max(t - 25, 0) : 80 + 4 * t;
        const Image image = drawn("behind a post", kWidth, kHeight, [x](uint32_t at_x, uint32_t at_y) {
          return Walker{x, 100, 36}.shows(at_x, at_y) && (at_x < 158 || at_x >= 162);
        });
        const TrackedFrame frame = stream.push(image);
        expect_whole(image, stream.labels, frame);
        EXPECT_EQ(frame.tracks.size(), 1u) << uint32_t{aspect} << ", frame " << t;
        for (const CclComponent& component : frame.components) {
          EXPECT_EQ(component.id, 1u) << uint32_t{aspect} << ", frame " << t;
        }
      }
    }
  }
}

/// Legs below a bar are no second person, however long it lasts.
TEST(TrackPiecesTest, PiecesAboveEachOtherStayOneForEver) {
  for (const uint8_t aspect : {uint8_t{1}, uint8_t{3}}) {
    LabelledStream stream = separated(aspect);
    for (int32_t t = 0; t < 60; ++t) {
      const Image image = drawn("behind a bar", kWidth, kHeight, [t](uint32_t x, uint32_t y) {
        return Walker{60 + 2 * t, 100, 36}.shows(x, y) && (t < 10 || y < 96 || y >= 102);
      });
      const TrackedFrame frame = stream.push(image);
      EXPECT_EQ(frame.tracks.size(), 1u) << uint32_t{aspect} << ", frame " << t;
    }
  }
}

}  // namespace

}  // namespace ccl::test
