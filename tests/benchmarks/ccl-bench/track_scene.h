// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the track stage is timed with: about 1,000 objects that move, none of which meets another one.
#pragma once

#include <cstdint>

#include "images.h"
#include "options.h"

namespace ccl::bench {

inline constexpr uint32_t kMaxTracks = 4096;
inline constexpr int64_t kFrameTime = 33'333'333;  ///< ns
inline constexpr uint32_t kFrames = 8;             ///< different ones

/// The frames are repeated from their end to their start: 0, 1, … 7, 6, … 1, 0, …
constexpr uint32_t frame_at(uint32_t i) {
  const uint32_t phase = i % (2 * kFrames - 2);
  return phase < kFrames ? phase : 2 * kFrames - 2 - phase;
}

/// Discs that fill a third of their cells, each with a direction of its own; with `has_noise`, also single
/// pixels that change from frame to frame.
test::Image objects(const Size& size, uint32_t frame, bool has_noise);

/// With noise, a filter of the area keeps the objects.
constexpr Settings track_settings(bool has_noise) {
  Settings settings;
  settings.filter.min_area = has_noise ? 20 : 1;
  return settings;
}

}  // namespace ccl::bench
