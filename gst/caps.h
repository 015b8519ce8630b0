// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which formats meet on the two pads.
#pragma once

#include <gst/video/video.h>

#include "ccl/config.h"

namespace cudaccl {

GstPadTemplate* sink_template();
GstPadTemplate* src_template();

/// What the other pad can have when the pad in `direction` has `caps`: the geometry goes through, the
/// format follows from `output`, the memory may be any, that of `caps` first. CUDA memory is left out unless
/// `has_cuda`. The caller's.
GstCaps* transform_caps(GstPadDirection direction, GstCaps* caps, ccl::Output output, bool has_cuda);

/// True if `output` can be written in the source pad's format. Output::kNone (passthrough) needs the
/// sink pad's.
bool is_output_format(ccl::Output output, const GstVideoInfo& in, const GstVideoInfo& out);

/// An output that can be written in the source pad's format.
ccl::Output output_of_format(const GstVideoInfo& in, const GstVideoInfo& out);

/// Byte places of the channels of a 4-byte RGB format; the default layout for any other format.
ccl::PixelLayout pixel_layout(const GstVideoInfo& info);

/// True if the values are luma in 16..235.
bool is_limited_range(const GstVideoInfo& info);

/// The threshold that 0 stands for: any non-zero value in GRAY8, mid-grey in luma.
uint8_t automatic_threshold(const GstVideoInfo& info);

}  // namespace cudaccl
