// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/metadata.h"

#include "cudaccl/gstcudacclmeta.h"
#include "metadata/meta_transform.h"
#include "metadata/record_fields.h"

namespace cudaccl {

void set_fields(GstStructure* structure, const GstCudaCclInfo& info) {
  gst_structure_set(structure, "layout-version", G_TYPE_UINT, GST_CUDACCL_META_VERSION, "source",
                    G_TYPE_STRING, info.source, "frame", G_TYPE_UINT64, info.frame, "width", G_TYPE_UINT,
                    info.width, "height", G_TYPE_UINT, info.height, "n-components", G_TYPE_UINT,
                    info.n_components, "overflow", G_TYPE_BOOLEAN, info.overflow, "labels-saturated",
                    G_TYPE_BOOLEAN, info.labels_saturated, "level", G_TYPE_UINT, info.level, "relearning",
                    G_TYPE_BOOLEAN, info.relearning, nullptr);
  set_time_of_day(structure, {info.utc, info.utc_clock});
  set_records<CclComponent>(structure, "components", {info.records, info.n_records});
  if (info.is_tracked) {
    set_records<CclTrack>(structure, "tracks", {info.tracks, info.n_tracks});
    set_records<CclEvent>(structure, "events", {info.events, info.n_events});
    gst_structure_set_value(structure, "zones", info.zones);
    gst_structure_set_value(structure, "lines", info.lines);
  }
  if (info.has_grey) {
    set_records<CclGrey>(structure, "grey", {info.grey, info.n_grey});
  }
  if (info.has_polygons) {
    set_records<CclPolygon>(structure, "polygons", {info.polygons, info.n_polygons});
    set_records<CclVertex>(structure, "vertices", {info.vertices, info.n_vertices});
    gst_structure_set(structure, "polygons-truncated", G_TYPE_BOOLEAN, info.polygons_truncated, nullptr);
  }
}

namespace {

void add_component_meta(GstBuffer* buffer, const GstCudaCclInfo& info) {
  GstCustomMeta* meta = gst_buffer_add_custom_meta(buffer, GST_CUDACCL_META_NAME);
  set_fields(gst_custom_meta_get_structure(meta), info);
}

/// Whether a GstCudaCclMeta, or a region of interest, with this structure is of this source.
bool has_source(const GstStructure* structure, const gchar* source) {
  return structure != nullptr && g_strcmp0(gst_structure_get_string(structure, "source"), source) == 0;
}

/// What is removed from a buffer.
struct Outdated {
  const char* name;
  const char* source;
};

gboolean remove_if_outdated(GstBuffer*, GstMeta** meta, gpointer data) {
  const auto* outdated = static_cast<const Outdated*>(data);
  if (is_custom_meta(*meta, outdated->name) && has_source(structure_of(*meta), outdated->source)) {
    *meta = nullptr;
  }
  return TRUE;
}

/// Regions have the source in the parameters of attach_regions_of_interest().
gboolean remove_if_region_from_source(GstBuffer*, GstMeta** meta, gpointer source) {
  if ((*meta)->info->api != GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE) {
    return TRUE;
  }
  auto* region = reinterpret_cast<GstVideoRegionOfInterestMeta*>(*meta);
  if (has_source(gst_video_region_of_interest_meta_get_param(region, kRegionParameters),
                 static_cast<const gchar*>(source))) {
    *meta = nullptr;
  }
  return TRUE;
}

}  // namespace

bool register_place_meta(GstPlugin* plugin, const char* name, GstCustomMetaTransformFunction transform) {
  // Not gst_meta_get_info() first: for an unknown name it would load the plugin, which is being loaded.
  const bool is_registered = g_type_from_name(name) != 0;
  const GstMetaInfo* info = is_registered
                                ? gst_meta_get_info(name)
                                : gst_meta_register_custom(name, const_cast<const gchar**>(kPlaceTags),
                                                           transform, nullptr, nullptr);
#if GST_CHECK_VERSION(1, 28, 0)
  return info != nullptr && gst_meta_factory_register(plugin, info);
#else
  static_cast<void>(plugin);
  return info != nullptr;
#endif
}

bool register_component_meta(GstPlugin* plugin) {
  return register_place_meta(plugin, GST_CUDACCL_META_NAME, transform_component_meta);
}

const GstStructure* structure_of(GstMeta* meta) {
  return gst_custom_meta_get_structure(reinterpret_cast<GstCustomMeta*>(meta));
}

bool is_custom_meta(GstMeta* meta, const char* name) {
  return gst_meta_info_is_custom(meta->info) &&
         gst_custom_meta_has_name(reinterpret_cast<GstCustomMeta*>(meta), name);
}

void remove_of_source(GstBuffer* buffer, const char* name, const char* source) {
  Outdated outdated{name, source};
  gst_buffer_foreach_meta(buffer, remove_if_outdated, &outdated);
}

bool is_component_meta(GstMeta* meta) {
  return is_custom_meta(meta, GST_CUDACCL_META_NAME);
}

GstCudaCclInfo frame_info(const FrameIdentity& frame, const ccl::FrameResult& result,
                          const std::optional<TrackedFrame>& tracked, const ShapeTables& shapes,
                          const GstVideoInfo& video) {
  GstCudaCclInfo info{};
  info.source = frame.source;
  info.frame = frame.number;
  info.utc = frame.time.utc;
  info.utc_clock = frame.time.clock;
  info.width = static_cast<guint>(GST_VIDEO_INFO_WIDTH(&video));
  info.height = static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&video));
  info.n_components = result.counts.n_components;
  info.overflow = result.overflow;
  info.labels_saturated = result.labels_saturated;
  info.level = result.counts.level;
  info.relearning = result.counts.relearning != 0;
  info.records = result.components.data();
  info.n_records = static_cast<guint>(result.components.size());
  if (tracked) {
    info.is_tracked = TRUE;
    info.tracks = tracked->tracks.data();
    info.n_tracks = static_cast<guint>(tracked->tracks.size());
    info.events = tracked->events.data();
    info.n_events = static_cast<guint>(tracked->events.size());
    info.zones = tracked->zones;
    info.lines = tracked->lines;
  }
  info.has_grey = shapes.has_grey;
  info.grey = result.grey.data();
  info.n_grey = static_cast<guint>(result.grey.size());
  if (shapes.polygons != nullptr) {
    info.has_polygons = TRUE;
    info.polygons = shapes.polygons->polygons.data();
    info.n_polygons = static_cast<guint>(shapes.polygons->polygons.size());
    info.vertices = shapes.polygons->vertices.data();
    info.n_vertices = static_cast<guint>(shapes.polygons->vertices.size());
    info.polygons_truncated = shapes.polygons->is_truncated;
  }
  return info;
}

void attach_components(GstBuffer* buffer, const GstCudaCclInfo& info) {
  remove_of_source(buffer, GST_CUDACCL_META_NAME, info.source);
  add_component_meta(buffer, info);
}

void attach_regions_of_interest(GstBuffer* buffer, const FrameIdentity& frame,
                                std::span<const CclComponent> objects) {
  gst_buffer_foreach_meta(buffer, remove_if_region_from_source, const_cast<gchar*>(frame.source));
  const gchar* type = *frame.object_type != 0 ? frame.object_type : kObjectType;
  for (const CclComponent& c : objects) {
    GstVideoRegionOfInterestMeta* roi =
        gst_buffer_add_video_region_of_interest_meta(buffer, type, c.x, c.y, c.width, c.height);
    roi->id = static_cast<gint>(c.id);
    gst_video_region_of_interest_meta_add_param(
        roi, gst_structure_new(kRegionParameters, "label", G_TYPE_UINT, c.label, "area", G_TYPE_UINT, c.area,
                               "cx", G_TYPE_DOUBLE, static_cast<double>(c.cx), "cy", G_TYPE_DOUBLE,
                               static_cast<double>(c.cy), "source", G_TYPE_STRING, frame.source, nullptr));
  }
}

}  // namespace cudaccl
