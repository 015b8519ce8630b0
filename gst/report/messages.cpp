// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/messages.h"

#include "metadata/metadata.h"
#include "report/frame_counts.h"

namespace cudaccl {

namespace {

/// A structure with this name and what all messages have. Owned by the caller.
GstStructure* new_structure(const char* name, const MessageSource& source) {
  const GstSegment& segment = source.element->segment;
  const GstClockTime timestamp = GST_BUFFER_PTS(source.buffer);
  const bool timed = segment.format == GST_FORMAT_TIME;
  const guint64 stream_time =
      timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
  const guint64 running_time =
      timed ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
  GstStructure* structure = gst_structure_new(
      name, "source", G_TYPE_STRING, source.frame.source, "frame", G_TYPE_UINT64, source.frame.number,
      "backend", G_TYPE_STRING, source.frame.backend, "timestamp", G_TYPE_UINT64, timestamp, "stream-time",
      G_TYPE_UINT64, stream_time, "running-time", G_TYPE_UINT64, running_time, "duration", G_TYPE_UINT64,
      GST_BUFFER_DURATION(source.buffer), nullptr);
  set_time_of_day(structure, source.frame.time);
  return structure;
}

/// Takes the structure.
void post(const MessageSource& source, GstStructure* structure) {
  gst_element_post_message(GST_ELEMENT(source.element),
                           gst_message_new_element(GST_OBJECT(source.element), structure));
}

}  // namespace

void post_frame_message(const MessageSource& source, const ccl::FrameResult& result,
                        const GstCudaCclInfo* records) {
  GstStructure* structure = new_structure("cudaccl", source);
  for (const FrameCount& count : kFrameCounts) {
    gst_structure_set(structure, count.message_field, count.type, count.value(result), nullptr);
  }
  if (records != nullptr) {
    set_fields(structure, *records);
  }
  post(source, structure);
}

void post_event_messages(const MessageSource& source, const TrackedFrame& tracked) {
  GstCudaCclInfo names{};
  names.zones = tracked.zones;
  names.lines = tracked.lines;
  for (const CclEvent& event : tracked.events) {
    GstStructure* structure = new_structure("cudaccl-event", source);
    gst_structure_set(structure, "type", G_TYPE_STRING, gst_cudaccl_event_nick(event.type), "id", G_TYPE_UINT,
                      event.id, "other", G_TYPE_UINT, event.other, "x", G_TYPE_DOUBLE, gdouble{event.x}, "y",
                      G_TYPE_DOUBLE, gdouble{event.y}, nullptr);
    if (const gchar* place = gst_cudaccl_event_place(&names, &event)) {
      gst_structure_set(structure, gst_cudaccl_event_is_at_line(&event) ? "line" : "zone", G_TYPE_STRING,
                        place, nullptr);
    }
    post(source, structure);
  }
}

void post_relearning_message(const MessageSource& source) {
  post(source, new_structure("cudaccl-relearning", source));
}

}  // namespace cudaccl
