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

gsize count_of(GstBuffer* buffer, GstAnalyticsMtdType type) {
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  gsize count = 0;
  while (relations != nullptr && gst_analytics_relation_meta_iterate(relations, &state, type, &found)) {
    ++count;
  }
  return count;
}

/// The object detections by their keys.
std::map<std::string, Detection> keyed_detections(GstBuffer* buffer) {
  std::map<std::string, Detection> keyed;
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  for (const Detection& detection : detections_of(buffer)) {
    EXPECT_TRUE(
        gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found));
    GstAnalyticsMtd key;
    if (gst_analytics_relation_meta_get_direct_related(relations, found.id, GST_ANALYTICS_REL_TYPE_CONTAIN,
                                                       gst_analytics_cls_mtd_get_mtd_type(), nullptr, &key)) {
      keyed[g_quark_to_string(gst_analytics_cls_mtd_get_quark(&key, 0))] = detection;
    }
  }
  return keyed;
}

std::string name_of(const Harness& h) {
  return GST_OBJECT_NAME(h.element());
}

/// The `limit` largest components of the image, the largest first (ties: smaller label).
std::vector<CclComponent> by_area(const Image& image, size_t limit) {
  std::vector<CclComponent> records = label(image, {}).records;
  std::stable_sort(records.begin(), records.end(),
                   [](const CclComponent& a, const CclComponent& b) { return a.area > b.area; });
  records.resize(std::min(limit, records.size()));
  return records;
}

/// The same as detections.
std::vector<Detection> expected_detections(const Image& image, size_t limit, const std::string& type) {
  std::vector<Detection> detections;
  for (const CclComponent& c : by_area(image, limit)) {
    detections.push_back({type, static_cast<gint>(c.x), static_cast<gint>(c.y), static_cast<gint>(c.width),
                          static_cast<gint>(c.height), 1.0F});
  }
  return detections;
}

}  // namespace

TEST(Analytics, LargestFirst) {
  for (const char* output : {"mask", "passthrough"}) {
    Harness h(std::string("metadata=analytics output=") + output, kShapes);
    for (const size_t limit : {256, 3, 1, 0}) {
      h.set("max-objects", std::to_string(limit));
      const Ref<GstBuffer> out = h.process(kShapes);
      EXPECT_EQ(detections_of(out.get()), expected_detections(kShapes, limit, name_of(h)))
          << output << " " << limit;
    }
  }
}

TEST(Analytics, OnlyIfRequested) {
  Harness h("output=mask", kShapes);
  for (const char* metadata : {"components", "analytics", "roi", "components+roi+analytics", "0"}) {
    h.set("metadata", metadata);
    const Ref<GstBuffer> out = h.process(kShapes);
    const bool is_requested = std::string(metadata).find("analytics") != std::string::npos;
    EXPECT_EQ(detections_of(out.get()), expected_detections(kShapes, is_requested ? 256 : 0, name_of(h)))
        << metadata;
  }
}

/// More detections would take too much memory. One warning a stream reports it.
TEST(Analytics, AtMost1024Detections) {
  const Image many = dots(200, 60);
  Harness h("output=mask metadata=analytics max-objects=5000", many);
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(detections_of(h.process(many).get()), expected_detections(many, 1024, name_of(h)));
    h.expect_warning(i == 0 ? Words{"1024 largest of 3000 objects"} : Words{});
  }
}

/// In consecutive frames: many components, none, many again.
TEST(Analytics, OneDetectionPerComponent) {
  const Image many = dots(100, 90);
  Harness h("output=mask metadata=analytics max-objects=1000", many);
  for (const Image& image : {many, blank(100, 90), noise(100, 90, 1), many}) {
    EXPECT_EQ(detections_of(h.process(image).get()), expected_detections(image, 1000, name_of(h)));
  }
}

