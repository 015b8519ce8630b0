// SPDX-License-Identifier: LGPL-2.1-or-later
/// When a thread sleeps before it polls for a frame of the GPU.
#include "device/wait_times.h"

#include <gtest/gtest.h>

namespace ccl::device {

namespace {

using std::chrono::microseconds;

class WaitTimesTest : public testing::Test {
 protected:
  /// A frame that comes `pause` after the last one was done, and takes `wait`. Returns how long its wait
  /// slept.
  microseconds push(microseconds pause, microseconds wait) {
    const auto begin = now_ + pause;
    const auto nap = std::chrono::duration_cast<microseconds>(waits_.nap(begin));
    now_ = begin + wait;
    waits_.note(begin, now_);
    return nap;
  }

  WaitTimes waits_;
  WaitTimes::Clock::time_point now_{WaitTimes::Clock::now()};
};

TEST_F(WaitTimesTest, LiveFramesSleepForMostOfTheirWait) {
  EXPECT_EQ(push(microseconds{16'000}, microseconds{400}).count(), 0);
  for (int i = 0; i < 60; ++i) {
    push(microseconds{16'000}, microseconds{400});
  }
  const auto nap = push(microseconds{16'000}, microseconds{400});
  EXPECT_GT(nap, microseconds{290});
  EXPECT_LE(nap, microseconds{300});
}

TEST_F(WaitTimesTest, OneShortWaitIsEnoughToSleepLess) {
  for (int i = 0; i < 60; ++i) {
    push(microseconds{16'000}, microseconds{900});
  }
  push(microseconds{16'000}, microseconds{250});
  EXPECT_EQ(push(microseconds{16'000}, microseconds{250}), microseconds{150});
  push(microseconds{16'000}, microseconds{190});
  EXPECT_EQ(push(microseconds{16'000}, microseconds{190}), microseconds{0});
}

TEST_F(WaitTimesTest, FramesWithoutAPauseArePolled) {
  for (int i = 0; i < 60; ++i) {
    EXPECT_EQ(push(microseconds{90}, microseconds{400}), microseconds{0});
  }
}

}  // namespace

}  // namespace ccl::device
