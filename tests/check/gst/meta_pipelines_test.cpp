// SPDX-License-Identifier: LGPL-2.1-or-later
/// GstCudaCclMeta in pipelines with other elements.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 64;
constexpr uint32_t kHeight = 48;

/// appsrc of GRAY8, cudaccl, then `rest`.
std::string launch(const std::string& properties, const std::string& rest) {
  return "appsrc name=in format=time caps=\"" + caps_text("GRAY8", kWidth, kHeight) +
         "\" ! cudaccl backend=" + backend() + " " + properties + " ! " + rest;
}

/// A rectangle of foreground with its corner at even coordinates.
Image rectangles() {
  Image image = blank(kWidth, kHeight);
  for (uint32_t y = 8; y < 20; ++y) {
    for (uint32_t x = 10; x < 30; ++x) {
      image.at(x, y) = 255;
    }
  }
  image.at(63, 47) = 255;
  return image;
}

Ref<GstBuffer> mask_of_rectangles() {
  Harness h("output=mask");
  EXPECT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
  return h.process(rectangles());
}

/// Asks the records of a buffer to follow a change. Whether they did, to a new buffer.
bool transform_meta(GstBuffer* buffer, const char* type, gpointer data) {
  GstMeta* meta = reinterpret_cast<GstMeta*>(gst_buffer_get_custom_meta(buffer, GST_CUDACCL_META_NAME));
  const Ref<GstBuffer> to(gst_buffer_new());
  const bool is_done = meta->info->transform_func(to.get(), meta, buffer, g_quark_from_string(type), data);
  EXPECT_EQ(count_component_metas(to.get()), is_done ? 1 : 0);
  return is_done;
}

class Scaled : public testing::TestWithParam<std::pair<uint32_t, uint32_t>> {};

}  // namespace

TEST(MetaPipelines, EveryBranchOfATeeHasTheRecords) {
  Pipeline p(launch("output=mask",
                    "tee name=t ! queue ! appsink name=out sync=false "
                    "t. ! queue ! identity ! appsink name=other sync=false"));
  for (int i = 0; i < 5; ++i) {
    ASSERT_EQ(p.push(make_frame(noise(kWidth, kHeight, i), "GRAY8")), GST_FLOW_OK);
  }
  p.end();
  for (const char* sink : {"out", "other"}) {
    for (int i = 0; i < 5; ++i) {
      const Ref<GstSample> sample = p.pull(sink);
      ASSERT_NE(sample, nullptr) << sink;
      const GstCudaCclInfo info = components_of(gst_sample_get_buffer(sample.get()));
      expect_records(info.records, info.n_records, label(noise(kWidth, kHeight, i), {}).records);
    }
    EXPECT_EQ(p.pull(sink), nullptr) << "end of stream";
  }
}

TEST_P(Scaled, RecordsAreInTheNewFramesPixels) {
  const auto [width, height] = GetParam();
  const double sx = static_cast<double>(width) / kWidth;
  const double sy = static_cast<double>(height) / kHeight;
  Pipeline p(
      launch("output=mask", "videoscale add-borders=false ! video/x-raw,width=" + std::to_string(width) +
                                ",height=" + std::to_string(height) + " ! appsink name=out sync=false"));
  const Image image = rectangles();
  ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(count_component_metas(gst_sample_get_buffer(sample.get())), 1);
  const GstCudaCclInfo info = components_of(gst_sample_get_buffer(sample.get()));
  const std::vector<CclComponent> before = label(image, {}).records;
  EXPECT_EQ(info.width, width);
  EXPECT_EQ(info.height, height);
  EXPECT_EQ(info.n_components, before.size());
  ASSERT_EQ(info.n_records, before.size());
  for (size_t i = 0; i < before.size(); ++i) {
    const CclComponent& was = before[i];
    const CclComponent& now = info.records[i];
    EXPECT_EQ(now.label, was.label);
    EXPECT_EQ(now.id, was.id);
    EXPECT_EQ(now.flags, was.flags | CCL_COMPONENT_SCALED);
    // Boxes grow to whole pixels, so they never lose a part of the component.
    EXPECT_EQ(now.x, std::floor(was.x * sx));
    EXPECT_EQ(now.y, std::floor(was.y * sy));
    EXPECT_EQ(now.x + now.width, std::ceil((was.x + was.width) * sx));
    EXPECT_EQ(now.y + now.height, std::ceil((was.y + was.height) * sy));
    EXPECT_EQ(now.area, std::max(1.0, std::round(was.area * sx * sy)));
    // (0, 0) is the centre of a pixel, half a pixel from the corner of the frame, and that corner does not
    // move.
    EXPECT_NEAR(now.cx, (was.cx + 0.5) * sx - 0.5, 1e-4);
    EXPECT_NEAR(now.cy, (was.cy + 0.5) * sy - 0.5, 1e-4);
    EXPECT_NEAR(now.mxx, was.mxx * sx * sx, 1e-3);
    EXPECT_NEAR(now.myy, was.myy * sy * sy, 1e-3);
    EXPECT_LE(now.x + now.width, width);
    EXPECT_LE(now.y + now.height, height);
  }
}

