// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of a stream's frames, as background models, tracks and events see it.
#pragma once

#include <cstdint>
#include <limits>

namespace ccl {

/// The time stamp of a frame that has none.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

struct FrameTime {
  /// The time stamp. A frame without one is 1/30 s after the frame before it; the first one is at 0.
  int64_t time_ns = 0;
  /// Since the frame before, at most ten years, so that sums do not overflow. It is 1/30 s where the time
  /// stamps do not say: after or in a frame without one, and where they do not increase.
  int64_t step_ns = 0;

  /// The step in microseconds, at most one second. Models and tracks use this one: in a gap of the stream
  /// nothing was seen, so nothing is learned from it, and nothing moves on by it. Times of presence and of
  /// absence, which events report, use the whole step.
  uint32_t step_us() const;

  bool operator==(const FrameTime&) const = default;
};

/// Turns the time stamps of a stream's frames into steps. What counts time for a stream has one of its own,
/// because it may see only some of the frames.
class FrameClock {
 public:
  /// For the next frame. `time` is its time stamp, or kNoTime. With `resets` it is like the first one.
  FrameTime next(int64_t time, bool resets);

 private:
  int64_t last_time_ = kNoTime;  ///< time stamp of the frame before
  int64_t now_ns_ = 0;           ///< FrameTime::time_ns of the frame before
  bool has_begun_ = false;
};

}  // namespace ccl
