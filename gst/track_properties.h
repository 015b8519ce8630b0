// SPDX-License-Identifier: LGPL-2.1-or-later
/// The properties of tracks and events; properties.h has the table.
#pragma once

#include <gst/gst.h>

#include "ccl/tracking.h"

namespace cudaccl {

/// How components get an identity over time.
struct TrackProperties {
  /**
   * GstCudaCcl:track:
   *
   * Gives components an identity over time: each has the id of its track, which stays the same from frame to
   * frame. Tracks and events travel in the metadata, see docs/events.md. What the filters do not keep is not
   * tracked.
   *
   * Since: 0.1
   */
  bool track = false;

  /**
   * GstCudaCcl:track-confirm:
   *
   * With #GstCudaCcl:track: frames in which a track must be seen before it is confirmed. Only confirmed
   * tracks have events.
   *
   * Since: 0.1
   */
  ccl::Tracking tracking;  // less lost_ms, which frame_tracking() fills in

  /**
   * GstCudaCcl:track-lost:
   *
   * With #GstCudaCcl:track: nanoseconds after which a track that is not seen ends. Until then its place is
   * predicted. Whole milliseconds count.
   *
   * Since: 0.1
   */
  guint64 track_lost = 1 * GST_SECOND;

  /**
   * GstCudaCcl:max-tracks:
   *
   * With #GstCudaCcl:track: length of the table of tracks, which is allocated in advance. Components for
   * which it has no room have the id 0. A change ends all tracks.
   *
   * Since: 0.1
   */
  guint max_tracks = 2048;

  /**
   * GstCudaCcl:event-hold:
   *
   * With #GstCudaCcl:track: nanoseconds without any component after which the event `stopped` is made.
   *
   * Since: 0.1
   */
  guint64 event_hold = 2 * GST_SECOND;
};

}  // namespace cudaccl
