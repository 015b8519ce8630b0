// SPDX-License-Identifier: LGPL-2.1-or-later
#include "track/step.h"

#include <algorithm>

namespace ccl::track {

TrackStep step_of(const Tracking& tracking, const FrameTime& time, bool resets, uint32_t aspect) {
  constexpr uint32_t kLongestLostUs = 1u << 31;
  return {
      .time_ns = time.time_ns,
      .duration_us = time.step_us(),
      .confirm_frames = std::max(tracking.confirm_frames, 1u),
      .lost_us = static_cast<uint32_t>(std::min(uint64_t{tracking.lost_ms} * 1000, uint64_t{kLongestLostUs})),
      .resets = resets ? 1u : 0u,
      .aspect = aspect};
}

}  // namespace ccl::track
