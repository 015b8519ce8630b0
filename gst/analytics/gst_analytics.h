// SPDX-License-Identifier: LGPL-2.1-or-later
/// GStreamer's analytics library, and all that differs between its versions. Only where has_analytics().
#pragma once

#include <gst/analytics/analytics.h>

#include <vector>

namespace cudaccl {

/// Where an object is. With a rotation, the box is turned by it around its centre.
struct DetectionBox {
  gint x, y, width, height;
  gfloat rotation;  ///< radians, clockwise on the screen; before 1.26 it must be 0
};

/// The part of the picture that a mask covers, in pixels.
struct MaskPlace {
  gint x, y;
  guint width, height;
};

inline bool add_detection(GstAnalyticsRelationMeta* relations, GQuark type, const DetectionBox& box,
                          gfloat confidence, GstAnalyticsODMtd* added) {
#if GST_CHECK_VERSION(1, 26, 0)
  return gst_analytics_relation_meta_add_oriented_od_mtd(relations, type, box.x, box.y, box.width, box.height,
                                                         box.rotation, confidence, added);
#else
  return gst_analytics_relation_meta_add_od_mtd(relations, type, box.x, box.y, box.width, box.height,
                                                confidence, added);
#endif
}

#if GST_CHECK_VERSION(1, 26, 0)

inline constexpr bool kHasSegmentation = true;
/// The relation of two lists whose entries belong together one by one.
inline constexpr GstAnalyticsRelTypes kEntryByEntry = GST_ANALYTICS_REL_TYPE_N_TO_N;

inline GstAnalyticsMtdType segmentation_type() {
  return gst_analytics_segmentation_mtd_get_mtd_type();
}

/// Takes the mask, whose pixels are region ids, and which lies in this part of the picture.
inline bool add_segmentation(GstAnalyticsRelationMeta* relations, GstBuffer* mask, const MaskPlace& place,
                             std::vector<guint>& region_ids, GstAnalyticsMtd* added) {
  return gst_analytics_relation_meta_add_segmentation_mtd(relations, mask, GST_SEGMENTATION_TYPE_INSTANCE,
                                                          region_ids.size(), region_ids.data(), place.x,
                                                          place.y, place.width, place.height, added);
}

#else

inline constexpr bool kHasSegmentation = false;
inline constexpr GstAnalyticsRelTypes kEntryByEntry = GST_ANALYTICS_REL_TYPE_NONE;

inline GstAnalyticsMtdType segmentation_type() {
  return 0;
}

inline bool add_segmentation(GstAnalyticsRelationMeta*, GstBuffer* mask, const MaskPlace&,
                             std::vector<guint>&, GstAnalyticsMtd*) {
  gst_buffer_unref(mask);
  return false;
}

#endif

/// From 1.30 on, any entry of a GstAnalyticsRelationMeta may have a tag.
inline void copy_tag(const GstAnalyticsMtd& from, GstAnalyticsMtd* to) {
#if GST_CHECK_VERSION(1, 30, 0)
  gchar* tag = gst_analytics_mtd_get_semantic_tag(&from);
  gst_analytics_mtd_set_semantic_tag(to, tag);
  g_free(tag);
#else
  static_cast<void>(from);
  static_cast<void>(to);
#endif
}

}  // namespace cudaccl
