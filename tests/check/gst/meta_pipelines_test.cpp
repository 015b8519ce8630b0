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

/// No records are better than records with wrong coordinates. videoflip is not tested, because in
/// GStreamer 1.22 it copies all metadata unchanged.
TEST(MetaPipelines, OtherChangesOfGeometryDropTheRecords) {
  for (const char* element : {"videocrop left=4 top=2", "videobox left=-8 top=-8"}) {
    Pipeline p(launch("output=colorized", std::string(element) + " ! appsink name=out sync=false"));
    ASSERT_EQ(p.push(make_frame(rectangles(), "GRAY8")), GST_FLOW_OK);
    const Ref<GstSample> sample = p.pull();
    ASSERT_NE(sample, nullptr) << element;
    EXPECT_EQ(count_component_metas(gst_sample_get_buffer(sample.get())), 0) << element;
  }
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
  Harness h("output=mask");
  ASSERT_TRUE(h.send_caps("GRAY8", kWidth, kHeight));
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
  EXPECT_EQ(count_component_metas(buffer), 1);
  EXPECT_EQ(components_of(buffer).n_components, 1u);
  EXPECT_EQ(pixels_of(buffer, gst_sample_get_caps(sample.get())), labels(label(image, {.min_area = 2})));
}

}  // namespace cudaccl::test
