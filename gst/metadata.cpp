// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "cudaccl/gstcudacclmeta.h"
#include "frame_counts.h"

namespace cudaccl {

namespace {

constexpr const char* kMetaTags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR, nullptr};

/// Sets a field to an array of records.
template <typename Record>
void set_records(GstStructure* structure, const char* field, const Record* records, guint count) {
  GBytes* bytes = g_bytes_new(records, count * sizeof(Record));
  gst_structure_set(structure, field, G_TYPE_BYTES, bytes, nullptr);
  g_bytes_unref(bytes);
}

void set_components(GstStructure* structure, const GstCudaCclInfo& info) {
  gst_structure_set(structure, "layout-version", G_TYPE_UINT, GST_CUDACCL_META_VERSION, "width", G_TYPE_UINT,
                    info.width, "height", G_TYPE_UINT, info.height, "n-components", G_TYPE_UINT,
                    info.n_components, "overflow", G_TYPE_BOOLEAN, info.overflow, "labels-saturated",
                    G_TYPE_BOOLEAN, info.labels_saturated, "level", G_TYPE_UINT, info.level, "relearning",
                    G_TYPE_BOOLEAN, info.relearning, nullptr);
  set_records(structure, "components", info.records, info.n_records);
  if (info.is_tracked) {
    set_records(structure, "tracks", info.tracks, info.n_tracks);
    set_records(structure, "events", info.events, info.n_events);
    gst_structure_set_value(structure, "zones", info.zones);
    gst_structure_set_value(structure, "lines", info.lines);
  }
}

void add_component_meta(GstBuffer* buffer, const GstCudaCclInfo& info) {
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, GST_CUDACCL_META_NAME);
  set_components(gst_custom_meta_get_structure(meta), info);
}

/// A box in the pixels of a frame that was scaled by sx and sy. It grows to whole pixels, at least to one.
template <typename Box>
void scale_box(Box* box, double sx, double sy) {
  using Pixels = decltype(box->x);
  const double right = std::ceil((box->x + box->width) * sx);
  const double bottom = std::ceil((box->y + box->height) * sy);
  box->x = static_cast<Pixels>(box->x * sx);
  box->y = static_cast<Pixels>(box->y * sy);
  box->width = static_cast<Pixels>(std::max(1.0, right - box->x));
  box->height = static_cast<Pixels>(std::max(1.0, bottom - box->y));
}

/// A coordinate of a pixel's centre, which is half a pixel away from the pixel's corner in both frames.
float scaled_center(float center, double scale) {
  return static_cast<float>((center + 0.5) * scale - 0.5);
}

/// The record in the pixels of a frame that was scaled by sx and sy. How many of the perimeter's edges are
/// horizontal is not known, so it scales by the mean.
CclComponent scaled(CclComponent c, double sx, double sy) {
  scale_box(&c, sx, sy);
  c.area = std::max(1u, static_cast<uint32_t>(std::lround(c.area * sx * sy)));
  c.cx = scaled_center(c.cx, sx);
  c.cy = scaled_center(c.cy, sy);
  c.mxx = static_cast<float>(c.mxx * sx * sx);
  c.mxy = static_cast<float>(c.mxy * sx * sy);
  c.myy = static_cast<float>(c.myy * sy * sy);
  c.perimeter = static_cast<uint32_t>(std::lround(c.perimeter * (sx + sy) / 2));
  c.flags |= CCL_COMPONENT_SCALED;
  return c;
}

CclTrack scaled(CclTrack track, double sx, double sy) {
  scale_box(&track, sx, sy);
  track.cx = scaled_center(track.cx, sx);
  track.cy = scaled_center(track.cy, sy);
  track.vx = static_cast<float>(track.vx * sx);
  track.vy = static_cast<float>(track.vy * sy);
  return track;
}

/// Events of no track have no place.
CclEvent scaled(CclEvent event, double sx, double sy) {
  if (event.id != 0) {
    event.x = scaled_center(event.x, sx);
    event.y = scaled_center(event.y, sy);
  }
  return event;
}

