// SPDX-License-Identifier: LGPL-2.1-or-later
#include "analytics/analytics.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analytics/relations.h"

namespace cudaccl {

namespace {

/// Room for one entry of each kind, without what the library adds. A mask has lists with an element for each
/// region.
constexpr gsize kBytesPerEntry = 64;
constexpr gsize kBytesPerRegion = 32;
constexpr gsize kEntriesPerMask = 3;

GstClockTime clock_time(int64_t time) {
  return time >= 0 ? static_cast<GstClockTime>(time) : GST_CLOCK_TIME_NONE;
}

DetectionBox upright_box(const CclComponent& c) {
  return {static_cast<gint>(c.x), static_cast<gint>(c.y), static_cast<gint>(c.width),
          static_cast<gint>(c.height), 0.0F};
}

/// The box around the ellipse with the component's moments, at least one pixel wide, in whole pixels before
/// it is rotated. A square one is not rotated: what is round has no direction, and noise would choose one.
DetectionBox rotated_box(const CclComponent& c) {
  const auto width = std::max(1L, std::lround(ccl_component_major_axis(&c)));
  const auto height = std::max(1L, std::lround(ccl_component_minor_axis(&c)));
  const double angle = width != height ? ccl_component_orientation(&c) : 0;
  constexpr double kHalf = 0.5;  // from a pixel's centre to its corner
  return {static_cast<gint>(std::lround(c.cx + kHalf - static_cast<double>(width) / 2)),
          static_cast<gint>(std::lround(c.cy + kHalf - static_cast<double>(height) / 2)),
          static_cast<gint>(width), static_cast<gint>(height),
          static_cast<gfloat>(angle < 0 ? angle + std::numbers::pi : angle)};
}

/// Components of one pixel have no moments, and need none.
bool has_moments(const CclComponent& c) {
  return c.mxx > 0 || c.myy > 0;
}

/// The type that `object-type` gives, or else the source.
GQuark type_of(const FrameIdentity& identity) {
  return g_quark_from_string(*identity.object_type != 0 ? identity.object_type : identity.source);
}

}  // namespace

bool has_analytics() {
  return true;
}

bool has_segmentation() {
  return kHasSegmentation;
}

/// Writes one frame.
struct Analytics::Writer {
  Analytics& scratch;
  const AnalyticsFrame& frame;
  GstAnalyticsRelationMeta* relations;
  const GQuark type;

  void relate(GstAnalyticsRelTypes how, guint from, guint to) const {
    gst_analytics_relation_meta_set_relation(relations, how, from, to);
  }

  float confidence(const CclComponent& c) const {
    return frame.tracks.empty() ? 1.0F : scratch.sightings_.share(c.id);
  }

  void add_detection(size_t i);
  void add_track(const CclComponent& c, guint detection);
  guint add_list(std::span<uint32_t> classes);
  void add_mask(Owned<GstBuffer> mask);
};

void Analytics::Writer::add_detection(size_t i) {
  const CclComponent& c = frame.objects[i];
  GstAnalyticsODMtd detection;
  cudaccl::add_detection(relations, type,
                         frame.has_rotation && has_moments(c) ? rotated_box(c) : upright_box(c),
                         confidence(c), &detection);
  scratch.detections_[i] = detection.id;
  GstAnalyticsClsMtd key;
  gst_analytics_relation_meta_add_one_cls_mtd(relations, 1.0F, scratch.keys_[i], &key);
  // Not RELATE_TO: objectdetectionoverlay would write the key in place of the type.
  relate(GST_ANALYTICS_REL_TYPE_CONTAIN, detection.id, key.id);
  add_track(c, detection.id);
}

/// Components of one track share its entry.
void Analytics::Writer::add_track(const CclComponent& c, guint detection) {
  const auto found = std::lower_bound(frame.tracks.begin(), frame.tracks.end(), c.id,
                                      [](const CclTrack& track, uint32_t id) { return track.id < id; });
  if (found == frame.tracks.end() || found->id != c.id) {
    return;
  }
  uint32_t& entry = scratch.track_entries_[static_cast<size_t>(found - frame.tracks.begin())];
  if (entry == 0) {
    GstAnalyticsTrackingMtd tracking;
    gst_analytics_relation_meta_add_tracking_mtd(relations, found->id, clock_time(found->first_time),
                                                 &tracking);
    gst_analytics_tracking_mtd_update_last_seen(&tracking, clock_time(found->last_time));
    entry = tracking.id + 1;
  }
  relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, detection, entry - 1);
}

