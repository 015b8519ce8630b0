// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where the pixels are in a buffer: strides, plane offsets, several memories, crop rectangles, and the
/// metadata of the output buffer.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr Padding kPadding{.before = 13, .row = 11};

/// A frame of `outer` with a crop rectangle at x, y.
Ref<GstBuffer> make_cropped_frame(const Image& outer, const std::string& format, uint32_t x, uint32_t y,
                                  uint32_t width, uint32_t height) {
  Ref<GstBuffer> buffer = make_padded_frame(outer, format, kPadding);
  add_crop(buffer.get(), x, y, width, height);
  return buffer;
}

}  // namespace

class Layout : public testing::TestWithParam<const char*> {
 protected:
  const std::string format = GetParam();
  const Rule rule{.threshold = 100};
};

TEST_P(Layout, PaddedRowsAndPlanes) {
  const Image image = noise(37, 21, 3);
  const Expected expected = label(image, rule);
  for (const char* output : {"mask", "labels", "overlay"}) {
    Harness h(std::string("threshold=100 output=") + output, format, 37, 21, "colorimetry=1:4:0:0");
    const Ref<GstBuffer> out = h.process(make_padded_frame(image, format, kPadding));
    const std::string name = output;
    EXPECT_EQ(h.pixels(out), name == "mask"     ? mask(expected)
                             : name == "labels" ? labels(expected)
                                                : overlay(expected, image, {}))
        << output;
  }
}

TEST_P(Layout, CropToTheNegotiatedSizeIsApplied) {
  const Image outer = noise(48, 40, 5);
  const Expected expected = label(cut(outer, 6, 4, 37, 21), rule);
  Harness h("threshold=100 output=mask", format, 37, 21);
  const Ref<GstBuffer> out = h.process(make_cropped_frame(outer, format, 6, 4, 37, 21));
  EXPECT_EQ(h.pixels(out), mask(expected));
  EXPECT_EQ(gst_buffer_get_video_crop_meta(out.get()), nullptr);
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_EQ(info.width, 37u);
  expect_records(info.records, info.n_records, expected.records);
}

TEST_P(Layout, CropToTheNegotiatedSizeInPassthrough) {
  const Image outer = noise(48, 40, 5);
  const Expected expected = label(cut(outer, 6, 4, 37, 21), rule);
  Harness h("threshold=100 output=passthrough", format, 37, 21);
  const Ref<GstBuffer> out = h.process(make_cropped_frame(outer, format, 6, 4, 37, 21));
  const GstCudaCclInfo info = components_of(out.get());
  expect_records(info.records, info.n_records, expected.records);
  // The buffer still holds the whole picture, so it must keep the rectangle.
  EXPECT_NE(gst_buffer_get_video_crop_meta(out.get()), nullptr);
}

TEST_P(Layout, CropToAnotherSizeIsLeftToDownstream) {
  const Image image = noise(48, 40, 6);
  Harness h("threshold=100 output=mask", format, 48, 40);
  const Ref<GstBuffer> out = h.process(make_cropped_frame(image, format, 6, 4, 10, 9));
  EXPECT_EQ(h.pixels(out), mask(label(image, rule)));
  const GstVideoCropMeta* crop = gst_buffer_get_video_crop_meta(out.get());
  ASSERT_NE(crop, nullptr);
  EXPECT_EQ(crop->x, 6u);
  EXPECT_EQ(crop->y, 4u);
  EXPECT_EQ(crop->width, 10u);
  EXPECT_EQ(crop->height, 9u);
}

INSTANTIATE_TEST_SUITE_P(AllSinkFormats, Layout, testing::ValuesIn(kSinkFormats),
                         [](const auto& info) { return std::string(info.param); });

