// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstCudaCclLabelMap: the label or the id of each pixel, on the frame's buffer.
///
/// It is a GstCustomMeta, so that any language with GStreamer's bindings reads it. The values are a GstBuffer
/// of a GstBufferList: as a buffer they would cross to other processes as text, two characters for each byte.
#pragma once

#include <gst/video/video.h>

#include "metadata/frame_identity.h"
#include "properties/properties.h"

namespace cudaccl {

/// Registers GstCudaCclLabelMap, unless the application has registered it. False if it cannot be registered.
bool register_label_map_meta(GstPlugin* plugin);

/// Attaches the label map of a frame `video` to its buffer, in place of one from the same source. Takes
/// `labels`, a buffer of LabelMapPool.
void attach_label_map(GstBuffer* buffer, const FrameIdentity& frame, const GstVideoInfo& video, LabelMap kind,
                      GstBuffer* labels);

/// Whether `meta` is a GstCudaCclLabelMap.
bool is_label_map(GstMeta* meta);

/// Whether it is the map of frames of this size.
bool is_label_map_of(GstMeta* meta, guint width, guint height);

}  // namespace cudaccl
