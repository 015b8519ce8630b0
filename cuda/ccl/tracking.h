// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage: identities of components over time.
///
/// Input: the components that the filter keeps, with their pixels and records, and the tracks as the frame
/// before left them. Output: an id for each component, and a CclTrack for each track. Both backends give the
/// same bits. docs/tracking.md has the rules.
///
/// Tracks belong to the stream: they live on through configure() unless the frame's size, Config::max_tracks
/// or the smaller one of Config::max_components and kMaxTracks changes, and end with FrameJob::resets_tracks.
/// An engine gives no id twice.
#pragma once

#include <cstdint>

#include "ccl/setting.h"

namespace ccl {

inline constexpr uint32_t kMaxTracks = limits::max_tracks.largest;
inline constexpr uint32_t kMaxConfirmFrames = limits::track_confirm.largest;

/// Settings of the track stage that may change with each frame.
struct Tracking {
  /// A track is confirmed when it was seen in so many frames: 1..kMaxConfirmFrames.
  uint32_t confirm_frames = defaults::track_confirm;
  uint32_t lost_ms = defaults::track_lost;  ///< a track that is not seen for longer ends

  bool operator==(const Tracking&) const = default;
};

}  // namespace ccl
