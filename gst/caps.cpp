// SPDX-License-Identifier: LGPL-2.1-or-later
#include "caps.h"

namespace cudaccl {

namespace {

#define SINK_FORMATS "GRAY8, NV12, NV21, I420, YV12, Y42B, Y444"
#define RGB_FORMATS "RGBA, BGRA, ARGB, ABGR, RGBx, BGRx, xRGB, xBGR"
// kMaxDimension in words that a static caps string takes.
#define VIDEO_CAPS(formats)                   \
  "video/x-raw, format = (string) { " formats \
  " }, "                                      \
  "width = (int) [ 1, 32768 ], height = (int) [ 1, 32768 ], framerate = (fraction) [ 0, max ]"

static_assert(ccl::kMaxDimension == 32768);

GstStaticCaps sink_caps = GST_STATIC_CAPS(VIDEO_CAPS(SINK_FORMATS));
GstStaticCaps rgb_caps = GST_STATIC_CAPS(VIDEO_CAPS(RGB_FORMATS));
GstStaticCaps labels_caps = GST_STATIC_CAPS(VIDEO_CAPS("GRAY16_LE"));
GstStaticCaps mask_caps = GST_STATIC_CAPS(VIDEO_CAPS("GRAY8"));
GstStaticCaps src_caps = GST_STATIC_CAPS(VIDEO_CAPS(RGB_FORMATS ", GRAY16_LE, " SINK_FORMATS));

GstStaticCaps* output_caps(ccl::Output output) {
  switch (output) {
    case ccl::Output::kNone:
      return &sink_caps;
    case ccl::Output::kColorized:
    case ccl::Output::kOverlay:
      return &rgb_caps;
    case ccl::Output::kLabels:
      return &labels_caps;
    case ccl::Output::kMask:
      return &mask_caps;
  }
  return &sink_caps;
}

GstPadTemplate* make_template(const char* name, GstPadDirection direction, GstStaticCaps* static_caps) {
  GstCaps* caps = gst_static_caps_get(static_caps);
  GstPadTemplate* pad_template = gst_pad_template_new(name, direction, GST_PAD_ALWAYS, caps);
  gst_caps_unref(caps);
  return pad_template;
}

/// Caps of system memory less all that says how a pixel is coded.
GstCaps* without_format(GstCaps* caps) {
  GstCaps* geometry = gst_caps_new_empty();
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    GstStructure* structure = gst_structure_copy(gst_caps_get_structure(caps, i));
    gst_structure_remove_fields(structure, "format", "colorimetry", "chroma-site", nullptr);
    geometry = gst_caps_merge_structure(geometry, structure);
  }
  return geometry;
}

}  // namespace

GstPadTemplate* sink_template() {
  return make_template("sink", GST_PAD_SINK, &sink_caps);
}

GstPadTemplate* src_template() {
  return make_template("src", GST_PAD_SRC, &src_caps);
}

GstCaps* transform_caps(GstPadDirection direction, GstCaps* caps, ccl::Output output) {
  GstCaps* outputs = gst_static_caps_get(output_caps(output));
  GstCaps* inputs = gst_static_caps_get(&sink_caps);
  const bool to_src = direction == GST_PAD_SINK;
  // Of the known pad's caps only those count that go with the output.
  GstCaps* usable = gst_caps_intersect_full(caps, to_src ? inputs : outputs, GST_CAPS_INTERSECT_FIRST);
  GstCaps* wanted = output == ccl::Output::kNone ? gst_caps_ref(usable) : without_format(usable);
  GstCaps* result = gst_caps_intersect_full(wanted, to_src ? outputs : inputs, GST_CAPS_INTERSECT_FIRST);
  gst_caps_unref(wanted);
  gst_caps_unref(usable);
  gst_caps_unref(inputs);
  gst_caps_unref(outputs);
  return result;
}

bool is_output_format(ccl::Output output, const GstVideoInfo& in, const GstVideoInfo& out) {
  const GstVideoFormat format = GST_VIDEO_INFO_FORMAT(&out);
  switch (output) {
    case ccl::Output::kNone:
      return format == GST_VIDEO_INFO_FORMAT(&in);
    case ccl::Output::kColorized:
    case ccl::Output::kOverlay:
      return GST_VIDEO_INFO_IS_RGB(&out);
    case ccl::Output::kLabels:
      return format == GST_VIDEO_FORMAT_GRAY16_LE;
    case ccl::Output::kMask:
      return format == GST_VIDEO_FORMAT_GRAY8;
  }
  return false;
}

ccl::Output output_of_format(const GstVideoInfo& in, const GstVideoInfo& out) {
  for (const ccl::Output output : {ccl::Output::kColorized, ccl::Output::kLabels, ccl::Output::kMask}) {
    if (is_output_format(output, in, out)) {
      return output;
    }
  }
  return ccl::Output::kNone;
}

ccl::PixelLayout pixel_layout(const GstVideoInfo& info) {
  if (!GST_VIDEO_INFO_IS_RGB(&info)) {
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

uint8_t automatic_threshold(const GstVideoInfo& info) {
  if (!GST_VIDEO_INFO_IS_YUV(&info)) {
    return 1;
  }
  return is_limited_range(info) ? 126 : 128;
}

}  // namespace cudaccl
