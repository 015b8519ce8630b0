// SPDX-License-Identifier: LGPL-2.1-or-later
/// Components in GStreamer's analytics metadata.
#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

#include "harness.h"

namespace cudaccl::test {

namespace {

struct Detection {
  std::string type;
  gint x, y, width, height;
  gfloat confidence;

  bool operator==(const Detection&) const = default;
};

void PrintTo(const Detection& d, std::ostream* out) {
  *out << d.type << " at " << d.x << "," << d.y << " of " << d.width << "x" << d.height << ", "
       << d.confidence;
}

/// The object detections on a buffer, in the order in which they were added.
std::vector<Detection> detections_of(GstBuffer* buffer) {
  std::vector<Detection> detections;
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  while (relations != nullptr && gst_analytics_relation_meta_iterate(
                                     relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found)) {
    Detection d{};
    EXPECT_TRUE(gst_analytics_od_mtd_get_location(&found, &d.x, &d.y, &d.width, &d.height, &d.confidence));
    d.type = g_quark_to_string(gst_analytics_od_mtd_get_obj_type(&found));
    detections.push_back(d);
  }
  return detections;
}

/// The `limit` largest components of the image as detections, the largest first (ties: smaller label).
std::vector<Detection> expected_detections(const Image& image, size_t limit) {
  std::vector<CclComponent> records = label(image, {}).records;
  std::stable_sort(records.begin(), records.end(),
                   [](const CclComponent& a, const CclComponent& b) { return a.area > b.area; });
  records.resize(std::min(limit, records.size()));
  std::vector<Detection> detections;
  for (const CclComponent& c : records) {
    detections.push_back({"component", static_cast<gint>(c.x), static_cast<gint>(c.y),
                          static_cast<gint>(c.width), static_cast<gint>(c.height), 1.0F});
  }
  return detections;
}

/// Areas 1, 4, 4, 6, 1: every size but the largest twice.
const Image kShapes = picture({"#..##....", "...##..##", ".......##", "###......", "###....#."});

}  // namespace

TEST(Analytics, LargestFirst) {
  for (const char* output : {"mask", "passthrough"}) {
    Harness h(std::string("metadata=analytics output=") + output);
    ASSERT_TRUE(h.send_caps("GRAY8", kShapes.width, kShapes.height));
    for (const size_t limit : {256, 3, 1, 0}) {
      h.set("max-objects", std::to_string(limit));
      const Ref<GstBuffer> out = h.process(kShapes);
      EXPECT_EQ(detections_of(out.get()), expected_detections(kShapes, limit)) << output << " " << limit;
    }
  }
}

/// A buffer that a pool reuses may keep an empty GstAnalyticsRelationMeta.
TEST(Analytics, OnlyIfRequested) {
  Harness h("output=mask");
  ASSERT_TRUE(h.send_caps("GRAY8", kShapes.width, kShapes.height));
  for (const char* metadata : {"components", "analytics", "roi", "components+roi+analytics", "0"}) {
    h.set("metadata", metadata);
    const Ref<GstBuffer> out = h.process(kShapes);
    const bool is_requested = std::string(metadata).find("analytics") != std::string::npos;
    EXPECT_EQ(detections_of(out.get()), expected_detections(kShapes, is_requested ? 256 : 0)) << metadata;
  }
}

/// In consecutive frames: many components, none, many again.
TEST(Analytics, OneDetectionPerComponent) {
  Image dots = blank(100, 90);
  for (uint32_t y = 0; y < dots.height; y += 2) {
    for (uint32_t x = 0; x < dots.width; x += 2) {
      dots.at(x, y) = 255;
    }
  }
  Harness h("output=mask metadata=analytics max-objects=1000");
  ASSERT_TRUE(h.send_caps("GRAY8", dots.width, dots.height));
  for (const Image& image : {dots, blank(100, 90), noise(100, 90, 1), dots}) {
    EXPECT_EQ(detections_of(h.process(image).get()), expected_detections(image, 1000));
  }
}

/// With tracks each detection relates to tracking metadata with the id of its component.
TEST(Analytics, DetectionsRelateToTracks) {
  Harness h("output=mask metadata=components+analytics track=true");
  ASSERT_TRUE(h.send_caps("GRAY8", kShapes.width, kShapes.height));
  for (guint frame = 0; frame < 4; ++frame) {
    const Ref<GstBuffer> out = h.process(kShapes);
    const GstCudaCclInfo info = components_of(out.get());
    GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(out.get());
    ASSERT_NE(relations, nullptr);
    std::map<std::pair<gint, gint>, guint64> ids;  // by the corner of the box
    gpointer state = nullptr;
    GstAnalyticsMtd found;
    while (
        gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found)) {
      GstAnalyticsMtd tracking;
      gint x = -1, y = -1, width = 0, height = 0;
      gfloat confidence = 0;
      guint64 id = 0;
      GstClockTime first = 99, last = 99;
      gboolean is_lost = TRUE;
      ASSERT_TRUE(gst_analytics_od_mtd_get_location(&found, &x, &y, &width, &height, &confidence));
      ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
          relations, found.id, GST_ANALYTICS_REL_TYPE_RELATE_TO, gst_analytics_tracking_mtd_get_mtd_type(),
          nullptr, &tracking));
      ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&tracking, &id, &first, &last, &is_lost));
      EXPECT_EQ(first, 0u);
      EXPECT_EQ(last, frame * kFrameDuration);
      EXPECT_FALSE(is_lost);
      ids[{x, y}] = id;
    }
    ASSERT_EQ(ids.size(), info.n_records);
    for (guint i = 0; i < info.n_records; ++i) {
      const CclComponent& c = info.records[i];
      EXPECT_EQ((ids[{static_cast<gint>(c.x), static_cast<gint>(c.y)}]), c.id);
    }
  }
}

/// Detections of an element upstream stay on the buffer, before those of this element.
TEST(Analytics, KeepsThoseOfAnElementUpstream) {
  for (const char* output : {"mask", "passthrough"}) {
    Harness h(std::string("metadata=analytics output=") + output);
    ASSERT_TRUE(h.send_caps("GRAY8", kShapes.width, kShapes.height));
    Ref<GstBuffer> frame = make_frame(kShapes, "GRAY8");
    GstAnalyticsODMtd face;
    ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(frame.get()),
                                                       g_quark_from_static_string("face"), 1, 2, 3, 4, 0.5F,
                                                       &face));
    std::vector<Detection> expected = expected_detections(kShapes, 256);
    expected.insert(expected.begin(), {"face", 1, 2, 3, 4, 0.5F});
    EXPECT_EQ(detections_of(h.process(std::move(frame)).get()), expected) << output;
  }
}

}  // namespace cudaccl::test
