// SPDX-License-Identifier: LGPL-2.1-or-later
#include "track/step.h"

#include <algorithm>

namespace ccl::track {

TrackSizes sizes_of(const Config& config) {
  const size_t n_pixels = size_t{config.width} * config.height;
  const size_t most = std::min<size_t>(config.max_components, kMaxTracks);
  return {.max_tracks = config.max_tracks, .max_components = static_cast<uint32_t>(std::min(most, n_pixels))};
}

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
