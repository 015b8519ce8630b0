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
  constexpr uint64_t kNsPerMs = 1'000'000;
  return {.time_ns = time.time_ns,
          .elapsed_ns = static_cast<uint64_t>(time.step_ns),
          .lost_ns = tracking.lost_ms * kNsPerMs,
          .duration_us = static_cast<uint32_t>(time.seen_ns() / kNsPerUs),
          .confirm_frames = std::max(tracking.confirm_frames, 1u),
          .resets = resets ? 1u : 0u,
          .aspect = aspect};
}

}  // namespace ccl::track
