// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/clock.h"

#include <algorithm>

namespace ccl {

namespace {

constexpr int64_t kUsualStepNs = 33'333'333;
constexpr int64_t kLongestStepNs = int64_t{3650} * 86400 * 1'000'000'000;
constexpr int64_t kLongestSeenStepNs = 1'000'000'000;

/// The sum, as far as there is one: time stamps may be anything. `duration` is not negative.
int64_t add(int64_t time, int64_t duration) {
  return time <= std::numeric_limits<int64_t>::max() - duration ? time + duration
                                                                : std::numeric_limits<int64_t>::max();
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
  const bool is_later = has_time ? last_time_ != kNoTime && time > last_time_ : has_begun_;
  has_begun_ = true;
  last_time_ = has_time ? time : last_time_;
  if (!is_later) {
    now_ns_ = guess_ns_ = has_time ? time : 0;
    return {now_ns_, usual_step()};
  }
  guess_ns_ = has_time ? time : add(guess_ns_, usual_step());
  int64_t step = 0;
  if (guess_ns_ > now_ns_) {
    const uint64_t difference = static_cast<uint64_t>(guess_ns_) - static_cast<uint64_t>(now_ns_);
    step = static_cast<int64_t>(std::min(difference, static_cast<uint64_t>(kLongestStepNs)));
    now_ns_ = guess_ns_;
  }
  return {now_ns_, step};
}

}  // namespace ccl
