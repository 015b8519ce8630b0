// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics.h"

#include <gst/analytics/analytics.h>

#include <algorithm>

#include "metadata.h"

namespace cudaccl {

namespace {

/// Room for one object in a GstAnalyticsRelationMeta, which grows if it needs more.
constexpr gsize kBytesPerDetection = 128;
constexpr gsize kBytesPerTrack = 96;

GstClockTime clock_time(int64_t time) {
  return time >= 0 ? static_cast<GstClockTime>(time) : GST_CLOCK_TIME_NONE;
}

/// The track with this id, of tracks by ascending id; null if there is none.
const CclTrack* find_track(std::span<const CclTrack> tracks, uint32_t id) {
  const auto found = std::lower_bound(tracks.begin(), tracks.end(), id,
                                      [](const CclTrack& track, uint32_t key) { return track.id < key; });
  return found != tracks.end() && found->id == id ? &*found : nullptr;
}

void add_track(GstAnalyticsRelationMeta* relations, const CclTrack& track, guint detection) {
  GstAnalyticsTrackingMtd tracking;
  if (gst_analytics_relation_meta_add_tracking_mtd(relations, track.id, clock_time(track.first_time),
                                                   &tracking)) {
    gst_analytics_tracking_mtd_update_last_seen(&tracking, clock_time(track.last_time));
    gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, detection,
                                             tracking.id);
  }
}

}  // namespace

bool has_analytics() {
  return true;
}

void attach_analytics(GstBuffer* buffer, std::span<const CclComponent> objects,
                      std::span<const CclTrack> tracks) {
  const gsize per_object = tracks.empty() ? 1 : 2;
  const gsize bytes = kBytesPerDetection + (tracks.empty() ? 0 : kBytesPerTrack);
  GstAnalyticsRelationMetaInitParams sizes{objects.size() * per_object + 1, objects.size() * bytes + 1};
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta_full(buffer, &sizes);
  for (const CclComponent& c : objects) {
    GstAnalyticsODMtd detection;
    const bool is_added = gst_analytics_relation_meta_add_od_mtd(
        relations, g_quark_from_static_string(kObjectType), static_cast<gint>(c.x), static_cast<gint>(c.y),
        static_cast<gint>(c.width), static_cast<gint>(c.height), 1.0F, &detection);
    const CclTrack* track = find_track(tracks, c.id);
    if (is_added && track != nullptr) {
      add_track(relations, *track, detection.id);
    }
  }
}

}  // namespace cudaccl
