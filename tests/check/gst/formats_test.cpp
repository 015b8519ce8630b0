// SPDX-License-Identifier: LGPL-2.1-or-later
/// Every sink format with every output in every source format, at sizes that are no multiple of a tile.
#include <gtest/gtest.h>

#include <tuple>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Size {
  uint32_t width, height;
};

void PrintTo(const Size& size, std::ostream* out) {
  *out << size.width << "x" << size.height;
}

/// In GRAY8 any non-zero value is foreground; the other formats are luma in 16..235 unless the caps differ.
Rule default_rule(const std::string& format) {
  return {.threshold = format == "GRAY8" ? 1u : 126u};
}

class Formats : public testing::TestWithParam<std::tuple<const char*, Size>> {
 protected:
  const std::string format = std::get<0>(GetParam());
  const Size size = std::get<1>(GetParam());
  const Image image = noise(size.width, size.height, 7);
  const Expected expected = label(image, default_rule(format));
  const Paint paint{.limited_range = format != "GRAY8"};

  /// One frame with `output`, in `src_format`.
  std::vector<uint8_t> run(const std::string& output, const std::string& src_format) {
    Harness h("output=" + output);
    h.accept("video/x-raw,format=" + src_format);
    EXPECT_TRUE(h.send_caps(format, size.width, size.height));
    const Ref<GstBuffer> out = h.process(image, format);
    const GstCudaCclInfo info = components_of(out.get());
    EXPECT_EQ(info.width, size.width);
    EXPECT_EQ(info.height, size.height);
    expect_records(info.records, info.n_records, expected.records);
    return h.pixels(out);
  }
};

}  // namespace

TEST_P(Formats, Colorized) {
  for (const char* src_format : kRgbFormats) {
    Paint reordered = paint;
    reordered.format = src_format;
    EXPECT_EQ(run("colorized", src_format), colorized(expected, reordered)) << src_format;
  }
}

TEST_P(Formats, Overlay) {
  for (const char* src_format : kRgbFormats) {
    Paint reordered = paint;
    reordered.format = src_format;
    EXPECT_EQ(run("overlay", src_format), overlay(expected, image, reordered)) << src_format;
  }
}

TEST_P(Formats, Labels) {
  EXPECT_EQ(run("labels", "GRAY16_LE"), labels(expected));
}

TEST_P(Formats, Mask) {
  EXPECT_EQ(run("mask", "GRAY8"), mask(expected));
}

TEST_P(Formats, Distance) {
  EXPECT_EQ(run("distance", "GRAY16_LE"), distance(expected, image));
  EXPECT_EQ(run("distance", "GRAY8"), distance_8(expected, image));
}

TEST_P(Formats, Passthrough) {
  EXPECT_EQ(run("passthrough", format), image.pixels);
}

INSTANTIATE_TEST_SUITE_P(AllSinkFormats, Formats,
                         testing::Combine(testing::ValuesIn(kSinkFormats),
                                          testing::Values(Size{1, 1}, Size{37, 21}, Size{641, 3},
                                                          Size{5, 130})),
                         [](const auto& info) {
                           const Size size = std::get<1>(info.param);
                           return std::string(std::get<0>(info.param)) + "_" + std::to_string(size.width) +
                                  "x" + std::to_string(size.height);
                         });

TEST(Caps, GeometryIsTheSameAndOutputDecidesTheFormat) {
  const struct {
    const char* output;
    const char* format;
  } cases[] = {{"colorized", "RGBA"},
               {"overlay", "RGBA"},
               {"labels", "GRAY16_LE"},
               {"mask", "GRAY8"},
               {"distance", "GRAY16_LE"}};
  for (const auto& [output, format] : cases) {
    Harness h(std::string("output=") + output, "NV12", 34, 12,
              "pixel-aspect-ratio=4/3,interlace-mode=progressive");
    h.process(noise(34, 12, 1), "NV12");
    GstVideoInfo info;
    ASSERT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
    EXPECT_STREQ(GST_VIDEO_INFO_NAME(&info), format);
    EXPECT_EQ(GST_VIDEO_INFO_WIDTH(&info), 34);
    EXPECT_EQ(GST_VIDEO_INFO_HEIGHT(&info), 12);
    EXPECT_EQ(GST_VIDEO_INFO_FPS_N(&info), 25);
    EXPECT_EQ(GST_VIDEO_INFO_PAR_N(&info), 4);
    EXPECT_EQ(GST_VIDEO_INFO_PAR_D(&info), 3);
  }
}

TEST(Caps, PassthroughKeepsCapsWhole) {
  Harness h("output=passthrough");
  const std::string caps = caps_text("I420", 34, 12, "colorimetry=(string)bt709,chroma-site=(string)mpeg2");
  ASSERT_TRUE(h.send_caps(caps));
  h.process(noise(34, 12, 1), "I420");
  const Ref<GstCaps> wanted(gst_caps_from_string(caps.c_str()));
  EXPECT_TRUE(gst_caps_is_equal(h.src_caps().get(), wanted.get()));
}

/// A picture of labels is not that of the caps' light.
TEST(Caps, OtherColoursHaveNoneOfTheirFields) {
  for (const char* output : {"colorized", "overlay", "mask", "labels", "distance", "passthrough"}) {
    const std::string name = output;
    Harness h(
        "output=" + name,
        caps_text(
            "I420_10LE", 34, 12,
            "colorimetry=(string)bt2100-pq,chroma-site=(string)mpeg2,content-light-level=(string)1000:400,"
            "mastering-display-info=(string)13250:34500:7500:3000:34000:16000:15635:16450:10000000:1"));
    h.process(noise(34, 12, 1), "I420_10LE");
    const Ref<GstCaps> src_caps = h.src_caps();
    const GstStructure* caps = gst_caps_get_structure(src_caps.get(), 0);
    for (const char* field : {"mastering-display-info", "content-light-level"}) {
      EXPECT_EQ(gst_structure_has_field(caps, field) != FALSE, name == "passthrough") << name << " " << field;
    }
  }
}

TEST(Caps, DownstreamChoosesTheFormat) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format=xBGR;video/x-raw,format=ARGB");
  ASSERT_TRUE(h.send_caps("GRAY8", 8, 8));
  h.process(noise(8, 8, 1));
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
  EXPECT_STREQ(GST_VIDEO_INFO_NAME(&info), "xBGR");
}

/// The caps that upstream may send.
TEST(Caps, SinkQueryHasEveryFormatAndDownstreamsGeometry) {
  Harness h("output=mask");
  h.accept("video/x-raw,format=GRAY8,width=[16,64],height=48");
  const Ref<GstPad> sink(gst_element_get_static_pad(h.element(), "sink"));
  const Ref<GstCaps> caps(gst_pad_query_caps(sink.get(), nullptr));
  for (const char* format : kSinkFormats) {
    const Ref<GstCaps> in(gst_caps_from_string(caps_text(format, 32, 48).c_str()));
    EXPECT_TRUE(gst_caps_can_intersect(caps.get(), in.get())) << format;
    const Ref<GstCaps> other(gst_caps_from_string(caps_text(format, 80, 48).c_str()));
    EXPECT_FALSE(gst_caps_can_intersect(caps.get(), other.get())) << format;
  }
}

}  // namespace cudaccl::test
