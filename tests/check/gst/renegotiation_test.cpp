// SPDX-License-Identifier: LGPL-2.1-or-later
/// New caps and new outputs in the middle of a stream.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

std::string format_of(const Harness& h) {
  GstVideoInfo info;
  EXPECT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
  return GST_VIDEO_INFO_NAME(&info);
}

std::vector<uint8_t> expected_pixels(const std::string& output, const Image& image) {
  const Expected expected = label(image, {});
  return output == "colorized"  ? colorized(expected, {})
         : output == "overlay"  ? overlay(expected, image, {})
         : output == "labels"   ? labels(expected)
         : output == "mask"     ? mask(expected)
         : output == "distance" ? distance(expected, image)
                                : image.pixels;
}

}  // namespace

TEST(Renegotiation, SizeAndFormatOfTheInput) {
  const struct {
    const char* format;
    uint32_t width, height;
  } cases[] = {{"GRAY8", 16, 16}, {"GRAY8", 130, 7}, {"NV12", 130, 7},
               {"NV12", 1, 1},    {"I420", 64, 48},  {"GRAY8", 16, 16}};
  Harness h("output=labels threshold=128");
  uint32_t seed = 0;
  for (const auto& [format, width, height] : cases) {
    ASSERT_TRUE(h.send_caps(format, width, height));
    for (int i = 0; i < 3; ++i) {
      const Image image = noise(width, height, ++seed);
      const Ref<GstBuffer> out = h.process(image, format);
      EXPECT_EQ(h.pixels(out), labels(label(image, {.threshold = 128})));
      EXPECT_EQ(components_of(out.get()).width, width);
      EXPECT_EQ(components_of(out.get()).height, height);
    }
  }
}

/// Caps of applications often have a format and a size only. The least that a peer takes would be a pixel
/// aspect ratio of 1/2147483647.
TEST(Renegotiation, WhatCapsOfTheInputLackIsAsUsual) {
  Harness h("output=colorized");
  h.accept(
      "video/x-raw,format=RGBA,pixel-aspect-ratio=[1/2147483647,2147483647/1],framerate=[0/1,60/1],"
      "interlace-mode={interleaved,progressive},multiview-mode={left,mono}");
  ASSERT_TRUE(h.send_caps("video/x-raw,format=GRAY8,width=16,height=16"));
  h.process(noise(16, 16, 1));
  GstVideoInfo info;
  ASSERT_TRUE(gst_video_info_from_caps(&info, h.src_caps().get()));
  EXPECT_EQ(GST_VIDEO_INFO_PAR_N(&info), GST_VIDEO_INFO_PAR_D(&info));
  EXPECT_EQ(GST_VIDEO_INFO_FPS_N(&info), 0);
  EXPECT_EQ(GST_VIDEO_INFO_INTERLACE_MODE(&info), GST_VIDEO_INTERLACE_MODE_PROGRESSIVE);
  EXPECT_EQ(GST_VIDEO_INFO_MULTIVIEW_MODE(&info), GST_VIDEO_MULTIVIEW_MODE_MONO);
}

/// Every output is followed by every other one, with one frame each, and no frame is lost.
TEST(Renegotiation, EveryOutputAfterEveryOther) {
  constexpr const char* kOutputs[] = {"colorized", "labels", "mask", "passthrough", "overlay", "distance"};
  Harness h("output=colorized");
  ASSERT_TRUE(h.send_caps("GRAY8", 37, 21));
  uint32_t seed = 0;
  const auto step = [&](const char* output, const char* format) {
    h.set("output", output);
    const Image image = noise(37, 21, ++seed);
    const Ref<GstBuffer> out = h.process(image);
    EXPECT_EQ(format_of(h), format);
    EXPECT_EQ(h.pixels(out), expected_pixels(output, image)) << output;
    EXPECT_EQ(count_component_metas(out.get()), 1);
  };
  const auto format = [](const std::string& output) {
    return output == "labels" || output == "distance"    ? "GRAY16_LE"
           : output == "mask" || output == "passthrough" ? "GRAY8"
                                                         : "RGBA";
  };
  for (const char* first : kOutputs) {
    for (const char* second : kOutputs) {
      step(first, format(first));
      step(second, format(second));
    }
  }
  EXPECT_EQ(h.stat("frames"), 72u);
  EXPECT_EQ(h.stat("dropped"), 0u);
}

