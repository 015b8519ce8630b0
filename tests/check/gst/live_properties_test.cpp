// SPDX-License-Identifier: LGPL-2.1-or-later
/// Properties that change between two frames of a running stream.
#include <gtest/gtest.h>

#include "harness.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 45;
constexpr uint32_t kHeight = 33;

class Live : public testing::Test {
 protected:
  void start(const std::string& properties) {
    h = std::make_unique<Harness>(properties);
    ASSERT_TRUE(h->send_caps("GRAY8", kWidth, kHeight));
    h->process(image);
  }

  Ref<GstBuffer> after(const char* property, const char* value) {
    h->set(property, value);
    return h->process(image);
  }

  const Image image = noise(kWidth, kHeight, 21);
  std::unique_ptr<Harness> h;
};

}  // namespace

TEST_F(Live, RuleAndFilter) {
  start("output=labels threshold=128");
  Rule rule{.threshold = 128};
  const auto expect = [&](const char* property, const char* value) {
    const Ref<GstBuffer> out = after(property, value);
    const Expected expected = label(image, rule);
    EXPECT_EQ(h->pixels(out), labels(expected)) << property << "=" << value;
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected.records);
  };
  rule.connectivity = 4;
  expect("connectivity", "4-way");
  rule.threshold = 200;
  expect("threshold", "200");
  rule.invert = true;
  expect("invert", "true");
  rule.min_area = 3;
  expect("min-area", "3");
  rule.max_area = 6;
  expect("max-area", "6");
  rule.values = true;
  expect("foreground", "values");
  rule.connectivity = 8;
  expect("connectivity", "8-way");
}

TEST_F(Live, Colors) {
  start("output=colorized threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  EXPECT_EQ(h->pixels(after("palette", "glasbey")), colorized(expected, {.palette = 1}));
  EXPECT_EQ(h->pixels(after("color-seed", "300")), colorized(expected, {.palette = 1, .seed = 300}));
  EXPECT_EQ(h->pixels(after("background-color", "0x80112233")),
            colorized(expected, {.palette = 1, .seed = 300, .background = 0x80112233}));
  const std::vector<uint8_t> without_boxes = h->pixels(h->process(image));
  EXPECT_NE(h->pixels(after("draw-boxes", "true")), without_boxes);
  EXPECT_EQ(h->pixels(after("draw-boxes", "false")), without_boxes);
  after("output", "overlay");
  EXPECT_EQ(h->pixels(after("overlay-alpha", "0.2")),
            overlay(expected, image, {.palette = 1, .seed = 300, .alpha = 51}));
}

TEST_F(Live, Features) {
  start("output=passthrough threshold=128");
  const std::vector<CclComponent> all = label(image, {.threshold = 128}).records;
  for (const char* features : {"moments", "perimeter", "euler", "moments+euler", "0"}) {
    const std::string names = features;
    std::vector<CclComponent> expected = all;
    for (CclComponent& c : expected) {
      if (names.find("moments") == std::string::npos) {
        c.mxx = c.mxy = c.myy = 0;
      }
      c.perimeter = names.find("perimeter") == std::string::npos ? 0 : c.perimeter;
      c.euler = names.find("euler") == std::string::npos ? 0 : c.euler;
    }
    SCOPED_TRACE(features);
    const Ref<GstBuffer> out = after("features", features);
    const GstCudaCclInfo info = components_of(out.get());
    expect_records(info.records, info.n_records, expected);
  }
}

TEST_F(Live, Metadata) {
  start("output=mask");
  const auto count_rois = [](GstBuffer* buffer) {
    return gst_buffer_get_n_meta(buffer, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE);
  };
  Ref<GstBuffer> out = after("metadata", "roi");
  EXPECT_EQ(count_component_metas(out.get()), 0);
  EXPECT_GT(count_rois(out.get()), 1u);
  out = after("max-objects", "1");
  EXPECT_EQ(count_rois(out.get()), 1u);
  out = after("metadata", "components+roi");
  EXPECT_EQ(count_component_metas(out.get()), 1);
  EXPECT_EQ(count_rois(out.get()), 1u);
  out = after("metadata", "0");
  EXPECT_EQ(count_component_metas(out.get()), 0);
  EXPECT_EQ(count_rois(out.get()), 0u);
  out = after("metadata", "components");
  EXPECT_EQ(count_component_metas(out.get()), 1);
}

TEST_F(Live, MaxComponents) {
  start("output=mask threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  for (const uint32_t limit : {1u, 5u, 100000u, 2u}) {
    const Ref<GstBuffer> out = after("max-components", std::to_string(limit).c_str());
    EXPECT_EQ(h->pixels(out), mask(expected));
    const GstCudaCclInfo info = components_of(out.get());
    EXPECT_EQ(info.n_components, expected.records.size());
    EXPECT_EQ(info.overflow, expected.records.size() > limit);
    expect_records(info.records, info.n_records, largest(expected.records, limit));
  }
}

/// Every labeler of the backend gives the same labels. A labeler of the other backend ends the stream with an
/// error that names the available ones.
TEST_F(Live, Algorithm) {
  start("output=labels threshold=128");
  const Expected expected = label(image, {.threshold = 128});
  auto* all = static_cast<GEnumClass*>(g_type_class_ref(
      g_object_class_find_property(G_OBJECT_GET_CLASS(h->element()), "algorithm")->value_type));
  int worked = 0;
  int refused = 0;
  for (guint i = 0; i < all->n_values; ++i) {
    const std::string nick = all->values[i].value_nick;
    h->set("algorithm", nick);
    const GstFlowReturn flow = h->push(image);
    const Ref<GstMessage> error = h->message(GST_MESSAGE_ERROR);
    if (flow == GST_FLOW_OK) {
      ++worked;
      EXPECT_EQ(h->pixels(h->pull()), labels(expected)) << nick;
      EXPECT_EQ(error, nullptr);
      continue;
    }
    ++refused;
    EXPECT_EQ(flow, GST_FLOW_ERROR);
    ASSERT_NE(error, nullptr) << nick;
    EXPECT_NE(text_of(error.get()).find("'" + nick + "'"), std::string::npos) << text_of(error.get());
    EXPECT_NE(text_of(error.get()).find("dlp"), std::string::npos) << text_of(error.get());
  }
  g_type_class_unref(all);
  EXPECT_GE(worked, 3);
  EXPECT_GE(refused, 1);
  EXPECT_EQ(h->pixels(after("algorithm", "auto")), labels(expected)) << "works again after the error";
}

/// `backend` is read when the element goes to READY, so a change in PLAYING waits for the next start.
TEST_F(Live, BackendWaitsForTheNextStart) {
  start("output=labels threshold=128");
  const std::vector<uint8_t> expected = labels(label(image, {.threshold = 128}));
  EXPECT_EQ(h->pixels(after("backend", backend() == "cpu" ? "cuda" : "cpu")), expected);
  EXPECT_EQ(text_of_property(h->element(), "active-backend"), backend());
}

}  // namespace cudaccl::test
