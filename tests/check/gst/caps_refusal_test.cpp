// SPDX-License-Identifier: LGPL-2.1-or-later
/// Caps that the element refuses at negotiation.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Case {
  const char* name;
  const char* caps;
};

void PrintTo(const Case& c, std::ostream* out) {
  *out << c.caps;
}

class RefusedCaps : public testing::TestWithParam<Case> {};

}  // namespace

TEST_P(RefusedCaps, NoFrameAndNoCrash) {
  Harness h("output=mask");
  const Ref<GstCaps> caps(gst_caps_from_string(GetParam().caps));
  ASSERT_NE(caps, nullptr);
  const Ref<GstPad> sink(gst_element_get_static_pad(h.element(), "sink"));
  EXPECT_FALSE(gst_pad_query_accept_caps(sink.get(), caps.get()));
  EXPECT_FALSE(h.send_caps(GetParam().caps));
  {
    const LogCapture quiet;  // GStreamer warns about data before a segment
    EXPECT_EQ(h.push(Ref<GstBuffer>(gst_buffer_new_allocate(nullptr, 4096, nullptr))),
              GST_FLOW_NOT_NEGOTIATED);
  }
  EXPECT_EQ(h.pull(), nullptr);
  // The element accepts good caps after bad ones.
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  EXPECT_EQ(h.pixels(h.process(noise(16, 16, 1))), mask(label(noise(16, 16, 1), {})));
}

INSTANTIATE_TEST_SUITE_P(
    All, RefusedCaps,
    testing::Values(
        Case{"RgbOf16Bits", "video/x-raw,format=RGB16,width=16,height=16,framerate=25/1"},
        Case{"RgbOf10Bits", "video/x-raw,format=RGB10A2_LE,width=16,height=16,framerate=25/1"},
        Case{"SixteenBit", "video/x-raw,format=GRAY16_BE,width=16,height=16,framerate=25/1"},
        Case{"TenBit", "video/x-raw,format=P010_10BE,width=16,height=16,framerate=25/1"},
        Case{"Packed", "video/x-raw,format=v210,width=16,height=16,framerate=25/1"},
        Case{"UnknownFormat", "video/x-raw,format=NOSUCH,width=16,height=16,framerate=25/1"},
        Case{"NoWidth", "video/x-raw,format=GRAY8,width=0,height=16,framerate=25/1"},
        Case{"NoHeight", "video/x-raw,format=GRAY8,width=16,height=0,framerate=25/1"},
        Case{"NegativeWidth", "video/x-raw,format=GRAY8,width=-16,height=16,framerate=25/1"},
        Case{"TooWide", "video/x-raw,format=GRAY8,width=32769,height=16,framerate=25/1"},
        Case{"TooHigh", "video/x-raw,format=GRAY8,width=16,height=32769,framerate=25/1"},
        Case{"DmaBuf", "video/x-raw(memory:DMABuf),format=NV12,width=16,height=16,framerate=25/1"},
        Case{"GlMemory", "video/x-raw(memory:GLMemory),format=NV12,width=16,height=16,framerate=25/1"},
        Case{"Fields",
             "video/x-raw(format:Interlaced),format=NV12,width=16,height=16,framerate=25/1,"
             "interlace-mode=alternate"},
        Case{"Encoded", "image/jpeg,width=16,height=16,framerate=25/1"},
        Case{"Audio", "audio/x-raw,format=S16LE,rate=48000,channels=1"}),
    [](const auto& info) { return std::string(info.param.name); });

TEST(Caps, SeparateViewsAreRefusedWithAnElementError) {
  Harness h("output=mask");
  EXPECT_FALSE(h.send_caps("GRAY8", 16, 16, "multiview-mode=separated,views=(int)2"));
  const Ref<GstMessage> error = h.message(GST_MESSAGE_ERROR);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(text_of(error.get()).find("separate views"), std::string::npos) << text_of(error.get());
}