TEST(Renegotiation, OutputChangesOnLumaInput) {
  Harness h("output=mask");
  ASSERT_TRUE(h.send_caps("NV12", 37, 21));
  const Image image = noise(37, 21, 3);
  const Expected expected = label(image, {.threshold = 126});
  EXPECT_EQ(h.pixels(h.process(image, "NV12")), mask(expected));
  h.set("output", "passthrough");
  const Ref<GstBuffer> frame = make_frame(image, "NV12");
  const Ref<GstBuffer> out = h.process(Ref<GstBuffer>(gst_buffer_copy(frame.get())));
  EXPECT_EQ(format_of(h), "NV12");
  EXPECT_EQ(bytes_of(out.get()), bytes_of(frame.get()));
  h.set("output", "labels");
  EXPECT_EQ(h.pixels(h.process(image, "NV12")), labels(expected));
}

/// The caps stay the same, but a mask needs buffers from a pool.
TEST(Renegotiation, MaskAfterPassthroughHasAPool) {
  Harness h("output=passthrough");
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  h.process(noise(16, 16, 1));
  h.set("output", "mask");
  h.process(noise(16, 16, 2));
  EXPECT_NE(h.process(noise(16, 16, 3))->pool, nullptr);
}

/// If downstream accepts only the old output, that one stays, and one warning says why.
TEST(Renegotiation, OutputThatDownstreamRefuses) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format=RGBA");
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  h.process(noise(16, 16, 1));
  std::string in_force = "colorized";
  uint32_t seed = 2;
  for (const char* refused : {"labels", "overlay", "mask", "colorized", "labels"}) {
    h.set("output", refused);
    for (int frame = 0; frame < 3; ++frame) {
      const Image image = noise(16, 16, ++seed);
      const bool is_rgb = std::string(refused) == "overlay" || std::string(refused) == "colorized";
      in_force = is_rgb ? refused : in_force;
      EXPECT_EQ(h.pixels(h.process(image)), expected_pixels(in_force, image));
      h.expect_warning(!is_rgb && frame == 0 ? Words{"downstream does not accept", refused} : Words{});
      EXPECT_EQ(text_of_property(h.element(), "output"), in_force);
    }
  }
  EXPECT_EQ(h.message(GST_MESSAGE_ERROR), nullptr);
  EXPECT_EQ(h.stat("dropped"), 0u);
}

/// New caps arrive before the next frame could take the output back.
TEST(Renegotiation, RefusedOutputBeforeNewCaps) {
  for (const char* refused : {"labels", "mask"}) {
    Harness h("output=colorized");
    h.accept("video/x-raw,format=RGBA");
    ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
    h.process(noise(16, 16, 1));
    h.set("output", refused);
    ASSERT_TRUE(h.send_caps("GRAY8", 20, 10));
    const Image image = noise(20, 10, 2);
    EXPECT_EQ(h.pixels(h.process(image)), expected_pixels("colorized", image));
    EXPECT_NE(h.message(GST_MESSAGE_WARNING), nullptr);
    EXPECT_EQ(h.message(GST_MESSAGE_ERROR), nullptr);
  }
}

TEST(Renegotiation, DownstreamRequestsAnotherFormat) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format=RGBA");
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  const Image image = noise(16, 16, 1);
  h.process(image);
  h.accept("video/x-raw,format=xRGB");
  gst_harness_push_upstream_event(h.get(), gst_event_new_reconfigure());
  EXPECT_EQ(h.pixels(h.process(image)), colorized(label(image, {}), {.format = "xRGB"}));
}

namespace {

/// Sets `output` during the n-th query of a type that the element sends downstream.
struct Meddler {
  Ref<GstElement> ccl;
  GstQueryType type;
  const char* output;
  int n = 0;  ///< 0: no more

  void meddle_with(GstPad* pad) {
    gst_pad_add_probe(pad, GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM, meddle, this, nullptr);
  }
  static GstPadProbeReturn meddle(GstPad*, GstPadProbeInfo* info, gpointer data) {
    auto* meddler = static_cast<Meddler*>(data);
    // A probe sees the query and its answer.
    if ((GST_PAD_PROBE_INFO_TYPE(info) & GST_PAD_PROBE_TYPE_PUSH) != 0 && meddler->n > 0 &&
        GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == meddler->type && --meddler->n == 0) {
      gst_util_set_object_arg(G_OBJECT(meddler->ccl.get()), "output", meddler->output);
    }
    return GST_PAD_PROBE_OK;
  }
};

}  // namespace

