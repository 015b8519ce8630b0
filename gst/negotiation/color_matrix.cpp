// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation/color_matrix.h"

#include "ccl/color_matrix.h"
#include "negotiation/caps.h"

namespace cudaccl {

namespace {

using ccl::LumaWeights;

LumaWeights weights_of(GstVideoColorMatrix matrix) {
  LumaWeights weights{};
  if (!gst_video_color_matrix_get_Kr_Kb(matrix, &weights.red, &weights.blue)) {
    gst_video_color_matrix_get_Kr_Kb(GST_VIDEO_COLOR_MATRIX_BT709, &weights.red, &weights.blue);
  }
  return weights;
}

/// The matrix that a standard uses together with its primaries.
GstVideoColorMatrix matrix_of(GstVideoColorPrimaries primaries) {
  switch (primaries) {
    case GST_VIDEO_COLOR_PRIMARIES_BT470M:
    case GST_VIDEO_COLOR_PRIMARIES_BT470BG:
    case GST_VIDEO_COLOR_PRIMARIES_SMPTE170M:
      return GST_VIDEO_COLOR_MATRIX_BT601;
    case GST_VIDEO_COLOR_PRIMARIES_SMPTE240M:
      return GST_VIDEO_COLOR_MATRIX_SMPTE240M;
    case GST_VIDEO_COLOR_PRIMARIES_BT2020:
      return GST_VIDEO_COLOR_MATRIX_BT2020;
    default:
      return GST_VIDEO_COLOR_MATRIX_BT709;
  }
}

}  // namespace

ccl::ColorMatrix color_matrix(const GstVideoInfo& info) {
  const GstVideoColorimetry& colorimetry = GST_VIDEO_INFO_COLORIMETRY(&info);
  const LumaWeights weights =
      weights_of(GST_VIDEO_INFO_IS_RGB(&info) ? matrix_of(colorimetry.primaries) : colorimetry.matrix);
  return ccl::color_matrix(weights, is_limited_range(info));
}

void set_luma_weights(const GstVideoInfo& info, ccl::SourcePixels* source) {
  ccl::set_luma_weights(weights_of(matrix_of(GST_VIDEO_INFO_COLORIMETRY(&info).primaries)), source);
}

}  // namespace cudaccl
