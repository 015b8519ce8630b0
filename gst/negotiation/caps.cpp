// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation/caps.h"

#include "ccl/checked.h"
#include "memory/cuda_memory.h"

namespace cudaccl {

namespace {

// GStreamer has no CUDA memory for the last two.
#define CUDA_RGB_FORMATS "RGBA, BGRA, ARGB, ABGR, RGBx, BGRx"
#define RGB_FORMATS CUDA_RGB_FORMATS ", xRGB, xBGR"
#define LUMA_FORMATS "GRAY8, NV12, NV21, I420, YV12, Y42B, Y444"
// Those of which GStreamer has CUDA memory, and the others.
#define CUDA_SINK_FORMATS LUMA_FORMATS ", P010_10LE, I420_10LE, " CUDA_RGB_FORMATS ", RGB, BGR"
#define SINK_FORMATS CUDA_SINK_FORMATS ", xRGB, xBGR, NV16, NV24, Y41B, A420, GRAY16_LE, YUY2, UYVY"
#define MASK_YUV_FORMATS "NV12, I420"
#define DISTANCE_FORMATS "GRAY16_LE, GRAY8"
// 32768 is kMaxDimension, which a static caps string cannot name.
#define FIELDS(formats)            \
  ", format = (string) { " formats \
  " }, "                           \
  "width = (int) [ 1, 32768 ], height = (int) [ 1, 32768 ], framerate = (fraction) [ 0, max ]"
#define HOST_CAPS(formats) "video/x-raw" FIELDS(formats)
#define CUDA_CAPS(formats) "video/x-raw(memory:CUDAMemory)" FIELDS(formats)
#define BOTH_CAPS(host_formats, cuda_formats) CUDA_CAPS(cuda_formats) "; " HOST_CAPS(host_formats)

static_assert(ccl::kMaxDimension == 32768);

GstStaticCaps sink_caps = GST_STATIC_CAPS(BOTH_CAPS(SINK_FORMATS, CUDA_SINK_FORMATS));
GstStaticCaps rgb_caps = GST_STATIC_CAPS(BOTH_CAPS(RGB_FORMATS, CUDA_RGB_FORMATS));
GstStaticCaps label_caps = GST_STATIC_CAPS(HOST_CAPS("GRAY16_LE"));
// In this order: the exact format comes first.
GstStaticCaps distance_caps = GST_STATIC_CAPS(HOST_CAPS(DISTANCE_FORMATS));
// In this order: what carries no chroma comes first.
GstStaticCaps mask_caps =
    GST_STATIC_CAPS(HOST_CAPS("GRAY8, " MASK_YUV_FORMATS) "; " CUDA_CAPS(MASK_YUV_FORMATS));
GstStaticCaps src_caps = GST_STATIC_CAPS(BOTH_CAPS(SINK_FORMATS, CUDA_SINK_FORMATS));

/// What an output can be: caps, and the names of all formats in them.
struct OutputCaps {
  GstStaticCaps* caps;
  const char* formats;
};

OutputCaps output_caps(ccl::Output output) {
  switch (output) {
    case ccl::Output::kNone:
      break;
    case ccl::Output::kColorized:
    case ccl::Output::kOverlay:
    case ccl::Output::kBackground:
    case ccl::Output::kForeground:
      return {&rgb_caps, RGB_FORMATS};
    case ccl::Output::kLabels:
      return {&label_caps, "GRAY16_LE"};
    case ccl::Output::kDistance:
    case ccl::Output::kDistance8:
      return {&distance_caps, DISTANCE_FORMATS};
    case ccl::Output::kMask:
      return {&mask_caps, "GRAY8, " MASK_YUV_FORMATS};
  }
  return {&sink_caps, SINK_FORMATS};
}

/// The caps, without CUDA memory unless `has_cuda`. Owned by the caller.
GstCaps* usable_caps(GstStaticCaps* static_caps, bool has_cuda) {
  GstCaps* caps = gst_caps_make_writable(gst_static_caps_get(static_caps));
  gst_caps_filter_and_map_in_place(
      caps,
      [](GstCapsFeatures* features, GstStructure*, gpointer cuda) -> gboolean {
        return GPOINTER_TO_INT(cuda) || !gst_caps_features_contains(features, kCudaMemoryFeature);
      },
      GINT_TO_POINTER(has_cuda && has_cuda_memory()));
  return caps;
}

GstPadTemplate* make_template(const char* name, GstPadDirection direction, GstStaticCaps* static_caps) {
  GstCaps* caps = usable_caps(static_caps, true);
  GstPadTemplate* pad_template = gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps);
  gst_caps_unref(caps);
  return pad_template;
}

/// The caps without the fields that say how a pixel is coded; first in the memory of the caps, then in the
/// other kind of memory. Owned by the caller.
GstCaps* geometry_of(GstCaps* caps) {
  GstCaps* geometry = gst_caps_new_empty();
  for (const bool keeps_memory : {true, false}) {
    for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
      const bool is_cuda =
          gst_caps_features_contains(gst_caps_get_features(caps, i), kCudaMemoryFeature) != FALSE;
      GstStructure* structure = gst_structure_copy(gst_caps_get_structure(caps, i));
      gst_structure_remove_fields(structure, "format", "colorimetry", "chroma-site", "mastering-display-info",
                                  "content-light-level", nullptr);
      geometry = gst_caps_merge_structure_full(
          geometry, structure,
          is_cuda == keeps_memory ? gst_caps_features_new(kCudaMemoryFeature, nullptr) : nullptr);
    }
  }
  return geometry;
}