/// An application may set `output` at any time. Whatever caps are negotiated, buffers have their size, and
/// the next frame has the output that was set last.
TEST(Renegotiation, OutputSetDuringNegotiation) {
  constexpr const char* kOutputs[] = {"colorized", "labels", "mask", "passthrough", "overlay"};
  const Image image = noise(64, 64, 1);
  for (const char* first : kOutputs) {
    for (const char* second : kOutputs) {
      for (const char* third : kOutputs) {
        SCOPED_TRACE(std::string(first) + ", " + second + ", " + third);
        Meddler meddler{nullptr, GST_QUERY_ACCEPT_CAPS, third};  // lives as long as the pipeline
        Pipeline pipeline(
            "appsrc name=in format=time caps=video/x-raw,format=GRAY8,width=64,height=64,framerate=25/1"
            " ! cudaccl name=ccl backend=" +
            backend() + " output=" + first + " ! appsink name=out sync=false");
        meddler.ccl = pipeline.element("ccl");
        const Ref<GstPad> pad(gst_element_get_static_pad(pipeline.element("out").get(), "sink"));
        meddler.meddle_with(pad.get());
        for (int frame = 0; frame < 3; ++frame) {
          if (frame == 1) {
            meddler.n = 1;
            gst_util_set_object_arg(G_OBJECT(meddler.ccl.get()), "output", second);
          }
          ASSERT_EQ(pipeline.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
          const Ref<GstSample> sample = pipeline.pull();
          ASSERT_NE(sample, nullptr);
          GstVideoInfo info;
          ASSERT_TRUE(gst_video_info_from_caps(&info, gst_sample_get_caps(sample.get())));
          const std::vector<uint8_t> bytes = bytes_of(gst_sample_get_buffer(sample.get()));
          ASSERT_EQ(bytes.size(), GST_VIDEO_INFO_SIZE(&info));
          if (frame == 2) {
            EXPECT_EQ(bytes, expected_pixels(meddler.n > 0 ? second : third, image));
          }
        }
      }
    }
  }
}

/// The answer to a CAPS query is for one output, even if the property changes meanwhile.
TEST(Renegotiation, OutputSetDuringACapsQuery) {
  for (const char* output : {"labels", "mask", "passthrough", "overlay"}) {
    for (int n = 1; n <= 2; ++n) {
      SCOPED_TRACE(std::string(output) + ", query " + std::to_string(n));
      Meddler meddler{nullptr, GST_QUERY_CAPS, output, n};  // lives as long as the pipeline
      Pipeline pipeline("videotestsrc num-buffers=3 ! cudaccl name=ccl backend=" + backend() +
                            " ! videoconvert name=next ! appsink name=out sync=false",
                        GST_STATE_READY);
      meddler.ccl = pipeline.element("ccl");
      const Ref<GstPad> pad(gst_element_get_static_pad(pipeline.element("next").get(), "sink"));
      meddler.meddle_with(pad.get());
      gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
      for (int frame = 0; frame < 3; ++frame) {
        EXPECT_NE(pipeline.pull(), nullptr) << frame;
      }
      EXPECT_EQ(meddler.n, 0);
    }
  }
}

/// In passthrough the element accepts the formats that downstream accepts. Upstream must change its format,
/// and frames of the old format may already be on their way.
TEST(Renegotiation, PassthroughThatUpstreamMustConvertFor) {
  for (const char* between : {"", " ! queue max-size-buffers=5"}) {
    Pipeline pipeline(
        std::string("videotestsrc is-live=true ! video/x-raw,format=AYUV,width=64,height=64 ! videoconvert") +
        between + " ! cudaccl name=ccl backend=" + backend() +
        " ! video/x-raw,format={RGBA,I420} ! appsink name=out sync=false max-buffers=1 drop=true");
    for (const char* output : {"colorized", "passthrough", "colorized", "passthrough"}) {
      gst_util_set_object_arg(G_OBJECT(pipeline.element("ccl").get()), "output", output);
      std::string format;
      for (int frame = 0; frame < 20; ++frame) {
        const Ref<GstSample> sample = pipeline.pull();
        ASSERT_NE(sample, nullptr) << output << between;
        const GstStructure* caps = gst_caps_get_structure(gst_sample_get_caps(sample.get()), 0);
        format = gst_structure_get_string(caps, "format");
      }
      const Ref<GstElement> ccl = pipeline.element("ccl");
      const Ref<GstPad> sink(gst_element_get_static_pad(ccl.get(), "sink"));
      const Ref<GstCaps> sink_caps(gst_pad_get_current_caps(sink.get()));
      const char* sink_format =
          gst_structure_get_string(gst_caps_get_structure(sink_caps.get(), 0), "format");
      EXPECT_EQ(format, std::string(output) == "passthrough" ? sink_format : "RGBA");
    }
  }
}

/// Passthrough waits until upstream sends a format that downstream takes. Meanwhile the size may change, and
/// upstream may ask for a pool.
TEST(Renegotiation, PassthroughWaitsThroughAChangeOfSize) {
  Harness h("output=colorized");
  h.accept("video/x-raw,format=RGBA");
  gst_pad_add_probe(
      h.get()->srcpad, GST_PAD_PROBE_TYPE_QUERY_UPSTREAM,
      [](GstPad*, GstPadProbeInfo* info, gpointer) {
        GstQuery* query = GST_PAD_PROBE_INFO_QUERY(info);
        if (GST_QUERY_TYPE(query) != GST_QUERY_CAPS) {
          return GST_PAD_PROBE_OK;
        }
        const Ref<GstCaps> caps(gst_caps_from_string("video/x-raw,format={GRAY8,RGBA}"));
        gst_query_set_caps_result(query, caps.get());
        return GST_PAD_PROBE_HANDLED;
      },
      nullptr, nullptr);
  ASSERT_TRUE(h.send_caps("GRAY8", 16, 16));
  h.process(noise(16, 16, 1));
  h.set("output", "passthrough");
  for (const uint32_t width : {16, 24, 32}) {
    const Image image = noise(width, 16, 2);
    ASSERT_TRUE(h.send_caps("GRAY8", width, 16)) << width;
    const Ref<GstCaps> caps(gst_pad_get_current_caps(h.get()->srcpad));
    const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), TRUE));
    EXPECT_TRUE(gst_pad_peer_query(h.get()->srcpad, query.get())) << width;
    EXPECT_EQ(h.pixels(h.process(image)), colorized(label(image, {}), {})) << width;
  }
  ASSERT_TRUE(h.send_caps("RGBA", 32, 16));
  const Ref<GstBuffer> frame = make_frame(noise(32, 16, 3), "RGBA");
  EXPECT_EQ(h.pixels(h.process(Ref<GstBuffer>(gst_buffer_copy(frame.get())))), bytes_of(frame.get()));
  EXPECT_EQ(h.message(GST_MESSAGE_ERROR), nullptr);
}