/// Some sources forget the caps feature of fields.
TEST(Caps, FieldsWithoutTheirFeatureAreRefusedWithAnElementError) {
  Harness h("output=mask");
  EXPECT_FALSE(h.send_caps("GRAY8", 16, 16, "interlace-mode=alternate"));
  const Ref<GstMessage> error = h.message(GST_MESSAGE_ERROR);
  ASSERT_NE(error, nullptr);
  for (const char* text : {"interlace-mode=alternate", "format:Interlaced", "deinterlace"}) {
    EXPECT_NE(text_of(error.get()).find(text), std::string::npos) << text_of(error.get());
  }
}

TEST(Caps, FramesOf4GiBAreRefusedWithAnElementError) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format=BGRA");
  EXPECT_FALSE(h.send_caps("GRAY8", 32768, 32768));
  const Ref<GstMessage> error = h.message(GST_MESSAGE_ERROR);
  ASSERT_NE(error, nullptr);
  EXPECT_NE(text_of(error.get()).find("a BGRA frame of 4 GiB or more"), std::string::npos)
      << text_of(error.get());
}

TEST(Caps, LongestRowsAndColumnsWork) {
  for (const auto& [width, height] : {std::pair{32768u, 1u}, std::pair{1u, 32768u}}) {
    Harness h("output=mask", "GRAY8", width, height);
    Image image = blank(width, height);
    image.pixels.front() = image.pixels.back() = 9;
    const Ref<GstBuffer> out = h.process(image);
    EXPECT_EQ(h.pixels(out), mask(label(image, {})));
    EXPECT_EQ(components_of(out.get()).n_components, 2u);
  }
}

TEST(Caps, NoDownstreamFormatInCommon) {
  Harness h("output=labels");
  h.accept("video/x-raw,format=RGBA");
  const Ref<GstPad> sink(gst_element_get_static_pad(h.element(), "sink"));
  const Ref<GstCaps> possible(gst_pad_query_caps(sink.get(), nullptr));
  EXPECT_TRUE(gst_caps_is_empty(possible.get())) << "no caps are possible";
  const LogCapture quiet;  // GStreamer warns about data before a segment
  EXPECT_FALSE(h.send_caps("GRAY8", 16, 16));
  EXPECT_EQ(h.push(noise(16, 16, 1)), GST_FLOW_NOT_NEGOTIATED);
}

TEST(Caps, BuffersBeforeCaps) {
  const LogCapture quiet;  // GStreamer warns about data before a segment
  Harness h("output=labels");
  EXPECT_EQ(h.push(noise(16, 16, 1)), GST_FLOW_NOT_NEGOTIATED);
}

/// Ranges of downstream are fixed to the geometry of the input.
TEST(Caps, DownstreamRangesAreFixed) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format={RGBA,BGRA},width=[1,max],height=[1,max],framerate=[0/1,max]");
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  h.process(noise(16, 16, 1));
  EXPECT_TRUE(gst_caps_is_fixed(h.src_caps().get()));
}

/// A pipeline whose negotiation fails ends with an error on the bus.
TEST(Caps, PipelineWithNothingInCommonEndsWithAnError) {
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", 16, 16) +
                 "\" ! cudaccl name=ccl backend=" + backend() +
                 " ! video/x-raw,format=RGBA ! appsink name=out sync=false",
             GST_STATE_READY);
  gst_util_set_object_arg(G_OBJECT(p.element("ccl").get()), "output", "labels");
  gst_element_set_state(p.get(), GST_STATE_PLAYING);
  p.push(make_frame(noise(16, 16, 1), "GRAY8"));
  const Ref<GstBus> bus(gst_element_get_bus(p.get()));
  const Ref<GstMessage> error(gst_bus_timed_pop_filtered(bus.get(), 30 * GST_SECOND, GST_MESSAGE_ERROR));
  EXPECT_NE(error, nullptr);
}

}  // namespace cudaccl::test
