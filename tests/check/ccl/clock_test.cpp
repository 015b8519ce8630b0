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
  int64_t seen_ns;
};

constexpr Case kCases[] = {
    {kNoTime, {0, kUsual}, kUsual},
    {kNoTime, {kUsual, kUsual}, kUsual},
    {kSecond,
     {kSecond, kUsual + 1},
     kUsual + 1},  // the first time stamp; three steps are a tenth of a second
    {kSecond + 20'000'999, {kSecond + 20'000'999, 20'000'999}, 20'000'999},
    {kSecond, {kSecond, kUsual}, kUsual},  // back in time
    {kSecond, {kSecond, kUsual}, kUsual},  // not later
    {kNoTime, {kSecond + kUsual + 1, kUsual + 1}, kUsual + 1},
    {5 * kSecond, {5 * kSecond, 4 * kSecond - kUsual - 1}, kSecond},  // since the frame without one
    {6 * kSecond, {6 * kSecond, kSecond}, kSecond},
    {9 * kSecond, {9 * kSecond, 3 * kSecond}, kSecond},  // a gap
    {kLeast, {kLeast, kUsual}, kUsual},
    {kLargest, {kLargest, kTenYears}, kSecond},
    {kNoTime, {kLargest, 0}, 0},  // there is no later time
};

}  // namespace

TEST(FrameClock, StepsOfAllTimeStamps) {
  FrameClock clock;
  for (const Case& one : kCases) {
    const FrameTime time = clock.next(one.time, false);
    EXPECT_EQ(time.time_ns, one.expected.time_ns) << &one - kCases;
    EXPECT_EQ(time.step_ns, one.expected.step_ns) << &one - kCases;
    EXPECT_EQ(time.seen_ns(), one.seen_ns) << &one - kCases;
  }
}

TEST(FrameClock, ThirtyFramesWithoutTimesAreASecond) {
  FrameClock clock;
  int64_t sum = 0;
  for (int i = 0; i < 300; ++i) {
    sum += clock.next(kNoTime, false).step_ns;
  }
  EXPECT_EQ(sum, 10 * kSecond);
}

/// Where every other frame has no time, the others keep their clock: guesses are made up for.
TEST(FrameClock, GuessesDoNotAddUp) {
  for (const int64_t rate : {1, 5, 25, 60, 240}) {
    FrameClock clock;
    FrameTime before = clock.next(0, false);
    int64_t sum = 0;
    for (int64_t i = 1; i <= 10 * rate; ++i) {
      const FrameTime time = clock.next(i % 2 == 0 ? i * kSecond / rate : kNoTime, false);
      EXPECT_EQ(time.step_ns, time.time_ns - before.time_ns) << rate << ", " << i;
      sum += time.step_ns;
      before = time;
    }
    EXPECT_NEAR(static_cast<double>(sum), 10.0 * kSecond, kUsual + 1) << rate;
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
  uint64_t sum_ns = 0;
  uint64_t sum_us = 0;
  for (const Case& one : kCases) {
    sum_ns += static_cast<uint64_t>(one.seen_ns);
    sum_us += models.next({}, one.time, false).duration_us;
    EXPECT_EQ(sum_us, sum_ns / 1000) << &one - kCases;
    const track::TrackStep step = track::step_of({}, tracks.next(one.time, false), false, 1);
    EXPECT_EQ(step.duration_us, one.seen_ns / 1000) << &one - kCases;
    EXPECT_EQ(step.elapsed_ns, static_cast<uint64_t>(one.expected.step_ns)) << &one - kCases;
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
