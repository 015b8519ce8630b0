// SPDX-License-Identifier: LGPL-2.1-or-later
#include "metadata/label_map.h"

#include "cudaccl/gstcudaccllabelmap.h"
#include "metadata/meta_matrix.h"
#include "metadata/meta_transform.h"
#include "metadata/metadata.h"

namespace cudaccl {

namespace {

/// A GstCustomMetaTransformFunction. The copy shares the values. A map follows where no pixel moves; anything
/// else drops it.
gboolean transform_label_map(GstBuffer* to, GstCustomMeta* meta, GstBuffer*, GQuark type, gpointer data,
                             gpointer) {
  bool is_same_place = false;
  if (GST_META_TRANSFORM_IS_COPY(type)) {
    is_same_place = !static_cast<GstMetaTransformCopy*>(data)->region;
  } else if (const std::optional<PictureMap> map = map_of_transform(type, data)) {
    is_same_place = is_usable(*map) && is_same(*map) && is_label_map_of(&meta->meta, map->width, map->height);
  }
  if (is_matrix(type)) {
    // A matrix does not say that another picture covers this one, as in compositor. Elements that only scale
    // ask again, by the two sizes, unless the answer is TRUE (see transform_component_meta()).
    return !is_same_place;
  }
  if (is_same_place) {
    copy_custom_meta(to, GST_CUDACCL_LABEL_MAP_NAME, gst_custom_meta_get_structure(meta));
  }
  return is_same_place;
}

}  // namespace

bool register_label_map_meta(GstPlugin* plugin) {
  return register_place_meta(plugin, GST_CUDACCL_LABEL_MAP_NAME, transform_label_map);
}

bool is_label_map(GstMeta* meta) {
  return is_custom_meta(meta, GST_CUDACCL_LABEL_MAP_NAME);
}

bool is_label_map_of(GstMeta* meta, guint width, guint height) {
  GstCudaCclLabelMap map;
  return is_label_map(meta) && gst_structure_get_cudaccl_label_map(structure_of(meta), &map) &&
         map.width == width && map.height == height;
}

void attach_label_map(GstBuffer* buffer, const FrameIdentity& frame, const GstVideoInfo& video, LabelMap kind,
                      GstBuffer* labels) {
  remove_of_source(buffer, GST_CUDACCL_LABEL_MAP_NAME, frame.source);
  GST_BUFFER_PTS(labels) = GST_BUFFER_PTS(buffer);
  GST_BUFFER_DURATION(labels) = GST_BUFFER_DURATION(buffer);
  const auto stride = static_cast<guint>(gst_buffer_get_video_meta(labels)->stride[0]);
  GstBufferList* list = gst_buffer_list_new_sized(1);
  gst_buffer_list_add(list, labels);
  GstStructure* structure =
      gst_custom_meta_get_structure(gst_buffer_add_custom_meta(buffer, GST_CUDACCL_LABEL_MAP_NAME));
  gst_structure_set(structure, "source", G_TYPE_STRING, frame.source, "frame", G_TYPE_UINT64, frame.number,
                    "width", G_TYPE_UINT, static_cast<guint>(GST_VIDEO_INFO_WIDTH(&video)), "height",
                    G_TYPE_UINT, static_cast<guint>(GST_VIDEO_INFO_HEIGHT(&video)), "stride", G_TYPE_UINT,
                    stride, "kind", G_TYPE_STRING, kind == LabelMap::kIds ? "ids" : "labels", "labels",
                    GST_TYPE_BUFFER_LIST, list, nullptr);
  gst_buffer_list_unref(list);
}

}  // namespace cudaccl
