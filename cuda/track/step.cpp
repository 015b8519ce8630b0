// SPDX-License-Identifier: LGPL-2.1-or-later
#include "track/step.h"

#include <algorithm>

#include "ccl/engine.h"

namespace ccl::track {

namespace {

constexpr int64_t kNsPerUs = 1000;
constexpr int64_t kUsualNs = 33'333'333;
constexpr int64_t kLongestNs = 1'000'000'000;
constexpr uint32_t kLongestLostUs = 1u << 31;

/// The sum, wrapped around: time stamps may be anything.
int64_t add(int64_t time, int64_t duration) {
  return static_cast<int64_t>(static_cast<uint64_t>(time) + static_cast<uint64_t>(duration));
}

}  // namespace

TrackStep TrackClock::next(const Tracking& tracking, int64_t time, bool resets) {
  int64_t duration_ns = kUsualNs;
  if (time != kNoTime && has_time_ && time > last_time_) {
    // Differences of far times wrap around to a value that is bounded too.
    const uint64_t difference = static_cast<uint64_t>(time) - static_cast<uint64_t>(last_time_);
    duration_ns = static_cast<int64_t>(std::min(difference, static_cast<uint64_t>(kLongestNs)));
  }
  if (time != kNoTime) {
    reported_ns_ = time;
  } else if (has_begun_) {
    reported_ns_ = add(reported_ns_, kUsualNs);
  }
  has_begun_ = true;
  has_time_ = time != kNoTime;
  last_time_ = has_time_ ? time : 0;
  return {
      .time_ns = reported_ns_,
      .duration_us = static_cast<uint32_t>(duration_ns / kNsPerUs),
      .confirm_frames = std::max(tracking.confirm_frames, 1u),
      .lost_us = static_cast<uint32_t>(std::min(uint64_t{tracking.lost_ms} * 1000, uint64_t{kLongestLostUs})),
      .resets = resets ? 1u : 0u};
}

}  // namespace ccl::track
