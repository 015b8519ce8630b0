// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of a stream's frames, as background models, tracks and events see it.
#pragma once

#include <cstdint>
#include <limits>

namespace ccl {

inline constexpr int64_t kNsPerUs = 1000;

/// The time stamp of a frame that has none.
inline constexpr int64_t kNoTime = std::numeric_limits<int64_t>::min();

struct FrameTime {
  /// The time stamp. A frame without one is guessed to be 1/30 s after the frame before it; the first one is
  /// at 0. A stamp that is later than the last one, but not than guesses since then, does not go back behind
  /// them.
  int64_t time_ns = 0;
  /// Since the frame before, at most ten years, so that sums do not overflow. It is 1/30 s in the first
  /// frame, in the first one that has a stamp, and where stamps do not increase.
  int64_t step_ns = 0;

  /// The step, at most one second. Models and motion use this one: in a gap of the stream nothing was seen,
  /// so nothing is learned from it, and nothing moves on by it. Times of presence and of absence use the
  /// whole step.
  int64_t seen_ns() const;

  bool operator==(const FrameTime&) const = default;
};

/// Turns the time stamps of a stream's frames into steps. What counts time for a stream has one of its own,
/// because it may see only some of the frames.
class FrameClock {
 public:
  /// For the next frame. `time` is its time stamp, or kNoTime. With `resets` it is like the first one.
  FrameTime next(int64_t time, bool resets);

 private:
  int64_t usual_step();

  bool has_begun_ = false;
  int64_t last_time_ = kNoTime;  ///< the last time stamp
  int64_t guess_ns_ = 0;         ///< when the frame before was, by that stamp
  int64_t now_ns_ = 0;           ///< FrameTime::time_ns of the frame before: the latest guess
  uint32_t n_usual_ = 0;         ///< steps of 1/30 s
};

}  // namespace ccl