/// Those of the caps that the filter has too, in the order of the filter. Takes the reference on `caps`.
GstCaps* filtered(GstCaps* caps, GstCaps* filter) {
  GstCaps* result = gst_caps_intersect_full(filter, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(caps);
  return result;
}

/// The caps that `pad` can have. The same rule holds in both directions: with another output on the way back
/// no caps would be left. Owned by the caller.
GstCaps* possible_caps(GstPad* pad, GstPad* other_pad, GstCaps* filter, const CapsRule& rule) {
  GstCaps* peer_filter = nullptr;
  if (filter != nullptr) {
    peer_filter = transform_caps(GST_PAD_DIRECTION(pad), filter, nullptr, rule);
    if (gst_caps_is_empty(peer_filter)) {
      return peer_filter;
    }
  }
  GstCaps* peer_caps = gst_pad_peer_query_caps(other_pad, peer_filter);
  gst_clear_caps(&peer_filter);
  GstCaps* caps = transform_caps(GST_PAD_DIRECTION(other_pad), peer_caps, filter, rule);
  // What the peer takes unchanged comes first.
  GstCaps* unchanged = gst_caps_intersect_full(peer_caps, caps, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(peer_caps);
  return gst_caps_merge(unchanged, caps);
}

bool is_rgb_of_4_bytes(const GstVideoInfo& info) {
  return GST_VIDEO_INFO_IS_RGB(&info) && GST_VIDEO_INFO_COMP_PSTRIDE(&info, 0) == 4;
}

}  // namespace

GstPadTemplate* sink_template() {
  return make_template("sink", GST_PAD_SINK, &sink_caps);
}

GstPadTemplate* src_template() {
  return make_template("src", GST_PAD_SRC, &src_caps);
}

GstCaps* transform_caps(GstPadDirection direction, GstCaps* caps, GstCaps* filter, const CapsRule& rule) {
  GstCaps* outputs = usable_caps(output_caps(rule.output).caps, rule.has_cuda);
  GstCaps* inputs = usable_caps(&sink_caps, rule.has_cuda);
  const bool to_src = direction == GST_PAD_SINK;
  GstCaps* usable = gst_caps_intersect_full(caps, to_src ? inputs : outputs, GST_CAPS_INTERSECT_FIRST);
  GstCaps* wanted = rule.output == ccl::Output::kNone ? gst_caps_ref(usable) : geometry_of(usable);
  const bool prefers_own_order = to_src && rule.output == ccl::Output::kMask;
  GstCaps* result = prefers_own_order ? gst_caps_intersect_full(outputs, wanted, GST_CAPS_INTERSECT_FIRST)
                                      : gst_caps_intersect_full(wanted, to_src ? outputs : inputs,
                                                                GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(wanted);
  gst_caps_unref(usable);
  gst_caps_unref(inputs);
  gst_caps_unref(outputs);
  return filter != nullptr ? filtered(result, filter) : result;
}

GstCaps* fixate_caps(GstCaps* caps) {
  GstCaps* chosen = gst_caps_make_writable(gst_caps_truncate(caps));
  GstStructure* structure = gst_caps_get_structure(chosen, 0);
  const auto choose_fraction = [&](const char* field, gint numerator, gint denominator) {
    if (gst_structure_has_field(structure, field)) {
      gst_structure_fixate_field_nearest_fraction(structure, field, numerator, denominator);
    }
  };
  const auto choose_text = [&](const char* field, const char* text) {
    if (gst_structure_has_field(structure, field)) {
      gst_structure_fixate_field_string(structure, field, text);
    }
  };
  choose_fraction("pixel-aspect-ratio", 1, 1);
  choose_fraction("framerate", 0, 1);
  choose_text("interlace-mode", "progressive");
  choose_text("multiview-mode", "mono");
  return gst_caps_fixate(chosen);
}

void answer_caps(GstPad* pad, GstPad* other_pad, GstQuery* query, const CapsRule& rule,
                 const CapsRule& fallback) {
  GstCaps* filter = nullptr;
  gst_query_parse_caps(query, &filter);
  GstCaps* caps = possible_caps(pad, other_pad, filter, rule);
  if (gst_caps_is_empty(caps) && fallback.output != rule.output) {
    gst_caps_unref(caps);
    caps = possible_caps(pad, other_pad, filter, fallback);
  }
  gst_query_set_caps_result(query, caps);
  gst_caps_unref(caps);
}

bool is_cuda_caps(const GstCaps* caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    if (!gst_caps_features_contains(gst_caps_get_features(caps, i), kCudaMemoryFeature)) {
      return false;
    }
  }
  return true;
}

bool is_output_format(ccl::Output output, const GstVideoInfo& in, const GstVideoInfo& out) {
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&out);
  if (output == ccl::Output::kNone) {
    return format == GST_VIDEO_INFO_FORMAT(&in);
  }
  const std::string formats = std::string(", ") + output_caps(output).formats + ",";
  return formats.find(std::string(", ") + gst_video_format_to_string(format) + ",") != std::string::npos;
}

