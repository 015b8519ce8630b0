// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/meta_matrix.h"

#include <algorithm>

namespace cudaccl {

namespace {

/// Luma pixels between places at which a pixel group of the format begins.
struct Grid {
  int32_t x, y;

  bool has(const PixelRectangle& rectangle) const { return rectangle.x % x == 0 && rectangle.y % y == 0; }
};

Grid grid_of(const GstVideoInfo& info) {
  constexpr gint kPixelsOfV210Group = 6;  // of which one plane has the luma and the chroma
  Grid grid{1, 1};
  for (guint i = 0; i < GST_VIDEO_INFO_N_COMPONENTS(&info); ++i) {
    grid.x = std::max(grid.x, 1 << GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, i));
    grid.y = std::max(grid.y, 1 << GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, i));
  }
  if (GST_VIDEO_INFO_FORMAT(&info) == GST_VIDEO_FORMAT_v210) {
    grid.x = kPixelsOfV210Group;
  }
  return grid;
}

}  // namespace

bool is_on_grid(const PictureMap& map, const GstVideoInfo& in, const GstVideoInfo& out) {
  // Places of luma that has a plane of its own are not rounded where a picture is cut out.
  const bool is_cut_exactly = GST_VIDEO_INFO_N_PLANES(&in) > 1;
  return grid_of(in).has(map.to) && grid_of(out).has(map.to) && (is_cut_exactly || grid_of(in).has(map.from));
}

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
  if (!take_matrix(transform.matrix, &map) || !is_on_grid(map, *transform.in_info, *transform.out_info)) {
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