template <typename Record>
std::vector<Record> scaled_records(const Record* records, guint count, double sx, double sy) {
  std::vector<Record> list(records, records + count);
  for (Record& record : list) {
    record = scaled(record, sx, sy);
  }
  return list;
}

void scale_components(GstBuffer* to, const GstCudaCclInfo& info, const GstVideoMetaTransform& scale) {
  GstCudaCclInfo out = info;
  out.width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(scale.out_info));
  out.height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(scale.out_info));
  if (out.width == info.width && out.height == info.height) {
    add_component_meta(to, info);  // videoconvert calls a change of format a scaling
    return;
  }
  const double sx = static_cast<double>(out.width) / info.width;
  const double sy = static_cast<double>(out.height) / info.height;
  const std::vector<CclComponent> records = scaled_records(info.records, info.n_records, sx, sy);
  const std::vector<CclTrack> tracks = scaled_records(info.tracks, info.n_tracks, sx, sy);
  const std::vector<CclEvent> events = scaled_records(info.events, info.n_events, sx, sy);
  out.records = records.data();
  out.tracks = tracks.data();
  out.events = events.data();
  add_component_meta(to, out);
}

/// A copy of the whole frame copies the records; a scaled frame gets records in its own pixels. Any other
/// change of geometry (crop, rotation) drops the metadata, because its coordinates would be wrong.
gboolean transform_components(GstBuffer* to, GstCustomMeta*, GstBuffer* from, GQuark type, gpointer data,
                              gpointer) {
  GstCudaCclInfo info;
  if (!gst_buffer_get_cudaccl_info(from, &info)) {
    return FALSE;
  }
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    const auto* copy = static_cast<GstMetaTransformCopy*>(data);
    if (copy->region) {
      return FALSE;
    }
    add_component_meta(to, info);
    return TRUE;
  }
  if (GST_VIDEO_META_TRANSFORM_IS_SCALE(type)) {
    scale_components(to, info, *static_cast<GstVideoMetaTransform*>(data));
    return TRUE;
  }
  return FALSE;
}

gboolean remove_if_component_region(GstBuffer*, GstMeta** meta, gpointer) {
  if ((*meta)->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE &&
      reinterpret_cast<GstVideoRegionOfInterestMeta*>(*meta)->roi_type ==
          g_quark_from_static_string(kObjectType)) {
    *meta = nullptr;
  }
  return TRUE;
}

gboolean remove_if_component_meta(GstBuffer*, GstMeta** meta, gpointer) {
  if (is_component_meta(*meta)) {
    *meta = nullptr;
  }
  return TRUE;
}

}  // namespace

void register_component_meta() {
  static const GstMetaInfo* info = gst_meta_register_custom(
      GST_CUDACCL_META_NAME, const_cast<const gchar**>(kMetaTags), transform_components, nullptr, nullptr);
  static_cast<void>(info);
}

bool is_component_meta(GstMeta* meta) {
  return gst_meta_info_is_custom(meta->info) &&
         gst_custom_meta_has_name(reinterpret_cast<GstCustomMeta*>(meta), GST_CUDACCL_META_NAME);
}

void attach_components(GstBuffer* buffer, const ccl::FrameResult& result,
                       const std::optional<TrackedFrame>& tracked, const GstVideoInfo& info) {
  gst_buffer_foreach_meta(buffer, remove_if_component_meta, nullptr);
  GstCudaCclInfo content{};
  content.width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info));
  content.height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info));
  content.n_components = result.counts.n_components;
  content.overflow = result.overflow;
  content.labels_saturated = result.labels_saturated;
  content.level = result.counts.level;
  content.relearning = result.counts.relearning != 0;
  content.records = result.components.data();
  content.n_records = static_cast<guint>(result.components.size());
  if (tracked) {
    content.is_tracked = TRUE;
    content.tracks = tracked->tracks.data();
    content.n_tracks = static_cast<guint>(tracked->tracks.size());
    content.events = tracked->events.data();
    content.n_events = static_cast<guint>(tracked->events.size());
    content.zones = tracked->zones;
    content.lines = tracked->lines;
  }
  add_component_meta(buffer, content);
}

