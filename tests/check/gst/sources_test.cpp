// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sink formats that are no plane of 8-bit luma, against the same frame in GRAY8, and colours of the source
/// in the outputs that show it.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr const char* kFormats[] = {"GRAY16_LE", "P010_10LE", "I420_10LE", "YUY2", "UYVY", "NV16", "NV24",
                                    "Y41B",      "A420",      "RGB",       "BGR",  "RGBA", "BGRA", "ARGB",
                                    "ABGR",      "RGBx",      "BGRx",      "xRGB", "xBGR"};

struct Frame {
  Ref<GstBuffer> buffer;
  Image luma;                    ///< its 8 upper bits
  std::vector<uint32_t> values;  ///< with all bits
};

/// Blobs of random bytes, and the luma by the definition of the format.
Frame make_random_frame(const char* format, uint32_t width, uint32_t height, uint32_t seed) {
  GstVideoInfo info;
  gst_video_info_set_format(&info, gst_video_format_from_string(format), width, height);
  Frame frame{Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, GST_VIDEO_INFO_SIZE(&info), nullptr)),
              blank(width, height), std::vector<uint32_t>(size_t{width} * height)};
  std::minstd_rand random(seed);
  std::vector<uint8_t> bytes(GST_VIDEO_INFO_SIZE(&info));
  for (uint8_t& byte : bytes) {
    byte = static_cast<uint8_t>(random() >> 9);
  }
  gst_buffer_fill(frame.buffer.get(), 0, bytes.data(), bytes.size());
  const auto value = [&](guint component, uint32_t x, uint32_t y) {
    const size_t at = GST_VIDEO_INFO_COMP_OFFSET(&info, component) +
                      size_t{y} * static_cast<size_t>(GST_VIDEO_INFO_COMP_STRIDE(&info, component)) +
                      size_t{x} * static_cast<size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, component));
    return GST_VIDEO_INFO_COMP_DEPTH(&info, 0) == 8 ? uint32_t{bytes[at]} : bytes[at] + 256u * bytes[at + 1];
  };
  const guint depth = GST_VIDEO_INFO_COMP_DEPTH(&info, 0);
  for (uint32_t y = 0; y < height; ++y) {
    for (uint32_t x = 0; x < width; ++x) {
      uint32_t& all = frame.values[size_t{y} * width + x];
      if (GST_VIDEO_INFO_IS_RGB(&info)) {
        // BT.709 in 1/65536.
        all = (13933 * value(0, x, y) + 46871 * value(1, x, y) + 4732 * value(2, x, y) + 32768) >> 16;
      } else if (depth == 10) {
        all = std::string(format) == "P010_10LE" ? value(0, x, y) >> 6 : value(0, x, y) & 1023;
      } else {
        all = value(0, x, y);
      }
      frame.luma.at(x, y) = static_cast<uint8_t>(all >> (depth - 8));
    }
  }
  return frame;
}

class Sources : public testing::TestWithParam<const char*> {
 protected:
  const char* format = GetParam();
  const bool is_wide = gst_video_format_get_info(gst_video_format_from_string(format))->depth[0] > 8;
};

Ref<GstBuffer> copy_of(const Frame& frame) {
  return Ref<GstBuffer>(gst_buffer_copy_deep(frame.buffer.get()));
}

}  // namespace

TEST_P(Sources, EveryRuleIsThatOfTheLuma) {
  const std::string other = backend() == "cpu" ? "sauf" : "union-find";
  for (const auto& [width, height] : {std::pair<uint32_t, uint32_t>{1, 1}, {37, 21}, {64, 48}, {131, 3}}) {
    const Frame frame = make_random_frame(format, width, height, 5);
    for (const std::string& rule :
         {std::string("foreground=otsu"), std::string("foreground=local local-radius=3"),
          std::string("foreground=values"), std::string("foreground=otsu open-radius=1 algorithm=dlp"),
          "foreground=values algorithm=" + other}) {
      Harness gray("output=labels " + rule, "GRAY8", width, height);
      Harness h("output=labels " + rule, format, width, height);
      const std::vector<uint8_t> expected = gray.pixels(gray.process(frame.luma));
      EXPECT_EQ(h.pixels(h.process(copy_of(frame))), expected) << rule << " " << width << "x" << height;
    }
  }
}

