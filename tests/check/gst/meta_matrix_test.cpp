// SPDX-License-Identifier: LGPL-2.1-or-later
/// In which places of a frame records can follow their picture, by the formats of both frames.
#include "metadata/meta_matrix.h"

#include <gtest/gtest.h>

#include <utility>

namespace cudaccl::test {

namespace {

/// Pixels that share their chroma.
struct Group {
  GstVideoFormat format;
  int32_t width, height;
  bool is_packed = false;  ///< in one plane with luma
};

constexpr Group kGroups[] = {
    {GST_VIDEO_FORMAT_I420, 2, 2},       {GST_VIDEO_FORMAT_YV12, 2, 2},
    {GST_VIDEO_FORMAT_NV12, 2, 2},       {GST_VIDEO_FORMAT_NV21, 2, 2},
    {GST_VIDEO_FORMAT_A420, 2, 2},       {GST_VIDEO_FORMAT_I420_10LE, 2, 2},
    {GST_VIDEO_FORMAT_P010_10LE, 2, 2},  {GST_VIDEO_FORMAT_Y42B, 2, 1},
    {GST_VIDEO_FORMAT_NV16, 2, 1},       {GST_VIDEO_FORMAT_I422_10LE, 2, 1},
    {GST_VIDEO_FORMAT_Y41B, 4, 1},       {GST_VIDEO_FORMAT_YUV9, 4, 4},
    {GST_VIDEO_FORMAT_YUY2, 2, 1, true}, {GST_VIDEO_FORMAT_UYVY, 2, 1, true},
    {GST_VIDEO_FORMAT_YVYU, 2, 1, true}, {GST_VIDEO_FORMAT_VYUY, 2, 1, true},
    {GST_VIDEO_FORMAT_UYVP, 2, 1, true}, {GST_VIDEO_FORMAT_IYU1, 4, 1, true},
    {GST_VIDEO_FORMAT_v210, 6, 1, true}, {GST_VIDEO_FORMAT_GRAY8, 1, 1},
    {GST_VIDEO_FORMAT_GRAY16_LE, 1, 1},  {GST_VIDEO_FORMAT_Y444, 1, 1},
    {GST_VIDEO_FORMAT_AYUV, 1, 1},       {GST_VIDEO_FORMAT_RGBA, 1, 1},
    {GST_VIDEO_FORMAT_BGR, 1, 1},
};

GstVideoInfo info_of(GstVideoFormat format) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, format, 160, 96);
  return info;
}

bool is_followed(const PixelRectangle& from, const PixelRectangle& to, const GstVideoInfo& in,
                 const GstVideoInfo& out) {
  return is_on_grid({.old_width = 160, .old_height = 96, .width = 160, .height = 96, .from = from, .to = to},
                    in, out);
}

}  // namespace

/// A compositor, and the borders of videobox and videoscale.
TEST(Grid, PutOnlyWhereAGroupBegins) {
  const GstVideoInfo rgb = info_of(GST_VIDEO_FORMAT_RGBA);
  for (const Group& group : kGroups) {
    const GstVideoInfo info = info_of(group.format);
    for (int32_t x = -13; x <= 13; ++x) {
      for (int32_t y = -4; y <= 4; ++y) {
        const bool begins = x % group.width == 0 && y % group.height == 0;
        const PixelRectangle whole{0, 0, 160, 96};
        const PixelRectangle moved{x, y, 160, 96};
        for (const auto& [in, out] : {std::pair{info, info}, std::pair{info, rgb}, std::pair{rgb, info}}) {
          ASSERT_EQ(is_followed(whole, moved, in, out), begins)
              << GST_VIDEO_INFO_NAME(&in) << " to " << GST_VIDEO_INFO_NAME(&out) << ", " << x << "," << y;
        }
      }
    }
  }
}

/// videocrop cuts planes where it says, and packed pixels where a group begins.
TEST(Grid, CutAnywhereUnlessPixelsArePacked) {
  for (const Group& group : kGroups) {
    const GstVideoInfo info = info_of(group.format);
    for (int32_t x = 0; x <= 13; ++x) {
      const bool is_exact = !group.is_packed || x % group.width == 0;
      ASSERT_EQ(is_followed({x, 3, 100, 60}, {0, 0, 100, 60}, info, info), is_exact)
          << GST_VIDEO_INFO_NAME(&info) << ", " << x;
    }
  }
}

#if GST_CHECK_VERSION(1, 28, 0)

TEST(Grid, IsLookedAtForEachMatrix) {
  const GstVideoInfo info = info_of(GST_VIDEO_FORMAT_I420);
  const GstVideoRectangle whole{0, 0, 160, 96};
  for (const gint x : {12, 13}) {
    const GstVideoRectangle moved{x, 8, 160, 96};
    GstVideoMetaTransformMatrix matrix;
    gst_video_meta_transform_matrix_init(&matrix, &info, &whole, &info, &moved);
    const std::optional<PictureMap> map = map_of_matrix(&matrix);
    EXPECT_EQ(map.has_value(), x == 12);
    EXPECT_TRUE(!map || map->to == (PixelRectangle{x, 8, 160, 96}));
  }
}

#endif

}  // namespace cudaccl::test