INSTANTIATE_TEST_SUITE_P(Sizes, Scaled,
                         testing::Values(std::pair{32u, 24u}, std::pair{128u, 144u}, std::pair{50u, 31u},
                                         std::pair{3u, 2u}),
                         [](const auto& info) {
                           return std::to_string(info.param.first) + "x" + std::to_string(info.param.second);
                         });

/// No records are better than records with wrong coordinates. tests/validate/test_meta_matrix.py asks through
/// elements.
TEST(MetaPipelines, UnknownChangesOfGeometryDropTheRecords) {
  const Ref<GstBuffer> out = mask_of_rectangles();
  EXPECT_FALSE(transform_meta(out.get(), "a-change-of-tomorrow", nullptr));
}

/// Of a scaling whose sizes alone are known, nobody knows whether it added borders, unless there is
/// no room for them.
TEST(MetaPipelines, ScalingsThatMayHaveBordersDropTheRecords) {
  struct Case {
    uint32_t width, height;
    gint par_n, par_d;
    bool is_right;
  };
  const Ref<GstBuffer> out = mask_of_rectangles();  // 4:3
  for (const Case& c : {Case{128, 96, 1, 1, true}, Case{128, 48, 1, 2, true}, Case{128, 48, 1, 1, false},
                        Case{64, 48, 2, 1, false}, Case{85, 64, 1, 1, false}, Case{87, 64, 1, 1, false},
                        Case{85, 63, 1, 1, true}, Case{64, 96, 2, 1, true}}) {
    GstVideoInfo in_info;
    GstVideoInfo out_info;
    gst_video_info_set_format(&in_info, GST_VIDEO_FORMAT_GRAY8, kWidth, kHeight);
    gst_video_info_set_format(&out_info, GST_VIDEO_FORMAT_GRAY8, c.width, c.height);
    out_info.par_n = c.par_n;
    out_info.par_d = c.par_d;
    GstVideoMetaTransform scale{&in_info, &out_info};
    EXPECT_EQ(transform_meta(out.get(), "gst-video-scale", &scale), c.is_right) << c.width << "x" << c.height;
  }
}

/// Records of another frame than the one that an element scales.
TEST(MetaPipelines, RecordsOfAnotherFrameAreDropped) {
  const Ref<GstBuffer> out = mask_of_rectangles();
  GstVideoInfo in_info;
  gst_video_info_set_format(&in_info, GST_VIDEO_FORMAT_GRAY8, kWidth * 2, kHeight * 2);
  GstVideoMetaTransform scale{&in_info, &in_info};
  EXPECT_FALSE(transform_meta(out.get(), "gst-video-scale", &scale));
}

