// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/clock.h"

#include <algorithm>

namespace ccl {

namespace {

constexpr int64_t kUsualStepNs = 33'333'333;
constexpr int64_t kLongestStepNs = int64_t{3650} * 86400 * 1'000'000'000;
constexpr int64_t kLongestSeenStepNs = 1'000'000'000;

/// The sum, wrapped around: time stamps may be anything.
int64_t add(int64_t time, int64_t duration) {
  return static_cast<int64_t>(static_cast<uint64_t>(time) + static_cast<uint64_t>(duration));
}

}  // namespace

int64_t FrameTime::seen_ns() const {
  return std::min(step_ns, kLongestSeenStepNs);
}

/// 1/30 s: of three steps, one is a nanosecond longer.
int64_t FrameClock::usual_step() {
  return kUsualStepNs + (++n_usual_ % 3 == 0 ? 1 : 0);
}

FrameTime FrameClock::next(int64_t time, bool resets) {
  if (resets) {
    *this = FrameClock();
  }
  const bool has_time = time != kNoTime;
  int64_t step = 0;
  if (has_time && has_time_ && time > now_ns_) {
    const uint64_t difference = static_cast<uint64_t>(time) - static_cast<uint64_t>(now_ns_);
    step = static_cast<int64_t>(std::min(difference, static_cast<uint64_t>(kLongestStepNs)));
  } else {
    step = usual_step();
  }
  if (has_time) {
    now_ns_ = time;
  } else if (has_begun_) {
    now_ns_ = add(now_ns_, step);
  }
  has_begun_ = true;
  has_time_ = has_time_ || has_time;
  return {now_ns_, step};
}

}  // namespace ccl
