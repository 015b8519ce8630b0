// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of a frame, as the track stage sees it.
#pragma once

#include <cstdint>

#include "ccl/tracking.h"

namespace ccl::track {

/// What is known before a frame is labelled. A device takes it as an argument of its kernel.
struct TrackStep {
  int64_t time_ns = 0;          ///< FrameJob::time; without one, the time of the frame before + 1/30 s
  uint32_t duration_us = 0;     ///< since the frame before, at most one second
  uint32_t confirm_frames = 1;  ///< at least 1
  uint32_t lost_us = 0;         ///< a track that is not seen for longer ends
  uint32_t resets = 0;          ///< 1: all tracks end before this frame

  bool operator==(const TrackStep&) const = default;
};

/// Turns the time stamps of a stream's frames into steps. One per stream; lives on the host.
class TrackClock {
 public:
  /// For the next frame. `time`: see FrameJob::time. A frame without a time stamp, or one that is not later
  /// than the previous frame's, is taken 1/30 s after it. A gap counts as one second at most.
  TrackStep next(const Tracking& tracking, int64_t time, bool resets);

 private:
  int64_t last_time_ = 0;    ///< time stamp of the previous frame
  bool has_time_ = false;    ///< whether it had one
  int64_t reported_ns_ = 0;  ///< TrackStep::time_ns of the previous frame
  bool has_begun_ = false;
};

}  // namespace ccl::track