/// Each metadata of a buffer follows on its own.
TEST(MetaPipelines, CopiesHaveTheRecordsOfEachSource) {
  const Ref<GstBuffer> out = mask_of_rectangles();
  GstCustomMeta* other = gst_buffer_add_custom_meta(out.get(), GST_CUDACCL_META_NAME);
  const GstStructure* first = structure_of(out.get());
  GstStructure* second = gst_custom_meta_get_structure(other);
  for (gint i = 0; i < gst_structure_n_fields(first); ++i) {
    const gchar* name = gst_structure_nth_field_name(first, static_cast<guint>(i));
    gst_structure_set_value(second, name, gst_structure_get_value(first, name));
  }
  gst_structure_set(second, "source", G_TYPE_STRING, "other", "level", G_TYPE_UINT, 7, nullptr);
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(out.get()));
  GstCudaCclInfo info;
  EXPECT_EQ(count_component_metas(copy.get()), 2);
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(copy.get(), "other", &info));
  EXPECT_EQ(info.level, 7U);
  gpointer state = nullptr;
  ASSERT_TRUE(gst_buffer_iterate_cudaccl_info(copy.get(), &state, &info));
  EXPECT_EQ(info.level, 0U);
}

/// Since GStreamer 1.28, a compositor places the records of each of its pads.
TEST(MetaPipelines, CompositorPlacesTheRecordsOfEachPad) {
  if (!gst_registry_check_feature_version(gst_registry_get(), "compositor", 1, 0, 0)) {
    GTEST_SKIP() << "compositor is not installed";
  }
  const std::string element = "cudaccl output=mask backend=" + backend();
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", kWidth, kHeight) +
             "\" ! tee name=t ! queue ! " + element +
             " meta-name=left ! compositor name=c sink_1::xpos=64 ! video/x-raw,width=128,height=48" +
             " ! appsink name=out sync=false t. ! queue ! " + element + " meta-name=right ! c.");
  const Image image = rectangles();
  ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
  p.end();
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  guint major = 0;
  guint minor = 0;
  guint micro = 0;
  guint nano = 0;
  gst_version(&major, &minor, &micro, &nano);
  if (major == 1 && minor < 28) {
    EXPECT_EQ(count_component_metas(buffer), 0);
    return;
  }
  std::vector<CclComponent> expected = label(image, {}).records;
  GstCudaCclInfo info;
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(buffer, "left", &info));
  expect_records(info.records, info.n_records, expected);
  ASSERT_TRUE(gst_buffer_get_cudaccl_info_by_source(buffer, "right", &info));
  for (CclComponent& record : expected) {
    record.x += kWidth;
    record.cx += kWidth;
  }
  expect_records(info.records, info.n_records, expected);
}

TEST(MetaPipelines, ChangeOfFormatKeepsTheRecords) {
  Pipeline p(
      launch("output=colorized", "videoconvert ! video/x-raw,format=I420 ! appsink name=out sync=false"));
  const Image image = rectangles();
  ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  const GstCudaCclInfo info = components_of(gst_sample_get_buffer(sample.get()));
  expect_records(info.records, info.n_records, label(image, {}).records);
}

TEST(MetaPipelines, OnlyCopiesOfWholeBuffersHaveTheRecords) {
  Harness h("output=mask", "GRAY8", kWidth, kHeight);
  const Image image = rectangles();
  Ref<GstBuffer> out = h.process(image);
  const Ref<GstBuffer> copy(gst_buffer_copy_deep(out.get()));
  const Ref<GstBuffer> part(gst_buffer_copy_region(out.get(), GST_BUFFER_COPY_ALL, 0, 64));
  out.reset();  // the copy does not share its records
  const GstCudaCclInfo info = components_of(copy.get());
  expect_records(info.records, info.n_records, label(image, {}).records);
  EXPECT_EQ(count_component_metas(part.get()), 0);
}

/// Two elements in a row: the second labels the mask of the first.
TEST(MetaPipelines, TwoElementsInARow) {
  Pipeline p(launch("output=mask min-area=2",
                    "cudaccl output=labels backend=" + backend() + " ! appsink name=out sync=false"));
  const Image image = rectangles();
  ASSERT_EQ(p.push(make_frame(image, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  GstBuffer* buffer = gst_sample_get_buffer(sample.get());
  EXPECT_EQ(count_component_metas(buffer), 2);
  EXPECT_EQ(components_of(buffer).n_components, 1u);
  EXPECT_EQ(pixels_of(buffer, gst_sample_get_caps(sample.get())), labels(label(image, {.min_area = 2})));
}

}  // namespace cudaccl::test
