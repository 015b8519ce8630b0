// SPDX-License-Identifier: LGPL-2.1-or-later
/// Properties of events and queries.
#pragma once

#include <gst/gst.h>

namespace cudaccl {

// GStreamer's macros for these mix two enumerations, which C++20 deprecates.

inline bool is_serialized(GstQuery* query) {
  return (static_cast<int>(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) != 0;
}

inline bool is_serialized(GstEvent* event) {
  return (static_cast<int>(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) != 0;
}

inline bool is_sticky(GstEvent* event) {
  return (static_cast<int>(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_STICKY) != 0;
}

/// Whether a FLUSH_STOP event begins a new time, as after a seek.
inline bool resets_time(GstEvent* flush_stop) {
  gboolean resets = FALSE;
  gst_event_parse_flush_stop(flush_stop, &resets);
  return resets != FALSE;
}

}  // namespace cudaccl
