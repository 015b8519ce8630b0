// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics.h"

#include <gst/analytics/analytics.h>

#include "metadata.h"

namespace cudaccl {

namespace {

/// Room for one object detection in a GstAnalyticsRelationMeta, which grows if it needs more.
constexpr gsize kBytesPerObject = 128;

}  // namespace

bool has_analytics() {
  return true;
}

void attach_analytics(GstBuffer* buffer, std::span<const CclComponent> objects) {
  GstAnalyticsRelationMetaInitParams sizes{objects.size() + 1, objects.size() * kBytesPerObject + 1};
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta_full(buffer, &sizes);
  for (const CclComponent& c : objects) {
    GstAnalyticsODMtd detection;
    gst_analytics_relation_meta_add_od_mtd(
        relations, g_quark_from_static_string(kObjectType), static_cast<gint>(c.x), static_cast<gint>(c.y),
        static_cast<gint>(c.width), static_cast<gint>(c.height), 1.0F, &detection);
  }
}

}  // namespace cudaccl