/// With tracks each detection relates to tracking metadata with the id of its component.
TEST(Analytics, DetectionsRelateToTracks) {
  Harness h("output=mask metadata=components+analytics track=true", kShapes);
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
    Harness h(std::string("metadata=analytics output=") + output, kShapes);
    Ref<GstBuffer> frame = make_frame(kShapes, "GRAY8");
    GstAnalyticsODMtd face;
    ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(gst_buffer_add_analytics_relation_meta(frame.get()),
                                                       g_quark_from_static_string("face"), 1, 2, 3, 4, 0.5F,
                                                       &face));
    std::vector<Detection> expected = expected_detections(kShapes, 256, name_of(h));
    expected.insert(expected.begin(), {"face", 1, 2, 3, 4, 0.5F});
    EXPECT_EQ(detections_of(h.process(std::move(frame)).get()), expected) << output;
  }
}

/// The type of objects is `object-type`, or else the source.
TEST(Analytics, ObjectType) {
  for (const auto& [properties, type] :
       std::map<std::string, std::string>{{"name=left", "left"},
                                          {"name=right meta-name=cells", "cells"},
                                          {"object-type=person", "person"}}) {
    Harness h("output=mask metadata=analytics " + properties, kShapes);
    EXPECT_EQ(detections_of(h.process(kShapes).get()), expected_detections(kShapes, 256, type)) << properties;
  }
}

/// The key in each detection names the record with the same box, also in a frame that is scaled afterwards.
TEST(Analytics, KeysJoinDetectionsWithRecords) {
  for (const char* scale : {"", " ! videoscale ! video/x-raw,width=36,height=20"}) {
    Pipeline p("appsrc name=in format=time caps=" + caps_text("GRAY8", kShapes.width, kShapes.height) +
               " ! cudaccl name=ccl backend=" + backend() +
               " output=passthrough metadata=components+analytics object-type=cell max-objects=4" + scale +
               " ! appsink name=out sync=false");
    ASSERT_EQ(p.push(make_frame(kShapes, "GRAY8")), GST_FLOW_OK);
    const Ref<GstSample> sample = p.pull();
    ASSERT_NE(sample, nullptr) << scale;
    GstBuffer* out = gst_sample_get_buffer(sample.get());
    const GstCudaCclInfo info = components_of(out);
    std::map<std::string, Detection> keyed = keyed_detections(out);
    ASSERT_EQ(keyed.size(), 4u) << scale;
    for (guint i = 0; i < info.n_records; ++i) {
      const CclComponent& c = info.records[i];
      const auto found = keyed.find("ccl#" + std::to_string(c.label));
      if (c.label == 5) {
        EXPECT_EQ(found, keyed.end());  // the smallest one of five
        continue;
      }
      ASSERT_NE(found, keyed.end()) << scale << " " << c.label;
      EXPECT_EQ(found->second, (Detection{"cell", static_cast<gint>(c.x), static_cast<gint>(c.y),
                                          static_cast<gint>(c.width), static_cast<gint>(c.height), 1.0F}));
    }
  }
}

/// How many quarks the process has. Asking adds one.
guint count_quarks() {
  static guint asked = 0;
  return g_quark_from_string(("count " + std::to_string(++asked)).c_str());
}

/// GLib keeps keys until the process ends, so there are as many as labels, however long the stream is.
TEST(Analytics, KeysAreNotMoreThanLabels) {
  Harness h("name=keys output=passthrough metadata=components+analytics max-objects=20 connectivity=4-way",
            "GRAY8", 90, 70);
  Image one = blank(90, 70);
  one.at(1, 1) = 255;
  h.process(one);  // the type is a quark, too
  uint32_t last_label = 0;
  const auto play = [&] {
    const guint before = count_quarks();
    for (uint32_t i = 0; i < 40; ++i) {
      const Ref<GstBuffer> out = h.process(noise(90, 70, i));
      const GstCudaCclInfo info = components_of(out.get());
      last_label = std::max(last_label, info.records[info.n_records - 1].label);
    }
    return count_quarks() - before - 1;
  };
  const guint added = play();
  EXPECT_GT(added, 20u);
  EXPECT_LE(added, last_label);
  EXPECT_EQ(play(), 0u);
}

