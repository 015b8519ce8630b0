// SPDX-License-Identifier: LGPL-2.1-or-later
/// From the properties and the caps to what the engine needs for one frame.
#pragma once

#include <gst/video/video.h>

#include "ccl/engine.h"
#include "properties.h"

namespace cudaccl {

/// The settings of a frame, with those that depend on the formats of the sink and the source pad.
ccl::Settings frame_settings(const Properties& properties, const GstVideoInfo& in, const GstVideoInfo& out);

/// The settings of the segment stage.
ccl::Segmentation frame_segmentation(const Properties& properties, const GstVideoInfo& in);

/// The settings of the track stage.
ccl::Tracking frame_tracking(const Properties& properties);

/// Whether the frame's chroma is read.
bool reads_chroma(const Properties& properties, ccl::Output output);

/// The buffer's timestamp as a running time, which goes on where a new segment begins; ccl::kNoTime if it has
/// none.
int64_t running_time(const GstSegment& segment, GstBuffer* buffer);

}  // namespace cudaccl