/// Where no output is in force yet, nothing can wait.
TEST(Renegotiation, PassthroughFromTheStartNeedsItsFormatDownstream) {
  Harness h("output=passthrough");
  h.accept("video/x-raw,format=RGBA");
  h.send_caps("GRAY8", 16, 16);
  EXPECT_EQ(h.push(noise(16, 16, 1)), GST_FLOW_NOT_NEGOTIATED);
  EXPECT_EQ(h.pull(), nullptr);
}

/// An application changes the size in the middle of a negotiation, while frames are in flight: docs/live.md
/// says how.
TEST(Renegotiation, SizesThatChangeWithinANegotiation) {
  Pipeline pipeline(
      "videotestsrc num-buffers=40 ! videoscale "
      "! capsfilter name=filter caps-change-mode=delayed caps=video/x-raw,width=64,height=48 "
      "! cudaccl name=labels pipeline-depth=3 backend=" +
          backend() + " ! appsink name=out sync=false",
      GST_STATE_READY);
  struct Filter {
    Ref<GstElement> element;
    int width = 64;
  } filter{pipeline.element("filter")};
  const Ref<GstElement> labels = pipeline.element("labels");
  const Ref<GstPad> sink(gst_element_get_static_pad(labels.get(), "sink"));
  gst_pad_add_probe(
      sink.get(), static_cast<GstPadProbeType>(GST_PAD_PROBE_TYPE_QUERY_DOWNSTREAM | GST_PAD_PROBE_TYPE_PUSH),
      [](GstPad*, GstPadProbeInfo* info, gpointer data) {
        if (GST_QUERY_TYPE(GST_PAD_PROBE_INFO_QUERY(info)) == GST_QUERY_CAPS) {
          auto* filter = static_cast<Filter*>(data);
          filter->width = filter->width == 64 ? 96 : 64;
          const Ref<GstCaps> caps(gst_caps_new_simple("video/x-raw", "width", G_TYPE_INT, filter->width,
                                                      "height", G_TYPE_INT, 48, nullptr));
          g_object_set(filter->element.get(), "caps", caps.get(), nullptr);
        }
        return GST_PAD_PROBE_OK;
      },
      &filter, nullptr);
  gst_element_set_state(pipeline.get(), GST_STATE_PLAYING);
  int frames = 0;
  int changes = 0;
  for (uint32_t width = 0; const Ref<GstSample> sample = pipeline.pull(); ++frames) {
    const GstCudaCclInfo info = components_of(gst_sample_get_buffer(sample.get()));
    changes += info.width != width ? 1 : 0;
    width = info.width;
  }
  EXPECT_EQ(frames, 40);
  EXPECT_GE(changes, 20);
  EXPECT_EQ(pipeline.errors(), "");
}

}  // namespace cudaccl::test
