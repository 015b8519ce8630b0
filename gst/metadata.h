// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the element reports about a frame: component metadata, regions of interest, messages.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <optional>
#include <span>
#include <vector>

#include "ccl/engine.h"
#include "track_events.h"

namespace cudaccl {

/// The type of regions of interest and analytics objects.
inline constexpr const char* kObjectType = "component";

/// Registers GstCudaCclMeta, and how it is copied and scaled. Once per process.
void register_component_meta();

/// Whether `meta` is a GstCudaCclMeta.
bool is_component_meta(GstMeta* meta);

/// Attaches the records as a GstCudaCclMeta, in place of one from an element upstream, with tracks and events
/// if the frame is tracked.
void attach_components(GstBuffer* buffer, const ccl::FrameResult& result,
                       const std::optional<TrackedFrame>& tracked, const GstVideoInfo& info);

/// Copies the `count` largest components of the frame, the largest first (ties: smaller label). The vector
/// keeps its memory from frame to frame.
void find_largest(const ccl::FrameResult& result, size_t count, std::vector<CclComponent>* largest);

/// Adds a GstVideoRegionOfInterestMeta of type kObjectType for each object, with its id and parameters
/// label, area, cx and cy, in place of those from an element upstream.
void attach_regions_of_interest(GstBuffer* buffer, std::span<const CclComponent> objects);

/// Posts the element message `cudaccl`: timestamp, stream-time, running-time, duration, and kFrameCounts.
void post_frame_message(GstBaseTransform* transform, GstBuffer* buffer, const ccl::FrameResult& result);

/// Posts an element message `cudaccl-event` for each event, with its fields, and the times of the frame.
void post_event_messages(GstBaseTransform* transform, GstBuffer* buffer, const TrackedFrame& tracked);

/// Posts the element message `cudaccl-relearning`, with the times of the frame: with it the background model
/// begins to learn.
void post_relearning_message(GstBaseTransform* transform, GstBuffer* buffer);

}  // namespace cudaccl