ccl::Output output_of_format(const GstVideoInfo& in, const GstVideoInfo& out) {
  if (GST_VIDEO_INFO_FORMAT(&out) == GST_VIDEO_INFO_FORMAT(&in) && !GST_VIDEO_INFO_IS_GRAY(&out)) {
    return ccl::Output::kNone;
  }
  for (const ccl::Output output : {ccl::Output::kColorized, ccl::Output::kLabels, ccl::Output::kMask}) {
    if (is_output_format(output, in, out)) {
      return output;
    }
  }
  return ccl::Output::kNone;
}

ccl::Output output_in_format(ccl::Output output, const GstVideoInfo& out) {
  const bool has_8_bits = GST_VIDEO_INFO_FORMAT(&out) == GST_VIDEO_FORMAT_GRAY8;
  return output == ccl::Output::kDistance && has_8_bits ? ccl::Output::kDistance8 : output;
}

ccl::PixelLayout pixel_layout(const GstVideoInfo& info) {
  if (!is_rgb_of_4_bytes(info)) {
    return {};
  }
  const auto place = [&info](guint component) {
    return static_cast<uint8_t>(GST_VIDEO_INFO_COMP_POFFSET(&info, component));
  };
  ccl::PixelLayout layout{
      .red = place(GST_VIDEO_COMP_R), .green = place(GST_VIDEO_COMP_G), .blue = place(GST_VIDEO_COMP_B)};
  layout.alpha = static_cast<uint8_t>(6 - layout.red - layout.green - layout.blue);
  return layout;
}

bool is_limited_range(const GstVideoInfo& info) {
  return GST_VIDEO_INFO_IS_YUV(&info) &&
         GST_VIDEO_INFO_COLORIMETRY(&info).range != GST_VIDEO_COLOR_RANGE_0_255;
}

std::string output_formats(ccl::Output output) {
  return output_caps(output).formats;
}

bool have_same_pixels(const GstVideoInfo& a, const GstVideoInfo& b) {
  return GST_VIDEO_INFO_FORMAT(&a) == GST_VIDEO_INFO_FORMAT(&b) &&
         GST_VIDEO_INFO_WIDTH(&a) == GST_VIDEO_INFO_WIDTH(&b) &&
         GST_VIDEO_INFO_HEIGHT(&a) == GST_VIDEO_INFO_HEIGHT(&b) &&
         gst_video_colorimetry_is_equal(&a.colorimetry, &b.colorimetry);
}

bool is_too_large(ccl::Output output, const GstVideoInfo& in) {
  return !ccl::checked_product<guint>(GST_VIDEO_INFO_WIDTH(&in), GST_VIDEO_INFO_HEIGHT(&in),
                                      ccl::bytes_per_pixel(output));
}

uint32_t largest_value(const GstVideoInfo& info) {
  return (1u << GST_VIDEO_INFO_COMP_DEPTH(&info, 0)) - 1;
}

uint32_t automatic_threshold(const GstVideoInfo& info) {
  if (GST_VIDEO_INFO_IS_GRAY(&info)) {
    return 1;
  }
  const uint32_t of_8_bits = is_limited_range(info) ? 126 : 128;
  return of_8_bits << (GST_VIDEO_INFO_COMP_DEPTH(&info, 0) - 8);
}

}  // namespace cudaccl
