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

void set_components(GstStructure* structure, const GstCudaCclInfo& info) {
  GBytes* records = g_bytes_new(info.records, info.n_records * sizeof(CclComponent));
  gst_structure_set(structure, "layout-version", G_TYPE_UINT, CCL_COMPONENT_LAYOUT_VERSION, "width",
                    G_TYPE_UINT, info.width, "height", G_TYPE_UINT, info.height, "n-components", G_TYPE_UINT,
                    info.n_components, "overflow", G_TYPE_BOOLEAN, info.overflow, "labels-saturated",
                    G_TYPE_BOOLEAN, info.labels_saturated, "level", G_TYPE_UINT, info.level, "relearning",
                    G_TYPE_BOOLEAN, info.relearning, "components", G_TYPE_BYTES, records, nullptr);
  g_bytes_unref(records);
}

void add_component_meta(GstBuffer* buffer, const GstCudaCclInfo& info) {
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, GST_CUDACCL_META_NAME);
  set_components(gst_custom_meta_get_structure(meta), info);
}

/// The record in the pixels of a frame that was scaled by sx and sy. Boxes grow to whole pixels. How many of
/// the perimeter's edges are horizontal is not known, so it scales by the mean.
CclComponent scaled(CclComponent c, double sx, double sy) {
  const double right = std::ceil((c.x + c.width) * sx);
  const double bottom = std::ceil((c.y + c.height) * sy);
  c.x = static_cast<uint32_t>(c.x * sx);
  c.y = static_cast<uint32_t>(c.y * sy);
  c.width = std::max(1u, static_cast<uint32_t>(right) - c.x);
  c.height = std::max(1u, static_cast<uint32_t>(bottom) - c.y);
  c.area = std::max(1u, static_cast<uint32_t>(std::lround(c.area * sx * sy)));
  // A pixel's centre is half a pixel away from its corner, in both frames.
  c.cx = static_cast<float>((c.cx + 0.5) * sx - 0.5);
  c.cy = static_cast<float>((c.cy + 0.5) * sy - 0.5);
  c.mxx = static_cast<float>(c.mxx * sx * sx);
  c.mxy = static_cast<float>(c.mxy * sx * sy);
  c.myy = static_cast<float>(c.myy * sy * sy);
  c.perimeter = static_cast<uint32_t>(std::lround(c.perimeter * (sx + sy) / 2));
  c.flags |= CCL_COMPONENT_SCALED;
  return c;
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
  std::vector<CclComponent> records(info.records, info.records + info.n_records);
  for (CclComponent& record : records) {
    record = scaled(record, sx, sy);
  }
  out.records = records.data();
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

void attach_components(GstBuffer* buffer, const ccl::FrameResult& result, const GstVideoInfo& info) {
  gst_buffer_foreach_meta(buffer, remove_if_component_meta, nullptr);
  add_component_meta(buffer, {.width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&info)),
                              .height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&info)),
                              .n_components = result.counts.n_components,
                              .overflow = result.overflow,
                              .labels_saturated = result.labels_saturated,
                              .level = result.counts.level,
                              .relearning = result.counts.relearning != 0,
                              .records = result.components.data(),
                              .n_records = static_cast<guint>(result.components.size())});
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

void post_relearning_message(GstBaseTransform* transform, GstBuffer* buffer) {
  GstStructure* structure = new_frame_structure("cudaccl-relearning", transform, buffer);
  gst_element_post_message(GST_ELEMENT(transform), gst_message_new_element(GST_OBJECT(transform), structure));
}

}  // namespace cudaccl
