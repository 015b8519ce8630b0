// SPDX-License-Identifier: LGPL-2.1-or-later
/// The time of a frame, as the track stage sees it.
#pragma once

#include <cstdint>

#include "ccl/clock.h"
#include "ccl/config.h"
#include "ccl/tracking.h"
#include "track/tables.h"

namespace ccl::track {

/// What is known before a frame is labelled. A device takes it as an argument of its kernel.
struct TrackStep {
  int64_t time_ns = 0;          ///< FrameTime::time_ns
  uint64_t elapsed_ns = 0;      ///< FrameTime::step_ns
  uint64_t lost_ns = 0;         ///< a track that is not seen for longer ends
  uint32_t duration_us = 0;     ///< FrameTime::seen_ns(), rounded down
  uint32_t confirm_frames = 1;  ///< at least 1
  uint32_t resets = 0;          ///< 1: all tracks end before this frame
  uint32_t aspect = 1;          ///< Separation::aspect: how much higher than wide objects are

  bool operator==(const TrackStep&) const = default;
};

/// The lengths of the tables. A frame with more components than there can be tracks is noise: it is not
/// matched, so that no frame takes much longer than without tracks.
TrackSizes sizes_of(const Config& config);

/// `aspect`: Separation::aspect.
TrackStep step_of(const Tracking& tracking, const FrameTime& time, bool resets, uint32_t aspect);

}  // namespace ccl::track