/// The luma of pure red, by the standard that the primaries belong to: Kr of BT.709, BT.601, SMPTE 240M and
/// BT.2020.
TEST(Rgb, LumaIsThatOfThePrimaries) {
  constexpr struct {
    const char* colorimetry;
    uint32_t luma;
  } kStandards[] = {{"1:1:5:1", 54}, {"1:1:16:4", 76}, {"1:1:13:5", 54}, {"1:1:16:7", 67}};
  for (const auto& [colorimetry, luma] : kStandards) {
    for (const uint32_t threshold : {luma, luma + 1}) {
      Harness h("output=mask threshold=" + std::to_string(threshold), "RGB", 1, 1,
                std::string("colorimetry=") + colorimetry);
      Ref<GstBuffer> red(gst_buffer_new_allocate(nullptr, 4, nullptr));
      gst_buffer_memset(red.get(), 0, 0, 4);
      gst_buffer_memset(red.get(), 0, 255, 1);
      const Ref<GstBuffer> out = h.process(std::move(red));
      EXPECT_EQ(components_of(out.get()).n_records, threshold == luma ? 1u : 0u) << colorimetry;
    }
  }
}

TEST_P(Sources, ThresholdIsInTheUnitsOfTheFormat) {
  const Frame frame = make_random_frame(format, 45, 33, 6);
  const uint32_t largest = *std::max_element(frame.values.begin(), frame.values.end());
  for (const uint32_t threshold : {largest / 3, largest / 2 + 1, largest}) {
    Image bits = blank(45, 33);
    std::transform(frame.values.begin(), frame.values.end(), bits.pixels.begin(),
                   [&](uint32_t value) { return value >= threshold ? 255 : 0; });
    Harness h("output=labels threshold=" + std::to_string(threshold), format, 45, 33);
    EXPECT_EQ(h.pixels(h.process(copy_of(frame))), labels(label(bits, {}))) << threshold;
    h.set("invert", "true");
    for (uint8_t& bit : bits.pixels) {
      bit = 255 - bit;
    }
    EXPECT_EQ(h.pixels(h.process(copy_of(frame))), labels(label(bits, {}))) << threshold << " inverted";
    EXPECT_EQ(h.message(GST_MESSAGE_WARNING), nullptr);
  }
}

/// What no pixel can reach is refused, and the stream goes on with the old value.
TEST_P(Sources, LargeThresholdIsRefused) {
  if (std::string(format) == "GRAY16_LE") {
    Harness h("output=labels threshold=65535", format, 8, 8);
    h.process(copy_of(make_random_frame(format, 8, 8, 1)));
    EXPECT_EQ(h.message(GST_MESSAGE_WARNING), nullptr);
    return;
  }
  Harness h("output=labels threshold=77", format, 8, 8);
  for (const char* property : {"threshold", "threshold-low"}) {
    h.process(copy_of(make_random_frame(format, 8, 8, 1)));
    h.set(property, is_wide ? "1024" : "256");
    h.process(copy_of(make_random_frame(format, 8, 8, 1)));
    const Ref<GstMessage> warning = h.message(GST_MESSAGE_WARNING);
    ASSERT_NE(warning, nullptr) << property;
    EXPECT_NE(text_of(warning.get()).find(is_wide ? "1023" : "255"), std::string::npos)
        << text_of(warning.get());
    EXPECT_EQ(text_of_property(h.element(), property), std::string(property) == "threshold" ? "77" : "0");
    h.process(copy_of(make_random_frame(format, 8, 8, 1)));
    EXPECT_EQ(h.message(GST_MESSAGE_WARNING), nullptr) << "one warning";
  }
}

TEST_P(Sources, Passthrough) {
  const Frame frame = make_random_frame(format, 20, 10, 7);
  Harness h("output=passthrough", format, 20, 10);
  EXPECT_EQ(bytes_of(h.process(copy_of(frame)).get()), bytes_of(frame.buffer.get()));
}

INSTANTIATE_TEST_SUITE_P(AllFormats, Sources, testing::ValuesIn(kFormats),
                         [](const auto& info) { return std::string(info.param); });

/// Luma and neutral chroma, in the range of the caps.
TEST(MaskForEncoders, Nv12AndI420) {
  const Image image = noise(37, 21, 8);
  const std::vector<uint8_t> gray = mask(label(image, {.threshold = 128}));
  for (const char* format : {"NV12", "I420"}) {
    for (const bool is_full : {false, true}) {
      Harness h("output=mask threshold=128");
      h.accept(std::string("video/x-raw,format=") + format + (is_full ? ",colorimetry=1:4:0:0" : ""));
      ASSERT_TRUE(h.send_caps("GRAY8", image.width, image.height));
      const Ref<GstBuffer> out = h.process(image);
      std::vector<uint8_t> luma = gray;
      for (uint8_t& value : luma) {
        value = is_full ? value : value != 0 ? 235 : 16;
      }
      EXPECT_EQ(h.pixels(out), luma) << format << is_full;
      GstVideoInfo info;
      GstVideoFrame mapped;
      ASSERT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
      ASSERT_TRUE(gst_video_frame_map(&mapped, &info, out.get(), GST_MAP_READ));
      for (const guint component : {1u, 2u}) {
        for (gint y = 0; y < GST_VIDEO_FRAME_COMP_HEIGHT(&mapped, component); ++y) {
          for (gint x = 0; x < GST_VIDEO_FRAME_COMP_WIDTH(&mapped, component); ++x) {
            const auto* values = static_cast<const uint8_t*>(GST_VIDEO_FRAME_COMP_DATA(&mapped, component));
            ASSERT_EQ(values[y * GST_VIDEO_FRAME_COMP_STRIDE(&mapped, component) +
                             x * GST_VIDEO_FRAME_COMP_PSTRIDE(&mapped, component)],
                      128);
          }
        }
      }
      gst_video_frame_unmap(&mapped);
    }
  }
}

