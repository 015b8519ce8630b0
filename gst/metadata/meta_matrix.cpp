// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/meta_matrix.h"

namespace cudaccl {

#if GST_CHECK_VERSION(1, 28, 0)

namespace {

PixelRectangle pixels_of(const GstVideoRectangle& rectangle) {
  return {rectangle.x, rectangle.y, rectangle.w, rectangle.h};
}

}  // namespace

bool is_matrix(GQuark type) {
  return GST_VIDEO_META_TRANSFORM_IS_MATRIX(type);
}

std::optional<PictureMap> map_of_matrix(gconstpointer data) {
  const auto& transform = *static_cast<const GstVideoMetaTransformMatrix*>(data);
  PictureMap map{.old_width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(transform.in_info)),
                 .old_height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(transform.in_info)),
                 .width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(transform.out_info)),
                 .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(transform.out_info)),
                 .from = pixels_of(transform.in_rectangle),
                 .to = pixels_of(transform.out_rectangle)};
  if (!take_matrix(transform.matrix, &map)) {
    return std::nullopt;
  }
  return map;
}

bool crop_by_matrix(GstBuffer* to, GstMeta* meta, GstBuffer* from, const GstVideoInfo& whole,
                    const GstVideoCropMeta& crop, const GstVideoInfo& cropped) {
  const auto width = static_cast<gint>(crop.width);
  const auto height = static_cast<gint>(crop.height);
  const GstVideoRectangle old_place{static_cast<gint>(crop.x), static_cast<gint>(crop.y), width, height};
  const GstVideoRectangle new_place{0, 0, width, height};
  GstVideoMetaTransformMatrix transform;
  gst_video_meta_transform_matrix_init(&transform, &whole, &old_place, &cropped, &new_place);
  return meta->info->transform_func != nullptr &&
         meta->info->transform_func(to, meta, from, gst_video_meta_transform_matrix_get_quark(), &transform);
}

#else

bool is_matrix(GQuark) {
  return false;
}

std::optional<PictureMap> map_of_matrix(gconstpointer) {
  return std::nullopt;
}

bool crop_by_matrix(GstBuffer*, GstMeta*, GstBuffer*, const GstVideoInfo&, const GstVideoCropMeta&,
                    const GstVideoInfo&) {
  return false;
}

#endif

}  // namespace cudaccl
