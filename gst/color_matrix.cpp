// SPDX-License-Identifier: LGPL-2.1-or-later
#include "color_matrix.h"

#include <cmath>

#include "caps.h"

namespace cudaccl {

namespace {

constexpr double kFixedOne = 65536;

struct LumaWeights {
  double red;
  double blue;

  double green() const { return 1 - red - blue; }
};

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

int32_t fixed(double value) {
  return static_cast<int32_t>(std::lround(value * kFixedOne));
}

}  // namespace

ccl::ColorMatrix color_matrix(const GstVideoInfo& info) {
  const GstVideoColorimetry& colorimetry = GST_VIDEO_INFO_COLORIMETRY(&info);
  const LumaWeights weights =
      weights_of(GST_VIDEO_INFO_IS_RGB(&info) ? matrix_of(colorimetry.primaries) : colorimetry.matrix);
  const bool is_full = !is_limited_range(info);
  const double chroma = is_full ? 1 : 255.0 / 224;
  const double red_v = 2 * (1 - weights.red) * chroma;
  const double blue_u = 2 * (1 - weights.blue) * chroma;
  return {.black = is_full ? 0 : 16,
          .luma = fixed(is_full ? 1 : 255.0 / 219),
          .red_v = fixed(red_v),
          .green_u = fixed(-blue_u * weights.blue / weights.green()),
          .green_v = fixed(-red_v * weights.red / weights.green()),
          .blue_u = fixed(blue_u)};
}

void set_luma_weights(const GstVideoInfo& info, ccl::SourcePixels* source) {
  const LumaWeights weights = weights_of(matrix_of(GST_VIDEO_INFO_COLORIMETRY(&info).primaries));
  source->red_weight = static_cast<uint16_t>(fixed(weights.red));
  source->green_weight = static_cast<uint16_t>(fixed(weights.green()));
  source->u_scale = static_cast<uint32_t>(fixed(1 / (2 * (1 - weights.blue))));
  source->v_scale = static_cast<uint32_t>(fixed(1 / (2 * (1 - weights.red))));
}

}  // namespace cudaccl
