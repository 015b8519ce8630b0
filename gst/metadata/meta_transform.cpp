// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/meta_transform.h"

#include "cudaccl/gstcudacclmeta.h"
#include "element/guard.h"
#include "metadata/meta_matrix.h"
#include "metadata/record_fields.h"

namespace cudaccl {

namespace {

/// Fields that are true in every frame that shows the picture. Unknown fields do not follow, since they may
/// describe places.
constexpr const char* kKeptFields[] = {"layout-version",
                                       "source",
                                       "frame",
                                       "overflow",
                                       "labels-saturated",
                                       "level",
                                       "relearning",
                                       "zones",
                                       "lines",
                                       "polygons-truncated",
                                       "utc",
                                       "utc-clock"};

void copy_fields(GstStructure* to, const GstStructure* from) {
  for (const char* field : kKeptFields) {
    if (const GValue* value = gst_structure_get_value(from, field)) {
      gst_structure_set_value(to, field, value);
    }
  }
}

/// Whether an element that keeps the picture's aspect ratio would fill the new frame, as far as whole pixels
/// allow. If not, a scaling of which only the sizes are known may have added borders, or not.
bool is_filled(const GstVideoInfo& old_info, const GstVideoInfo& info) {
  gint n = 0;
  gint d = 0;  // n/d: the aspect ratio of the old frame, in pixels of the new one
  const bool is_known =
      gst_util_fraction_multiply(GST_VIDEO_INFO_WIDTH(&old_info), GST_VIDEO_INFO_HEIGHT(&old_info),
                                 GST_VIDEO_INFO_PAR_N(&old_info), GST_VIDEO_INFO_PAR_D(&old_info), &n, &d) &&
      gst_util_fraction_multiply(n, d, GST_VIDEO_INFO_PAR_D(&info), GST_VIDEO_INFO_PAR_N(&info), &n, &d);
  if (!is_known || n <= 0 || d <= 0) {
    return false;
  }
  const auto width = static_cast<gint64>(GST_VIDEO_INFO_WIDTH(&info));
  const auto height = static_cast<gint64>(GST_VIDEO_INFO_HEIGHT(&info));
  const gint64 wanted_height = width * d / n;
  return wanted_height == height || (wanted_height > height && height * n / d == width);
}

/// The map of a scaling of which only the sizes are known.
std::optional<PictureMap> map_of_scale(const GstVideoMetaTransform& transform) {
  const GstVideoInfo& old_info = *transform.in_info;
  const GstVideoInfo& info = *transform.out_info;
  if (!is_filled(old_info, info)) {
    return std::nullopt;
  }
  return scale_map(static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&old_info)),
                   static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&old_info)),
                   static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&info)),
                   static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&info)));
}

}  // namespace

std::optional<PictureMap> map_of_transform(GQuark type, gpointer data) {
  if (is_matrix(type)) {
    return map_of_matrix(data);
  }
  return GST_VIDEO_META_TRANSFORM_IS_SCALE(type) ? map_of_scale(*static_cast<GstVideoMetaTransform*>(data))
                                                 : std::nullopt;
}

void copy_custom_meta(GstBuffer* to, const char* name, const GstStructure* from) {
  GstStructure* structure = gst_custom_meta_get_structure(gst_buffer_add_custom_meta(to, name));
  for (gint i = 0; i < gst_structure_n_fields(from); ++i) {
    const gchar* field = gst_structure_nth_field_name(from, static_cast<guint>(i));
    gst_structure_set_value(structure, field, gst_structure_get_value(from, field));
  }
}

bool add_mapped_component_meta(GstBuffer* to, GstCustomMeta* meta, const PictureMap& map) {
  const GstStructure* old = gst_custom_meta_get_structure(meta);
  GstCudaCclInfo info;
  if (!is_usable(map) || !gst_structure_get_cudaccl_info(old, &info) || info.width != map.old_width ||
      info.height != map.old_height) {
    return false;
  }
  if (is_same(map)) {
    copy_custom_meta(to, GST_CUDACCL_META_NAME, old);
    return true;
  }
  const FrameRecords mapped =
      map_records(map, {.components = {info.records, info.records + info.n_records},
                        .tracks = {info.tracks, info.tracks + info.n_tracks},
                        .events = {info.events, info.events + info.n_events},
                        .grey = {info.grey, info.grey + info.n_grey},
                        .polygons = {info.polygons, info.polygons + info.n_polygons},
                        .vertices = {info.vertices, info.vertices + info.n_vertices}});
  const auto n_removed = static_cast<guint>(info.n_records - mapped.components.size());
  GstStructure* structure =
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(to, GST_CUDACCL_META_NAME));
  copy_fields(structure, old);
  gst_structure_set(structure, "width", G_TYPE_UINT, map.width, "height", G_TYPE_UINT, map.height,
                    "n-components", G_TYPE_UINT, info.n_components - MIN(info.n_components, n_removed),
                    nullptr);
  set_records<CclComponent>(structure, "components", mapped.components);
  if (info.is_tracked) {
    set_records<CclTrack>(structure, "tracks", mapped.tracks);
    set_records<CclEvent>(structure, "events", mapped.events);
  }
  if (info.has_grey) {
    set_records<CclGrey>(structure, "grey", mapped.grey);
  }
  if (info.has_polygons) {
    set_records<CclPolygon>(structure, "polygons", mapped.polygons);
    set_records<CclVertex>(structure, "vertices", mapped.vertices);
  }
  return true;
}

gboolean transform_component_meta(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type, gpointer data,
                                  gpointer) {
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    if (static_cast<GstMetaTransformCopy*>(data)->region) {
      return FALSE;
    }
    copy_custom_meta(to, GST_CUDACCL_META_NAME, gst_custom_meta_get_structure(meta));
    return TRUE;
  }
  const std::optional<PictureMap> map = map_of_transform(type, data);
  // Without memory the metadata is dropped.
  const bool is_added =
      map && unless_thrown(false, [&] { return add_mapped_component_meta(to, meta, *map); });
  // By a matrix also metadata that is dropped is answered: else elements ask again, by a scaling that hides
  // borders.
  return is_added || is_matrix(type);
}

}  // namespace cudaccl
