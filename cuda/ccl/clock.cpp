// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/clock.h"

#include <algorithm>

namespace ccl {

namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kUsualStepNs = 33'333'333;
constexpr int64_t kLongestStepNs = int64_t{3650} * 86400 * 1'000'000'000;
constexpr int64_t kLongestSeenStepNs = 1'000'000'000;

/// The sum, wrapped around: time stamps may be anything.
int64_t add(int64_t time, int64_t duration) {
  return static_cast<int64_t>(static_cast<uint64_t>(time) + static_cast<uint64_t>(duration));
}

}  // namespace

uint32_t FrameTime::step_us() const {
  return static_cast<uint32_t>(std::min(step_ns, kLongestSeenStepNs) / kNsPerUs);
}

FrameTime FrameClock::next(int64_t time, bool resets) {
  if (resets) {
    *this = FrameClock();
  }
  int64_t step = kUsualStepNs;
  if (time != kNoTime && last_time_ != kNoTime && time > last_time_) {
    const uint64_t difference = static_cast<uint64_t>(time) - static_cast<uint64_t>(last_time_);
    step = static_cast<int64_t>(std::min(difference, static_cast<uint64_t>(kLongestStepNs)));
  }
  if (time != kNoTime) {
    now_ns_ = time;
  } else if (has_begun_) {
    now_ns_ = add(now_ns_, kUsualStepNs);
  }
  has_begun_ = true;
  last_time_ = time;
  return {now_ns_, step};
}

}  // namespace ccl