void find_largest(const ccl::FrameResult& result, size_t count, std::vector<CclComponent>* largest) {
  largest->resize(std::min(count, result.components.size()));
  std::partial_sort_copy(result.components.begin(), result.components.end(), largest->begin(), largest->end(),
                         [](const CclComponent& a, const CclComponent& b) {
                           return a.area != b.area ? a.area > b.area : a.label < b.label;
                         });
}

void attach_regions_of_interest(GstBuffer* buffer, std::span<const CclComponent> objects) {
  gst_buffer_foreach_meta(buffer, remove_if_component_region, nullptr);
  for (const CclComponent& c : objects) {
    GstVideoRegionOfInterestMeta* roi =
        gst_buffer_add_video_region_of_interest_meta(buffer, kObjectType, c.x, c.y, c.width, c.height);
    roi->id = static_cast<gint>(c.id);
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new("component", "label", G_TYPE_UINT, c.label, "area", G_TYPE_UINT, c.area, "cx",
                               G_TYPE_DOUBLE, static_cast<double>(c.cx), "cy", G_TYPE_DOUBLE,
                               static_cast<double>(c.cy), nullptr));
  }
}

namespace {

/// A structure with this name and the times of the buffer. Owned by the caller.
GstStructure* new_frame_structure(const char* name, GstBaseTransform* transform, GstBuffer* buffer) {
  const GstSegment& segment = transform->segment;
  const GstClockTime timestamp = GST_BUFFER_PTS(buffer);
  const bool timed = segment.format == GST_FORMAT_TIME;
  const guint64 stream_time =
      timed ? gst_segment_to_stream_time(&segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
  const guint64 running_time =
      timed ? gst_segment_to_running_time(&segment, GST_FORMAT_TIME, timestamp) : GST_CLOCK_TIME_NONE;
  return gst_structure_new(name, "timestamp", G_TYPE_UINT64, timestamp, "stream-time", G_TYPE_UINT64,
                           stream_time, "running-time", G_TYPE_UINT64, running_time, "duration",
                           G_TYPE_UINT64, GST_BUFFER_DURATION(buffer), nullptr);
}

}  // namespace

void post_frame_message(GstBaseTransform* transform, GstBuffer* buffer, const ccl::FrameResult& result) {
  GstStructure* structure = new_frame_structure("cudaccl", transform, buffer);
  for (const FrameCount& count : kFrameCounts) {
    gst_structure_set(structure, count.message_field, count.type, count.value(result), nullptr);
  }
  gst_element_post_message(GST_ELEMENT(transform), gst_message_new_element(GST_OBJECT(transform), structure));
}

void post_event_messages(GstBaseTransform* transform, GstBuffer* buffer, const TrackedFrame& tracked) {
  GstCudaCclInfo names{};
  names.zones = tracked.zones;
  names.lines = tracked.lines;
  for (const CclEvent& event : tracked.events) {
    GstStructure* structure = new_frame_structure("cudaccl-event", transform, buffer);
    gst_structure_set(structure, "type", G_TYPE_STRING, gst_cudaccl_event_nick(event.type), "id", G_TYPE_UINT,
                      event.id, "other", G_TYPE_UINT, event.other, "x", G_TYPE_DOUBLE, gdouble{event.x}, "y",
                      G_TYPE_DOUBLE, gdouble{event.y}, nullptr);
    if (const gchar* place = gst_cudaccl_event_place(&names, &event)) {
      gst_structure_set(structure, gst_cudaccl_event_is_at_line(&event) ? "line" : "zone", G_TYPE_STRING,
                        place, nullptr);
    }
    gst_element_post_message(GST_ELEMENT(transform),
                             gst_message_new_element(GST_OBJECT(transform), structure));
  }
}

void post_relearning_message(GstBaseTransform* transform, GstBuffer* buffer) {
  GstStructure* structure = new_frame_structure("cudaccl-relearning", transform, buffer);
  gst_element_post_message(GST_ELEMENT(transform), gst_message_new_element(GST_OBJECT(transform), structure));
}

}  // namespace cudaccl
