// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the engine needs for one frame, by the properties and the caps.
#pragma once

#include <gst/video/video.h>

#include "ccl/engine.h"
#include "properties/properties.h"

namespace cudaccl {

/// The settings of a frame, with those that depend on the formats of the sink and the source pad.
ccl::Settings frame_settings(const Properties& properties, const GstVideoInfo& in, const GstVideoInfo& out);

/// The settings of the segment stage.
ccl::Segmentation frame_segmentation(const Properties& properties, const GstVideoInfo& in);

/// Whether the frame's chroma is read.
bool reads_chroma(const Properties& properties, ccl::Output output);

/// Whether the frame has grey statistics: they are delivered with the records only.
bool has_grey(const Properties& properties);

/// Whether polygons are made of the frame's components: likewise.
bool has_polygons(const Properties& properties);

/// Whether the frame's largest components are attached as regions, detections or a mask.
bool has_objects(const Properties& properties);

/// Whether a mask is made of the frame's components.
bool has_mask(const Properties& properties);

/// The buffer's timestamp as a running time, which goes on where a new segment begins; ccl::kNoTime if it has
/// none.
int64_t running_time(const GstSegment& segment, GstBuffer* buffer);

}  // namespace cudaccl
