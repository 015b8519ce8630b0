// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of frames, and that models, tracks and events take it from the same clock.
#include "ccl/clock.h"

#include <gtest/gtest.h>

#include <limits>

#include "ccl/segment/motion.h"
#include "event_fixture.h"
#include "track/step.h"

namespace ccl::test {

namespace {

constexpr int64_t kUsual = 33'333'333;
constexpr int64_t kTenYears = 3650 * int64_t{86'400} * kSecond;
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min() + 1;
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

struct Case {
  int64_t time;
  FrameTime expected;
  uint32_t step_us;
};

constexpr Case kCases[] = {
    {kNoTime, {0, kUsual}, 33'333},
    {kNoTime, {kUsual, kUsual}, 33'333},
    {kSecond, {kSecond, kUsual}, 33'333},  // after a frame without a time stamp
    {kSecond + 20'000'999, {kSecond + 20'000'999, 20'000'999}, 20'000},
    {kSecond, {kSecond, kUsual}, 33'333},  // back in time
    {kSecond, {kSecond, kUsual}, 33'333},  // not later
    {kNoTime, {kSecond + kUsual, kUsual}, 33'333},
    {5 * kSecond, {5 * kSecond, kUsual}, 33'333},
    {6 * kSecond, {6 * kSecond, kSecond}, 1'000'000},
    {9 * kSecond, {9 * kSecond, 3 * kSecond}, 1'000'000},  // a gap
    {kLeast, {kLeast, kUsual}, 33'333},
    {kLargest, {kLargest, kTenYears}, 1'000'000},
    {kNoTime, {kLeast - 1 + kUsual - 1, kUsual}, 33'333},  // the sum is wrapped around
};

}  // namespace

TEST(FrameClock, StepsOfAllTimeStamps) {
  FrameClock clock;
  for (const Case& one : kCases) {
    const FrameTime time = clock.next(one.time, false);
    EXPECT_EQ(time.time_ns, one.expected.time_ns) << &one - kCases;
    EXPECT_EQ(time.step_ns, one.expected.step_ns) << &one - kCases;
    EXPECT_EQ(time.step_us(), one.step_us) << &one - kCases;
  }
}

TEST(FrameClock, AResetBeginsAgain) {
  FrameClock used;
  for (const Case& one : kCases) {
    FrameClock again = used;
    EXPECT_EQ(again.next(one.time, true), FrameClock().next(one.time, false)) << &one - kCases;
    used.next(one.time, false);
  }
}

TEST(FrameClock, IsThatOfModelsAndTracks) {
  MotionClock models;
  FrameClock tracks;
  for (const Case& one : kCases) {
    EXPECT_EQ(models.next({}, one.time, false).duration_us, one.step_us) << &one - kCases;
    const track::TrackStep step = track::step_of({}, tracks.next(one.time, false), false, 1);
    EXPECT_EQ(step.duration_us, one.step_us) << &one - kCases;
    EXPECT_EQ(step.time_ns, one.expected.time_ns) << &one - kCases;
  }
}

/// A gap counts as a whole: nobody was seen to leave.
TEST_F(Events, TimesAreThoseOfTheClock) {
  tests_start = true;
  configure();
  for (const Case& one : kCases) {
    EventMaker events = maker;  // so that each frame is the first with a component
    events.update({.tracks = {}, .n_components = 1, .time = one.time, .hold_ns = kSecond});
    ASSERT_EQ(events.events().size(), 1u);
    EXPECT_EQ(events.events()[0].time, one.expected.time_ns) << &one - kCases;
    maker.update({.tracks = {}, .n_components = 0, .time = one.time, .hold_ns = kSecond});
  }
}

TEST_F(Events, AGapIsTimeInAZone) {
  regions.zones = {box(0, 0, 50, 100)};
  regions.zones[0].dwell_ns = 3 * kSecond;
  configure();
  play({dot(1, 10, 10)});
  EXPECT_EQ(play({dot(1, 10, 10)}, 3 * kSecond - 1), Facts{});
  EXPECT_EQ(play({dot(1, 10, 10)}, 1), (Facts{{CCL_EVENT_DWELLED, 1, 0, 0}}));
}

}  // namespace ccl::test
