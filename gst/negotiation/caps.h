// SPDX-License-Identifier: LGPL-2.1-or-later
/// The formats of the two pads, and which of them go together.
#pragma once

#include <gst/video/video.h>

#include <string>

#include "ccl/config.h"

namespace cudaccl {

/// The feature of caps whose frames are in CUDA memory.
inline constexpr const char* kCudaMemoryFeature = "memory:CUDAMemory";

GstPadTemplate* sink_template();
GstPadTemplate* src_template();

/// What decides which caps of the two pads go together.
struct CapsRule {
  ccl::Output output;
  bool has_cuda;  ///< false: no CUDA memory
};

/// The caps that the other pad can have if the pad in `direction` has `caps`, less those that `filter` (may
/// be null) excludes. The geometry is the same on both pads, the format follows from the output, and any
/// memory is possible, that of `caps` first. Owned by the caller.
GstCaps* transform_caps(GstPadDirection direction, GstCaps* caps, GstCaps* filter, const CapsRule& rule);

/// Chooses among caps that the peers can have. Fields that the other pad's caps lack, such as the pixel
/// aspect ratio, get what is meant where they are missing, and not the least of what the peer takes. Takes
/// the reference on `caps`.
GstCaps* fixate_caps(GstCaps* caps);

/// Answers a CAPS query on `pad`: the caps that it can have, given what the peer of `other_pad` accepts. If
/// there are none by the rule, those by the fallback.
void answer_caps(GstPad* pad, GstPad* other_pad, GstQuery* query, const CapsRule& rule,
                 const CapsRule& fallback);

/// Whether the caps are of CUDA memory only.
bool is_cuda_caps(const GstCaps* caps);

/// Whether `output` can be written in the source pad's format. Output::kNone (passthrough) needs the sink
/// pad's.
bool is_output_format(ccl::Output output, const GstVideoInfo& in, const GstVideoInfo& out);

/// An output that can be written in the source pad's format.
ccl::Output output_of_format(const GstVideoInfo& in, const GstVideoInfo& out);

/// What the engine paints for an output in the source pad's format: distances have two.
ccl::Output output_in_format(ccl::Output output, const GstVideoInfo& out);

/// Byte positions of the channels of a 4-byte RGB format; the default layout for any other format.
ccl::PixelLayout pixel_layout(const GstVideoInfo& info);

/// Whether the values are luma in 16..235.
bool is_limited_range(const GstVideoInfo& info);

/// Whether a background model that has learnt from pictures of one kind holds for those of the other.
bool have_same_pixels(const GstVideoInfo& a, const GstVideoInfo& b);

/// The formats of the source pad for an output, and whether a frame in them has 4 GiB or more, which
/// GStreamer cannot allocate.
std::string output_formats(ccl::Output output);
bool is_too_large(ccl::Output output, const GstVideoInfo& in);

/// The largest value of luma, or of an RGB channel: 255 to 65535.
uint32_t largest_value(const GstVideoInfo& info);

/// The threshold that 0 stands for: any non-zero value of GRAY8 and GRAY16_LE, mid-grey in luma.
uint32_t automatic_threshold(const GstVideoInfo& info);

}  // namespace cudaccl
