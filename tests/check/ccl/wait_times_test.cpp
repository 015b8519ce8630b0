// SPDX-License-Identifier: LGPL-2.1-or-later
/// When a thread sleeps before it polls for a frame of the GPU.
#include "device/wait_times.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace ccl::device {

namespace {

using std::chrono::microseconds;

class WaitTimesTest : public testing::Test {
 protected:
  struct Wait {
    microseconds nap;
    microseconds late;  ///< behind the frame
  };

  /// A frame that begins `pause` after the last one was there, and is done after `time`.
  Wait push(microseconds pause, microseconds time) {
    const auto begin = now_ + pause;
    const auto nap = std::chrono::duration_cast<microseconds>(waits_.nap(begin));
    const microseconds woken = nap.count() > 0 ? nap + oversleep : nap;
    const microseconds wait = std::max(time, woken);
    now_ = begin + wait;
    waits_.note(begin, now_, /*is_late=*/nap.count() > 0 && time <= woken);
    return {nap, wait - time};
  }

  /// The longest nap and delay of `n` frames of a camera.
  Wait push_live(int n, microseconds time) {
    Wait longest{};
    for (int i = 0; i < n; ++i) {
      const Wait wait = push(microseconds{33'000} - time, time);
      longest = {std::max(longest.nap, wait.nap), std::max(longest.late, wait.late)};
    }
    return longest;
  }

  microseconds oversleep{60};

 private:
  WaitTimes waits_;
  WaitTimes::Clock::time_point now_{WaitTimes::Clock::now()};
};

TEST_F(WaitTimesTest, LiveFramesSleepForMostOfTheirWait) {
  EXPECT_EQ(push_live(1, microseconds{400}).nap.count(), 0);
  const Wait longest = push_live(100, microseconds{400});
  EXPECT_GT(longest.nap, microseconds{290});
  EXPECT_LE(longest.nap, microseconds{300});
  EXPECT_EQ(longest.late.count(), 0);
}

TEST_F(WaitTimesTest, ShortWaitsArePolled) {
  EXPECT_EQ(push_live(100, microseconds{190}).nap.count(), 0);
}

TEST_F(WaitTimesTest, FramesWithoutAPauseArePolled) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(push(microseconds{90}, microseconds{400}).nap.count(), 0);
  }
}

TEST_F(WaitTimesTest, FramesThatBecomeFasterAreSoonNotLate) {
  push_live(300, microseconds{10'000});
  push_live(8, microseconds{400});
  EXPECT_EQ(push_live(100, microseconds{400}).late.count(), 0);
}

TEST_F(WaitTimesTest, OneLongWaitIsNoRule) {
  push_live(100, microseconds{400});
  push(microseconds{200'000}, microseconds{800'000});
  EXPECT_LE(push_live(100, microseconds{400}).late, microseconds{60});
}

/// A host that wakes its threads milliseconds late: few frames wait for it, and no longer than for that.
TEST_F(WaitTimesTest, LateSleepsDoNotGrow) {
  oversleep = microseconds{4'000};
  int n_late = 0;
  for (int i = 0; i < 3000; ++i) {
    const Wait wait = push_live(1, microseconds{400});
    n_late += wait.late.count() > 0 ? 1 : 0;
    EXPECT_LE(wait.nap, microseconds{300});
  }
  EXPECT_LT(n_late, 600);
}

}  // namespace

}  // namespace ccl::device