guint Analytics::Writer::add_list(std::span<uint32_t> classes) {
  GstAnalyticsClsMtd list;
  gst_analytics_relation_meta_add_cls_mtd(relations, classes.size(), scratch.levels_.data(), classes.data(),
                                          &list);
  return list.id;
}

/// Takes the mask. Region 0 is the background, and region i + 1 shows objects[i].
void Analytics::Writer::add_mask(Owned<GstBuffer> mask) {
  const size_t n_shown = std::min(frame.objects.size(), InstanceMask::limit(frame.max_objects));
  constexpr float kUndefined = -1.0F;
  scratch.levels_.assign(1, kUndefined);
  scratch.classes_.assign(1, g_quark_from_static_string("background"));
  scratch.region_ids_.assign(1, 0);
  for (size_t i = 0; i < n_shown; ++i) {
    scratch.levels_.push_back(confidence(frame.objects[i]));
    scratch.classes_.push_back(type);
    scratch.region_ids_.push_back(static_cast<uint32_t>(i + 1));
  }
  GstAnalyticsMtd added;
  add_segmentation(relations, mask.release(),
                   {frame.mask_x, frame.mask_y, frame.labels.width, frame.labels.height}, scratch.region_ids_,
                   &added);
  // segmentationoverlay reads the first list, so it is that of the types.
  relate(kEntryByEntry, added.id, add_list(scratch.classes_));
  std::copy_n(scratch.keys_.begin(), n_shown, scratch.classes_.begin() + 1);
  relate(kEntryByEntry, added.id, add_list(scratch.classes_));
  const size_t n_related = frame.has_detections ? std::min(n_shown, scratch.detections_.size()) : 0;
  for (size_t i = 0; i < n_related; ++i) {
    relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, added.id, scratch.detections_[i]);
    relate(GST_ANALYTICS_REL_TYPE_RELATE_TO, scratch.detections_[i], added.id);
  }
}

ccl::Status Analytics::attach(GstBuffer* buffer, const AnalyticsFrame& frame) {
  const size_t n = frame.objects.size();
  Owned<GstBuffer> mask;
  if (kHasSegmentation && frame.labels.labels != nullptr && n > 0) {
    CCL_RETURN_IF_ERROR(mask_.make(frame.labels, frame.objects, frame.max_objects, &mask));
  }
  const std::string source = frame.identity.source;
  RelationRoom room{};
  const size_t n_detections = frame.has_detections ? std::min(n, kMaxDetections) : 0;
  if (n_detections > 0) {
    room.entries = 2 * n_detections + std::min(n_detections, frame.tracks.size());
    room.bytes = room.entries * kBytesPerEntry;
  }
  if (mask != nullptr) {
    room.entries += kEntriesPerMask;
    room.bytes += kEntriesPerMask * kBytesPerEntry + (n + 1) * kBytesPerRegion;
  }
  GstAnalyticsRelationMeta* relations = renew_relations(buffer, source, room);
  if (room.entries == 0) {
    return {};
  }
  keys_.resize(n);
  std::transform(frame.objects.begin(), frame.objects.end(), keys_.begin(), [&](const CclComponent& c) {
    return g_quark_from_string(record_key(source, c.label).c_str());
  });
  Writer writer{*this, frame, relations, type_of(frame.identity)};
  detections_.resize(n_detections);
  track_entries_.assign(frame.tracks.size(), 0);
  for (size_t i = 0; i < n_detections; ++i) {
    writer.add_detection(i);
  }
  if (mask != nullptr) {
    writer.add_mask(std::move(mask));
  }
  return {};
}

}  // namespace cudaccl
