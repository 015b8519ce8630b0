// SPDX-License-Identifier: LGPL-2.1-or-later
/// What travels with buffers and over the bus: component metadata, regions of interest, messages.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <span>
#include <vector>

#include "ccl/engine.h"

namespace cudaccl {

/// Registers GstCudaCclMeta and how it is copied and scaled. Once per process.
void register_component_meta();

/// True if `meta` is a GstCudaCclMeta.
bool is_component_meta(GstMeta* meta);

/// Puts the records on the buffer as a GstCudaCclMeta; those of an element upstream give way.
void attach_components(GstBuffer* buffer, const ccl::FrameResult& result, const GstVideoInfo& info);

/// The `count` largest components of the frame, the largest first (ties: smaller label), copied into a
/// vector that keeps its memory from frame to frame.
void find_largest(const ccl::FrameResult& result, size_t count, std::vector<CclComponent>* largest);

/// Adds a GstVideoRegionOfInterestMeta of type `component` for each object, with parameters label, area,
/// cx and cy; those of an element upstream give way.
void attach_regions_of_interest(GstBuffer* buffer, std::span<const CclComponent> objects);

#ifdef HAVE_GST_ANALYTICS
/// Adds a GstAnalyticsRelationMeta with an object detection of type `component` for each object.
void attach_analytics(GstBuffer* buffer, std::span<const CclComponent> objects);
#endif

/// Posts the element message `cudaccl`: timestamp, stream-time, running-time, duration, n-components,
/// overflow.
void post_frame_message(GstBaseTransform* transform, GstBuffer* buffer, const ccl::FrameResult& result);

}  // namespace cudaccl