/// Dots, and below them a larger object.
Image dots_and_a_block(uint32_t n_rows) {
  constexpr uint32_t kWidth = 512;
  Image image = blank(kWidth, 2 * n_rows + 2);
  for (uint32_t i = 0; i < n_rows * kWidth / 2; ++i) {
    image.at(i % (kWidth / 2) * 2, i / (kWidth / 2) * 2) = 255;
  }
  image.at(0, 2 * n_rows) = image.at(1, 2 * n_rows) = 255;
  return image;
}

/// In frames with very many components the last ones have no key, so that the number of keys has a limit.
TEST(Analytics, LabelsOf16BitsHaveKeys) {
  for (const auto& [n_rows, key] : {std::pair{255u, "ccl#65281"}, std::pair{256u, "ccl#0"}}) {
    const Image image = dots_and_a_block(n_rows);
    Harness h("name=ccl output=passthrough metadata=analytics max-objects=1", image);
    for (int i = 0; i < 2; ++i) {
      const Ref<GstBuffer> out = h.process(image);
      const std::map<std::string, Detection> keyed = keyed_detections(out.get());
      ASSERT_EQ(keyed.size(), 1u);
      EXPECT_EQ(keyed.begin()->first, key);
      EXPECT_EQ(keyed.begin()->second.width, 2);
    }
  }
}

/// The ids of tracks grow as long as the stream runs, and are in no key.
TEST(Analytics, NewTracksHaveNoNewKeys) {
  Harness h("name=tracks output=passthrough metadata=analytics track=true track-confirm=1 track-lost=0",
            kShapes);
  h.process(kShapes);
  const guint before = count_quarks();
  guint64 last_id = 0;
  for (int i = 0; i < 100; ++i) {
    h.process(blank(kShapes.width, kShapes.height));
    const Ref<GstBuffer> out = h.process(kShapes);
    GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(out.get());
    gpointer state = nullptr;
    GstAnalyticsMtd track;
    while (relations != nullptr &&
           gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_tracking_mtd_get_mtd_type(),
                                               &track)) {
      guint64 id = 0;
      ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&track, &id, nullptr, nullptr, nullptr));
      last_id = std::max(last_id, id);
    }
  }
  EXPECT_GT(last_id, 100u) << "each object is new";
  EXPECT_EQ(count_quarks() - before, 1u);
}

/// The confidence of a tracked object is the share of the frames since its birth in which it was seen.
TEST(Analytics, ConfidenceOfTracks) {
  const Image two = picture({"......................", ".####.........#####...", ".####.........#####...",
                             ".####.........#####...", ".####.........#####...", "......................"});
  Image one = two;
  for (uint32_t y = 0; y < one.height; ++y) {
    std::fill_n(one.pixels.begin() + y * one.width, 8, uint8_t{0});
  }
  Harness h("output=mask metadata=components track=true", two);
  const std::vector<Image> frames = {two, two, two, one, one, two, two};
  const std::vector<float> shares = {1, 1, 1, 0, 0, 4.0F / 6, 5.0F / 7};  // of the left one
  for (size_t i = 0; i < frames.size(); ++i) {
    if (i == 5) {
      h.set("metadata", "analytics");  // counts from the birth on all the same
    }
    const std::vector<Detection> found = detections_of(h.process(frames[i]).get());
    if (i >= 5) {
      EXPECT_EQ(found, (std::vector<Detection>{{name_of(h), 14, 1, 5, 4, 1.0F},
                                               {name_of(h), 1, 1, 4, 4, shares[i]}}))
          << i;
    }
  }
}

/// The one meta of a buffer holds what each element has added, with its relations.
TEST(Analytics, ElementsShareOneMeta) {
  for (const char* output : {"mask", "passthrough"}) {
    Harness first("name=first output=passthrough metadata=components+analytics track=true");
    Harness second(std::string("name=second metadata=components+analytics output=") + output);
    for (Harness* h : {&first, &second}) {
      ASSERT_TRUE(h->send_caps("GRAY8", kShapes.width, kShapes.height));
    }
    const Ref<GstBuffer> out = second.process(first.process(kShapes));
    EXPECT_EQ(gst_buffer_get_n_meta(out.get(), GST_ANALYTICS_RELATION_META_API_TYPE), 1u);
    std::vector<Detection> expected = expected_detections(kShapes, 256, "first");
    const std::vector<Detection> others = expected_detections(kShapes, 256, "second");
    expected.insert(expected.end(), others.begin(), others.end());
    EXPECT_EQ(detections_of(out.get()), expected) << output;
    EXPECT_EQ(keyed_detections(out.get()).size(), expected.size()) << output;
    EXPECT_EQ(count_of(out.get(), gst_analytics_tracking_mtd_get_mtd_type()), others.size()) << output;
  }
}

