// SPDX-License-Identifier: LGPL-2.1-or-later
/// Metadata of other elements survives in every output; metadata of another cudaccl is replaced.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr const char* kTagged = "CudaCclTestTagged";
constexpr const char* kUntagged = "CudaCclTestUntagged";

void register_metas() {
  static const gchar* tags[] = {GST_META_TAG_VIDEO_STR, GST_META_TAG_VIDEO_SIZE_STR,
                                GST_META_TAG_VIDEO_ORIENTATION_STR, nullptr};
  static const gchar* none[] = {nullptr};
  static const bool once = [] {
    gst_meta_register_custom(kTagged, tags, nullptr, nullptr, nullptr);
    gst_meta_register_custom(kUntagged, none, nullptr, nullptr, nullptr);
    return true;
  }();
  static_cast<void>(once);
}

class ForeignMetas : public testing::TestWithParam<const char*> {
 protected:
  static void SetUpTestSuite() { register_metas(); }
  void SetUp() override { ASSERT_TRUE(h.send_caps("NV12", 40, 30)); }

  Ref<GstBuffer> frame() { return make_frame(noise(40, 30, 1), "NV12"); }

  Harness h{std::string("output=") + GetParam()};
};

}  // namespace

TEST_P(ForeignMetas, RegionOfInterest) {
  Ref<GstBuffer> in = frame();
  GstVideoRegionOfInterestMeta* roi =
      gst_buffer_add_video_region_of_interest_meta(in.get(), "face", 3, 4, 10, 11);
  roi->id = 42;
  gst_video_region_of_interest_meta_add_param(roi,
                                              gst_structure_new("found", "score", G_TYPE_INT, 9, nullptr));
  const Ref<GstBuffer> out = h.process(std::move(in));
  ASSERT_EQ(gst_buffer_get_n_meta(out.get(), GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE), 1u);
  roi = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 42);
  ASSERT_NE(roi, nullptr);
  EXPECT_EQ(roi->roi_type, g_quark_from_string("face"));
  EXPECT_EQ(roi->x, 3u);
  EXPECT_EQ(roi->y, 4u);
  EXPECT_EQ(roi->w, 10u);
  EXPECT_EQ(roi->h, 11u);
  EXPECT_NE(gst_video_region_of_interest_meta_get_param(roi, "found"), nullptr);
}

TEST_P(ForeignMetas, CustomMetas) {
  Ref<GstBuffer> in = frame();
  for (const char* name : {kTagged, kUntagged}) {
    GstCustomMeta* meta = gst_buffer_add_custom_meta(in.get(), name);
    gst_structure_set(gst_custom_meta_get_structure(meta), "number", G_TYPE_INT, 17, nullptr);
  }
  const Ref<GstBuffer> out = h.process(std::move(in));
  for (const char* name : {kTagged, kUntagged}) {
    GstCustomMeta* meta = gst_buffer_get_custom_meta(out.get(), name);
    ASSERT_NE(meta, nullptr) << name;
    gint number = 0;
    EXPECT_TRUE(gst_structure_get_int(gst_custom_meta_get_structure(meta), "number", &number));
    EXPECT_EQ(number, 17);
  }
}

TEST_P(ForeignMetas, ReferenceTimestamp) {
  Ref<GstBuffer> in = frame();
  const Ref<GstCaps> reference(gst_caps_new_empty_simple("timestamp/x-test"));
  gst_buffer_add_reference_timestamp_meta(in.get(), reference.get(), 123, 456);
  const Ref<GstBuffer> out = h.process(std::move(in));
  const GstReferenceTimestampMeta* meta = gst_buffer_get_reference_timestamp_meta(out.get(), reference.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->timestamp, 123u);
  EXPECT_EQ(meta->duration, 456u);
}

/// Only a buffer that shares the memory may keep the buffer that owns the memory.
TEST_P(ForeignMetas, ParentBufferStaysWithItsMemory) {
  Ref<GstBuffer> in = frame();
  const Ref<GstBuffer> parent(gst_buffer_new());
  gst_buffer_add_parent_buffer_meta(in.get(), parent.get());
  const Ref<GstBuffer> out = h.process(std::move(in));
  EXPECT_EQ(gst_buffer_get_n_meta(out.get(), GST_PARENT_BUFFER_META_API_TYPE),
            std::string(GetParam()) == "passthrough" ? 1u : 0u);
}

TEST_P(ForeignMetas, RecordsOfAnotherElementStay) {
  Harness upstream("output=passthrough threshold=255", "NV12", 40, 30);
  const Image image = noise(40, 30, 2);
  Ref<GstBuffer> between = upstream.process(image, "NV12");
  const Expected expected = label(image, {.threshold = 126});
  ASSERT_NE(components_of(between.get()).n_components, expected.records.size());
  const Ref<GstBuffer> out = h.process(std::move(between));
  EXPECT_EQ(count_component_metas(out.get()), 2);
  const GstCudaCclInfo info = components_of(out.get());
  expect_records(info.records, info.n_records, expected.records);
  GstCudaCclInfo before{};
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(out.get(), GST_OBJECT_NAME(upstream.element()), &before));
  const Expected earlier = label(image, {.threshold = 255});
  expect_records(before.records, before.n_records, earlier.records);
}

INSTANTIATE_TEST_SUITE_P(Outputs, ForeignMetas,
                         testing::Values("colorized", "overlay", "labels", "mask", "passthrough"),
                         [](const auto& info) { return std::string(info.param); });

TEST(Passthrough, KeepsTheMemoryAndTheBytes) {
  for (const bool writable : {true, false}) {
    Harness h("output=passthrough", "NV12", 40, 30);
    Ref<GstBuffer> in = make_frame(noise(40, 30, 3), "NV12");
    const std::vector<uint8_t> bytes = bytes_of(in.get());
    const GstMemory* memory = gst_buffer_peek_memory(in.get(), 0);
    const Ref<GstBuffer> other_owner(writable ? nullptr : gst_buffer_ref(in.get()));
    const Ref<GstBuffer> out = h.process(std::move(in));
    ASSERT_EQ(gst_buffer_n_memory(out.get()), 1u);
    EXPECT_EQ(gst_buffer_peek_memory(out.get(), 0), memory);
    EXPECT_EQ(bytes_of(out.get()), bytes);
    EXPECT_EQ(count_component_metas(out.get()), 1);
  }
}

TEST(Passthrough, KeepsTheVideoMeta) {
  Harness h("output=passthrough", "NV12", 40, 30);
  const Ref<GstBuffer> out = h.process(make_padded_frame(noise(40, 30, 3), "NV12", {.before = 8, .row = 24}));
  const GstVideoMeta* meta = gst_buffer_get_video_meta(out.get());
  ASSERT_NE(meta, nullptr);
  EXPECT_EQ(meta->stride[0], 64);
  EXPECT_EQ(meta->offset[0], 8u);
  EXPECT_EQ(h.pixels(out), noise(40, 30, 3).pixels);
}

}  // namespace cudaccl::test
