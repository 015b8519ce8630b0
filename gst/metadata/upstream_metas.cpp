// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/upstream_metas.h"

#include <algorithm>

#include "frame/frame.h"
#include "metadata/label_map.h"
#include "metadata/meta_matrix.h"
#include "metadata/meta_transform.h"
#include "metadata/metadata.h"

namespace cudaccl {

namespace {

/// The part of `size` pixels from `start` on that a crop to `length` pixels from `crop` on shows.
struct Part {
  Part(guint64 start, guint64 size, guint64 crop, guint64 length)
      : low(std::max(start, crop)), high(std::min(start + size, crop + length)), offset(low - crop) {}

  bool is_empty() const { return low >= high; }
  guint size() const { return static_cast<guint>(high - low); }
  guint start() const { return static_cast<guint>(offset); }

  guint64 low, high, offset;
};

/// The parameters of our own regions have places, too.
GstStructure* cropped_param(const GstStructure* param, const GstVideoCropMeta& crop) {
  GstStructure* moved = gst_structure_copy(param);
  gdouble cx = 0;
  gdouble cy = 0;
  if (gst_structure_get_double(param, "cx", &cx) && gst_structure_get_double(param, "cy", &cy)) {
    gst_structure_set(moved, "cx", G_TYPE_DOUBLE, cx - crop.x, "cy", G_TYPE_DOUBLE, cy - crop.y, nullptr);
  }
  return moved;
}

/// GStreamer's own transform by a matrix drops regions that are cut off. Like it, this one leaves out
/// parameters that it does not know, since they may have places.
void add_cropped_region(GstBuffer* to, GstVideoRegionOfInterestMeta* roi, const GstVideoCropMeta& crop) {
  const Part x(roi->x, roi->w, crop.x, crop.width);
  const Part y(roi->y, roi->h, crop.y, crop.height);
  if (x.is_empty() || y.is_empty()) {
    return;
  }
  GstVideoRegionOfInterestMeta* moved = gst_buffer_add_video_region_of_interest_meta_id(
      to, roi->roi_type, x.start(), y.start(), x.size(), y.size());
  moved->id = roi->id;
  moved->parent_id = roi->parent_id;
  if (const GstStructure* param = gst_video_region_of_interest_meta_get_param(roi, kRegionParameters)) {
    gst_video_region_of_interest_meta_add_param(moved, cropped_param(param, crop));
  }
}

/// An element that passes cropped buffers on attached its records in the frame, not in the whole picture.
void add_cropped_component_meta(GstBuffer* to, GstCustomMeta* meta, const GstVideoMeta& whole,
                                const GstVideoCropMeta& crop) {
  PictureMap map = scale_map(whole.width, whole.height, crop.width, crop.height);
  map.from = {static_cast<int32_t>(crop.x), static_cast<int32_t>(crop.y), map.to.width, map.to.height};
  if (!add_mapped_component_meta(to, meta, map)) {
    add_mapped_component_meta(to, meta, scale_map(crop.width, crop.height, crop.width, crop.height));
  }
}

/// Whether metadata of this type may describe places in a frame.
bool describes_places(GType api) {
  return gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_SIZE_STR)) ||
         gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_ORIENTATION_STR));
}

void add_cropped_meta(GstBuffer* to, GstMeta* meta, GstBuffer* from, const GstVideoInfo& info) {
  const GstVideoCropMeta& crop = *gst_buffer_get_video_crop_meta(from);
  const GstVideoMeta& video = *gst_buffer_get_video_meta(from);
  if (meta->info->api == GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
    add_cropped_region(to, reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta), crop);
  } else if (is_component_meta(meta)) {
    add_cropped_component_meta(to, reinterpret_cast<GstCustomMeta*>(meta), video, crop);
  } else {
    GstVideoInfo whole;
    gst_video_info_set_format(&whole, GST_VIDEO_INFO_FORMAT(&info), video.width, video.height);
    crop_by_matrix(to, meta, from, whole, crop, info);
  }
}

}  // namespace

bool is_passed_on(GstBuffer* to, GstMeta* meta, GstBuffer* from, const GstVideoInfo& info) {
  const GType api = meta->info->api;
  const bool is_cut_out = is_cropped(from, info);
  if (api == GST_VIDEO_CROP_META_API_TYPE) {
    return !is_cut_out;
  }
  if (api == GST_PARENT_BUFFER_META_API_TYPE) {
    return false;  // keeps the input's memory alive, which the output does not use
  }
  if (gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_COLORSPACE_STR))) {
    return false;  // the output has other colours
  }
  if (is_cut_out && is_label_map(meta)) {
    // An element that passes cropped buffers on attached the map of the frame.
    const GstVideoCropMeta& crop = *gst_buffer_get_video_crop_meta(from);
    return is_label_map_of(meta, crop.width, crop.height);
  }
  if (is_cut_out && describes_places(api)) {
    add_cropped_meta(to, meta, from, info);
    return false;
  }
  return true;
}

void move_to_whole_picture(GstBuffer* buffer, const GstVideoInfo& info, std::span<CclComponent> components) {
  if (!is_cropped(buffer, info)) {
    return;
  }
  const GstVideoCropMeta& crop = *gst_buffer_get_video_crop_meta(buffer);
  for (CclComponent& component : components) {
    component.x += crop.x;
    component.y += crop.y;
    component.cx += static_cast<float>(crop.x);
    component.cy += static_cast<float>(crop.y);
  }
}

}  // namespace cudaccl