/// An element replaces what has its source, and nothing else.
TEST(Analytics, ReplacesWhatHasTheSameSource) {
  Ref<GstBuffer> frame = make_frame(kShapes, "GRAY8");
  GstAnalyticsRelationMeta* relations = gst_buffer_add_analytics_relation_meta(frame.get());
  // The same type, and a classification and a track of its own; and keys that only look like ours.
  GstAnalyticsMtd face, mood, track;
  GQuark classes[] = {g_quark_from_static_string("happy"), g_quark_from_static_string("twice#x")};
  gfloat levels[] = {0.75F, 0.25F};
  ASSERT_TRUE(gst_analytics_relation_meta_add_od_mtd(relations, g_quark_from_static_string("twice"), 1, 2, 3,
                                                     4, 0.5F, &face));
  ASSERT_TRUE(gst_analytics_relation_meta_add_cls_mtd(relations, 2, levels, classes, &mood));
  ASSERT_TRUE(gst_analytics_relation_meta_add_tracking_mtd(relations, 77, 5, &track));
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_RELATE_TO, face.id, track.id);
  gst_analytics_relation_meta_set_relation(relations, GST_ANALYTICS_REL_TYPE_IS_PART_OF, mood.id, face.id);
  Harness first("meta-name=twice output=passthrough metadata=analytics track=true");
  Harness second("meta-name=twice output=mask metadata=analytics track=true max-objects=2");
  for (Harness* h : {&first, &second}) {
    ASSERT_TRUE(h->send_caps("GRAY8", kShapes.width, kShapes.height));
  }
  const Ref<GstBuffer> out = second.process(first.process(std::move(frame)));
  std::vector<Detection> expected = expected_detections(kShapes, 2, "twice");
  expected.insert(expected.begin(), {"twice", 1, 2, 3, 4, 0.5F});
  EXPECT_EQ(detections_of(out.get()), expected);
  EXPECT_EQ(count_of(out.get(), gst_analytics_cls_mtd_get_mtd_type()), 3u);
  EXPECT_EQ(count_of(out.get(), gst_analytics_tracking_mtd_get_mtd_type()), 3u);
  relations = gst_buffer_get_analytics_relation_meta(out.get());
  ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(relations, 0, GST_ANALYTICS_REL_TYPE_RELATE_TO,
                                                             gst_analytics_tracking_mtd_get_mtd_type(),
                                                             nullptr, &track));
  guint64 id = 0;
  ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&track, &id, nullptr, nullptr, nullptr));
  EXPECT_EQ(id, 77u);
  EXPECT_EQ(gst_analytics_relation_meta_get_relation(relations, 1, 0), GST_ANALYTICS_REL_TYPE_IS_PART_OF);
  ASSERT_TRUE(gst_analytics_relation_meta_get_cls_mtd(relations, 1, &mood));
  EXPECT_EQ(gst_analytics_cls_mtd_get_length(&mood), 2u);
  EXPECT_EQ(gst_analytics_cls_mtd_get_level(&mood, 1), 0.25F);
}

/// A buffer that a pool uses again has no meta, so it keeps no memory for the objects of an earlier frame.
TEST(Analytics, NoMetaIsLeftInThePool) {
  Harness h("output=mask metadata=analytics", kShapes);
  for (const char* metadata : {"analytics", "components", "analytics", "components"}) {
    h.set("metadata", metadata);
    for (int i = 0; i < 3; ++i) {
      EXPECT_EQ(gst_buffer_get_analytics_relation_meta(h.process(kShapes).get()) != nullptr,
                std::string(metadata) == "analytics");
    }
  }
}

}  // namespace cudaccl::test
