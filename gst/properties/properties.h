// SPDX-License-Identifier: LGPL-2.1-or-later
/// The element's properties: one struct that each frame takes a copy of. ccl/settings.def has a row for each.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <string>

#include "ccl/config.h"
#include "ccl/segment.h"
#include "ccl/tracking.h"

namespace cudaccl {

struct RegionSetting;

enum class BackendChoice { kAuto, kCuda, kCpu };

/// Flags of the `metadata` property.
enum Metadata : guint {
  kMetadataComponents = 1u << 0,
  kMetadataRoi = 1u << 1,
  kMetadataAnalytics = 1u << 2,     ///< only where has_analytics()
  kMetadataSegmentation = 1u << 3,  ///< only where has_segmentation()
  kMetadataOriented = 1u << 4,      ///< likewise; rotates the boxes of detections
};

/// What is in the GstAnalyticsRelationMeta of a buffer.
inline constexpr guint kMetadataDetections = kMetadataAnalytics | kMetadataOriented;
inline constexpr guint kMetadataObjects = kMetadataDetections | kMetadataSegmentation;

/// What `label-map` attaches: bits of ccl::Plane.
enum class LabelMap : uint32_t { kNone = 0, kLabels = ccl::kLabelPlane, kIds = ccl::kIdPlane };

/// What `post-messages` posts.
enum class Messages { kNone, kCounts, kRecords };

/// The values of all properties that can be set.
struct Properties {
  /// Every property has the default of its row.
  Properties();

  BackendChoice backend;
  gint cuda_device_id;
  ccl::Algorithm algorithm;
  guint pipeline_depth;
  guint threshold;
  std::shared_ptr<const RegionSetting> regions;  ///< null: the whole frame
  ccl::Output output;                            ///< kNone is `passthrough`
  bool track;
  guint metadata;
  guint max_objects;
  LabelMap label_map;
  Messages post_messages;

  // What the engine reads, and below it its configuration, and the reals and times as they were set.
  ccl::Settings settings;          ///< less what frame_settings() fills in
  ccl::Segmentation segmentation;  ///< less wide_threshold
  ccl::Tracking tracking;
  guint event_hold_ms;
#define CCL_CONFIG(id, kind, initial, when, text) guint id;
#define CCL_REAL(id, member, one, initial, text) gdouble id;
#define CCL_TIME(id, field, member, least, largest, initial, text) guint64 id;
#include "ccl/settings.def"
};

/// The ids of all properties, under the names of the table. LiveProperties and the element answer those of
/// CCL_REPLY.
namespace property_id {
enum : guint {
  none,
#define CCL_SETTING(id, member, kind, initial, when, text) id,
#define CCL_REAL(id, member, one, initial, text) id,
#define CCL_TIME(id, field, member, least, largest, initial, text) id,
#define CCL_CONFIG(id, kind, initial, when, text) id,
#define CCL_PROPERTY(id, kind, initial, when, text) id,
#define CCL_REPLY(id, kind, initial, when, text) id,
#include "ccl/settings.def"
  count
};
}  // namespace property_id

/// Installs all properties.
void install_properties(GObjectClass* klass);

/// Why the property must not have this value, though it is in its range; empty if it may.
std::string why_refused(guint id, const GValue* value);

/// Writes or reads the property with this id. False if Properties does not have it.
bool set_property(Properties* properties, guint id, const GValue* value);
bool get_property(const Properties& properties, guint id, GValue* value);

/// If the named property has the value that it has in `from`, and another one in `to`, sets it to that. True
/// if it did.
bool restore_property(Properties* properties, const char* name, const Properties& from, const Properties& to);

}  // namespace cudaccl