/// GRAY8 comes first where downstream accepts all of them.
TEST(MaskForEncoders, Gray8IsPreferred) {
  Harness h("output=mask", "NV12", 8, 8);
  h.process(blank(8, 8), "NV12");
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
  EXPECT_STREQ(GST_VIDEO_INFO_NAME(&info), "GRAY8");
}

/// RGB is shown as it is, and only where there is foreground.
TEST(ForegroundOutput, ShowsTheInput) {
  const Frame frame = make_random_frame("RGBx", 45, 33, 9);
  const std::vector<uint8_t> bytes = bytes_of(frame.buffer.get());
  Harness h("output=foreground threshold=100 background-color=0x11223344");
  h.accept("video/x-raw,format=RGBA");
  ASSERT_TRUE(h.send_caps("RGBx", 45, 33));
  const std::vector<uint8_t> pixels = h.pixels(h.process(copy_of(frame)));
  ASSERT_EQ(pixels.size(), bytes.size());
  for (size_t i = 0; i < frame.values.size(); ++i) {
    const std::vector<uint8_t> expected =
        frame.values[i] >= 100 ? std::vector<uint8_t>{bytes[4 * i], bytes[4 * i + 1], bytes[4 * i + 2], 255}
                               : std::vector<uint8_t>{0x22, 0x33, 0x44, 0x11};
    ASSERT_EQ(std::vector<uint8_t>(&pixels[4 * i], &pixels[4 * i] + 4), expected) << i;
  }
}

/// With no component's colour over it, the overlay is the source in RGB.
TEST(OverlayOutput, HasTheColoursOfTheSource) {
  const struct {
    const char* colorimetry;
    double kr, kb;
    bool is_full;
  } cases[] = {
      {"bt601", 0.299, 0.114, false}, {"bt709", 0.2126, 0.0722, false}, {"1:4:0:0", 0.299, 0.114, true}};
  for (const auto& c : cases) {
    for (const char* format : {"NV12", "Y444", "YUY2"}) {
      const Frame frame = make_random_frame(format, 32, 24, 10);
      Harness h("output=overlay overlay-alpha=0 threshold=255", format, 32, 24,
                std::string("colorimetry=") + c.colorimetry);
      const std::vector<uint8_t> pixels = h.pixels(h.process(copy_of(frame)));
      GstVideoInfo info;
      gst_video_info_set_format(&info, gst_video_format_from_string(format), 32, 24);
      const std::vector<uint8_t> bytes = bytes_of(frame.buffer.get());
      for (uint32_t i = 0; i < 32 * 24; ++i) {
        const auto value = [&](guint component) -> double {
          const uint32_t x = (i % 32) >> GST_VIDEO_FORMAT_INFO_W_SUB(info.finfo, component);
          const uint32_t y = (i / 32) >> GST_VIDEO_FORMAT_INFO_H_SUB(info.finfo, component);
          return bytes[GST_VIDEO_INFO_COMP_OFFSET(&info, component) +
                       y * static_cast<size_t>(GST_VIDEO_INFO_COMP_STRIDE(&info, component)) +
                       x * static_cast<size_t>(GST_VIDEO_INFO_COMP_PSTRIDE(&info, component))];
        };
        const double luma = c.is_full ? value(0) : (value(0) - 16) * 255 / 219;
        const double u = (value(1) - 128) * (c.is_full ? 1 : 255.0 / 224);
        const double v = (value(2) - 128) * (c.is_full ? 1 : 255.0 / 224);
        const double red = luma + 2 * (1 - c.kr) * v;
        const double blue = luma + 2 * (1 - c.kb) * u;
        const double green = (luma - c.kr * red - c.kb * blue) / (1 - c.kr - c.kb);
        const double channels[] = {red, green, blue};
        for (size_t channel = 0; channel < 3; ++channel) {
          ASSERT_NEAR(pixels[4 * i + channel], std::clamp(channels[channel], 0.0, 255.0), 0.51)
              << format << " " << c.colorimetry << " pixel " << i << " channel " << channel;
        }
      }
    }
  }
}

}  // namespace cudaccl::test
