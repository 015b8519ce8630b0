// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/reporter.h"

#include <optional>
#include <span>
#include <utility>

#include "frame/frame.h"
#include "frame/frame_settings.h"
#include "metadata/label_map.h"
#include "metadata/metadata.h"
#include "metadata/upstream_metas.h"
#include "report/messages.h"

namespace cudaccl {

void Reporter::begin_stream(std::string source, std::string object_type) {
  source_ = std::move(source);
  object_type_ = std::move(object_type);
  n_frames_ = 0;
  track_events_.begin_stream();
  analytics_.clear();
  warned_of_detections_ = false;
  is_relearning_ = false;
}

ccl::Status Reporter::report(const LeavingFrame& frame, GstBuffer* out, GstBuffer* label_map) {
  const Properties& properties = frame.properties;
  const FrameIdentity identity{.source = source_.c_str(),
                               .number = n_frames_++,
                               .object_type = object_type_.c_str(),
                               .backend = frame.backend,
                               .time = frame.time};
  if (label_map != nullptr) {
    attach_label_map(out, identity, frame.info, properties.label_map, label_map);
  }
  track_events_.take(properties, frame.result);
  const std::optional<TrackedFrame> tracked =
      properties.track ? std::optional(track_events_.frame(frame.result)) : std::nullopt;
  const ShapeTables shapes{.has_grey = has_grey(properties),
                           .polygons = has_polygons(properties) ? &frame.objects : nullptr};
  const GstCudaCclInfo info = frame_info(identity, frame.result, tracked, shapes, frame.info);
  if (properties.metadata & kMetadataComponents) {
    attach_components(out, info);
  }
  if (has_objects(properties)) {
    move_to_whole_picture(out, frame.info, frame.objects.components);
  }
  if (properties.metadata & kMetadataRoi) {
    attach_regions_of_interest(out, identity, frame.objects.components);
  }
  CCL_RETURN_IF_ERROR(attach_analytics(frame, identity, out));
  post_messages(frame, identity, info, out);
  return {};
}

/// What is attached for GStreamer's analytics library. Tracks count from their first frame on, whether
/// anything is attached or not.
ccl::Status Reporter::attach_analytics(const LeavingFrame& frame, const FrameIdentity& identity,
                                       GstBuffer* out) {
  const Properties& properties = frame.properties;
  const std::span<const CclTrack> tracks = frame.result.tracks;
  const std::span<const CclComponent> objects = frame.objects.components;
  analytics_.count(tracks);
  if (!has_mask(properties)) {
    analytics_.clear_masks();
  }
  if ((properties.metadata & kMetadataObjects) == 0) {
    return {};
  }
  const bool has_detections = (properties.metadata & kMetadataDetections) != 0;
  if (has_detections && objects.size() > kMaxDetections && !std::exchange(warned_of_detections_, true)) {
    GST_ELEMENT_WARNING(element_, RESOURCE, NO_SPACE_LEFT,
                        ("Only the %u largest of %u objects are in the analytics metadata",
                         static_cast<guint>(kMaxDetections), static_cast<guint>(objects.size())),
                        ("max-objects is %u", properties.max_objects));
  }
  const GstVideoCropMeta* crop = is_cropped(out, frame.info) ? gst_buffer_get_video_crop_meta(out) : nullptr;
  return analytics_.attach(out,
                           {.identity = identity,
                            .objects = objects,
                            .max_objects = properties.max_objects,
                            .tracks = tracks,
                            .has_detections = has_detections,
                            .has_rotation = (properties.metadata & kMetadataOriented) != 0,
                            .labels = {.labels = has_mask(properties) ? frame.result.labels : nullptr,
                                       .width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&frame.info)),
                                       .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&frame.info))},
                            .mask_x = crop != nullptr ? static_cast<gint>(crop->x) : 0,
                            .mask_y = crop != nullptr ? static_cast<gint>(crop->y) : 0});
}

void Reporter::post_messages(const LeavingFrame& frame, const FrameIdentity& identity,
                             const GstCudaCclInfo& info, GstBuffer* out) {
  const Properties& properties = frame.properties;
  const MessageSource messages{.element = element_, .buffer = out, .frame = identity};
  if (properties.post_messages != Messages::kNone) {
    post_frame_message(messages, frame.result,
                       properties.post_messages == Messages::kRecords ? &info : nullptr);
    if (properties.track) {
      post_event_messages(messages, track_events_.frame(frame.result));
    }
  }
  const bool is_relearning = frame.result.counts.relearning != 0;
  if (is_relearning && !is_relearning_) {
    post_relearning_message(messages);
  }
  is_relearning_ = is_relearning;
}

}  // namespace cudaccl
