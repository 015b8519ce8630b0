// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which metadata of the input the output gets.
///
/// A cropped buffer (see is_cropped()) holds a picture of which the frame is a part. Places are those of the
/// whole picture, because elements that only add the rectangle leave them as they are. The size in a
/// GstCudaCclMeta says which frame it means.
#pragma once

#include <gst/video/video.h>

#include <span>

#include "ccl/component.h"

namespace cudaccl {

/// Whether `to`, the output, gets a copy of `meta` of the input `from`, of which this element reads the frame
/// `info`. The geometry does not change, so what describes it stays true. Of a cropped input, the function
/// adds to `to` what the metadata becomes in the frame; nothing if it lies outside, or if GStreamer cannot
/// move it.
bool is_passed_on(GstBuffer* to, GstMeta* meta, GstBuffer* from, const GstVideoInfo& info);

/// Moves the boxes and centroids of components of the frame `info` to where they are in the whole picture.
/// Does nothing if the buffer holds no more than the frame.
void move_to_whole_picture(GstBuffer* buffer, const GstVideoInfo& info, std::span<CclComponent> components);

}  // namespace cudaccl