TEST(Buffers, FrameInSeveralMemories) {
  const Image image = noise(40, 30, 8);
  const Ref<GstBuffer> whole = make_frame(image, "NV12");
  Ref<GstBuffer> parts(gst_buffer_new());
  const gsize size = gst_buffer_get_size(whole.get());
  for (const auto& [offset, length] : {std::pair<gsize, gsize>{0, 333}, {333, size - 333}}) {
    const std::vector<uint8_t> bytes = bytes_of(whole.get());
    GstMemory* memory = gst_allocator_alloc(nullptr, length, nullptr);
    gst_buffer_append_memory(parts.get(), memory);
    gst_buffer_fill(parts.get(), offset, &bytes[offset], length);
  }
  ASSERT_EQ(gst_buffer_n_memory(parts.get()), 2u);
  Harness h("output=mask", "NV12", 40, 30);
  EXPECT_EQ(h.pixels(h.process(std::move(parts))), mask(label(image, {.threshold = 126})));
}

TEST(Buffers, ReadOnlyInputIsNotWritten) {
  for (const char* output : {"colorized", "overlay", "labels", "mask", "passthrough"}) {
    Harness h(std::string("output=") + output, "GRAY8", 16, 16);
    const Ref<GstBuffer> in = make_frame(noise(16, 16, 2), "GRAY8");
    const std::vector<uint8_t> before = bytes_of(in.get());
    const Ref<GstBuffer> out = h.process(Ref<GstBuffer>(gst_buffer_ref(in.get())));
    EXPECT_NE(out.get(), in.get()) << output;
    EXPECT_EQ(bytes_of(in.get()), before) << output;
    EXPECT_EQ(count_component_metas(in.get()), 0) << output;
    EXPECT_EQ(count_component_metas(out.get()), 1) << output;
  }
}

/// The output has other planes than the input.
TEST(Buffers, InputsVideoMetaDoesNotReachTheOutput) {
  Harness h("output=colorized", "NV12", 20, 10);
  const Ref<GstBuffer> out = h.process(make_padded_frame(noise(20, 10, 4), "NV12", kPadding));
  gpointer state = nullptr;
  while (GstMeta* meta = gst_buffer_iterate_meta_filtered(out.get(), &state, GST_VIDEO_META_API_TYPE)) {
    EXPECT_EQ(reinterpret_cast<GstVideoMeta*>(meta)->format, GST_VIDEO_FORMAT_RGBA);
  }
}

TEST(Buffers, OutputComesFromAPoolThatReusesMemory) {
  Harness h("output=labels", "GRAY8", 64, 64);
  GstMemory* memory = nullptr;
  for (int i = 0; i < 5; ++i) {
    const Ref<GstBuffer> out = h.process(noise(64, 64, i));
    ASSERT_NE(out->pool, nullptr);
    GstMemory* now = gst_buffer_peek_memory(out.get(), 0);
    EXPECT_TRUE(memory == nullptr || memory == now);
    memory = now;
  }
}

/// videocrop only adds a crop rectangle if the next element supports it.
TEST(Buffers, VideocropLeavesCroppingToTheElement) {
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", 48, 40) +
             "\" ! videocrop left=6 top=4 right=5 bottom=15 ! cudaccl output=mask backend=" + backend() +
             " ! appsink name=out sync=false");
  const Image image = noise(48, 40, 9);
  ASSERT_EQ(p.push(make_padded_frame(image, "GRAY8", {})), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(pixels_of(gst_sample_get_buffer(sample.get()), gst_sample_get_caps(sample.get())),
            mask(label(cut(image, 6, 4, 37, 21), {})));
}

/// In passthrough downstream reads upstream's buffers, so the element offers only what downstream does.
TEST(Layout, PassthroughOffersOnlyWhatDownstreamDoes) {
  for (const char* output : {"passthrough", "colorized"}) {
    Harness h(std::string("output=") + output, "GRAY8", 30, 20);
    const Ref<GstCaps> caps(gst_pad_get_current_caps(h.get()->srcpad));
    const Ref<GstQuery> query(gst_query_new_allocation(caps.get(), FALSE));
    gst_pad_peer_query(h.get()->srcpad, query.get());
    for (const GType meta : {GST_VIDEO_META_API_TYPE, GST_VIDEO_CROP_META_API_TYPE}) {
      EXPECT_EQ(gst_query_find_allocation_meta(query.get(), meta, nullptr) != FALSE,
                std::string(output) == "colorized")
          << output << " " << g_type_name(meta);
    }
  }
}

}  // namespace cudaccl::test
