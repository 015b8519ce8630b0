// SPDX-License-Identifier: LGPL-2.1-or-later
/// Masks and rotated boxes in GStreamer's analytics metadata, and the stock elements that read it.
#include <gst/analytics/analytics.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness.h"

#if GST_CHECK_VERSION(1, 26, 0)

namespace cudaccl::test {

namespace {

/// The pixels of kShapes by the rank of their objects.
constexpr const char* kRanks[] = {"4..22....", "...22..33", ".......33", "111......", "111....5."};

/// The first segmentation of a buffer.
struct Mask {
  GstAnalyticsMtd entry{};
  Ref<GstBuffer> buffer;
  gint x = -1, y = -1;
  guint width = 0, height = 0;
  std::vector<guint> pixels;

  GstVideoFormat format() const { return gst_buffer_get_video_meta(buffer.get())->format; }
};

Mask mask_of(GstBuffer* buffer) {
  Mask mask;
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  gpointer state = nullptr;
  if (relations == nullptr ||
      !gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(),
                                           &mask.entry)) {
    return mask;
  }
  mask.buffer.reset(
      gst_analytics_segmentation_mtd_get_mask(&mask.entry, &mask.x, &mask.y, &mask.width, &mask.height));
  const GstVideoMeta* video = gst_buffer_get_video_meta(mask.buffer.get());
  const std::vector<uint8_t> bytes = bytes_of(mask.buffer.get());
  const bool is_8_bit = video->format == GST_VIDEO_FORMAT_GRAY8;
  EXPECT_EQ(bytes.size(), size_t{video->width} * video->height * (is_8_bit ? 1 : 2));
  for (size_t i = 0; i < bytes.size(); i += is_8_bit ? 1 : 2) {
    uint16_t value = bytes[i];
    if (!is_8_bit) {
      std::copy_n(bytes.data() + i, 2, reinterpret_cast<uint8_t*>(&value));
    }
    mask.pixels.push_back(value);
  }
  return mask;
}

/// The classes of each list that belongs to the mask, entry by entry.
std::vector<std::vector<std::string>> lists_of(const Mask& mask) {
  std::vector<std::vector<std::string>> lists;
  gpointer state = nullptr;
  GstAnalyticsMtd list;
  while (gst_analytics_relation_meta_get_direct_related(
      mask.entry.meta, mask.entry.id, GST_ANALYTICS_REL_TYPE_N_TO_N, gst_analytics_cls_mtd_get_mtd_type(),
      &state, &list)) {
    lists.emplace_back();
    for (gsize i = 0; i < gst_analytics_cls_mtd_get_length(&list); ++i) {
      lists.back().push_back(g_quark_to_string(gst_analytics_cls_mtd_get_quark(&list, i)));
    }
  }
  return lists;
}

/// `count` single pixels, and one component of two, which is the last.
Image dots(uint32_t count) {
  Image image = blank(101, 2 * (count / 50 + 2));
  for (uint32_t i = 0; i < count; ++i) {
    image.at(2 * (i % 50), 2 * (i / 50)) = 255;
  }
  image.at(98, image.height - 1) = image.at(99, image.height - 1) = 255;
  return image;
}

bool has_element(const char* name) {
  GstElementFactory* factory = gst_element_factory_find(name);
  if (factory == nullptr) {
    return false;
  }
  gst_object_unref(factory);
  return true;
}

}  // namespace

TEST(AnalyticsMask, ShowsTheObjects) {
  for (const char* output : {"mask", "passthrough", "labels"}) {
    Harness h(std::string("name=ccl object-type=cell metadata=analytics+segmentation output=") + output,
              kShapes);
    const Ref<GstBuffer> out = h.process(kShapes);
    const Mask mask = mask_of(out.get());
    ASSERT_NE(mask.buffer, nullptr) << output;
    EXPECT_EQ(mask.format(), GST_VIDEO_FORMAT_GRAY8);
    EXPECT_EQ(mask.x, 0);
    EXPECT_EQ(mask.y, 0);
    EXPECT_EQ(mask.width, kShapes.width);
    EXPECT_EQ(mask.height, kShapes.height);
    for (uint32_t i = 0; i < mask.pixels.size(); ++i) {
      const char rank = kRanks[i / kShapes.width][i % kShapes.width];
      ASSERT_EQ(mask.pixels[i], rank == '.' ? 0u : static_cast<guint>(rank - '0')) << output << " " << i;
    }
    ASSERT_EQ(gst_analytics_segmentation_mtd_get_region_count(&mask.entry), 6u);
    for (guint i = 0; i < 6; ++i) {
      EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_id(&mask.entry, i), i);
    }
    EXPECT_EQ(lists_of(mask), (std::vector<std::vector<std::string>>{
                                  {"background", "cell", "cell", "cell", "cell", "cell"},
                                  {"background", "ccl#4", "ccl#2", "ccl#3", "ccl#1", "ccl#5"}}));
    gpointer state = nullptr;
    GstAnalyticsMtd detection;
    for (gsize i = 0; i < 5; ++i) {
      ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
          mask.entry.meta, mask.entry.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_od_mtd_get_mtd_type(), &state, &detection));
      EXPECT_EQ(gst_analytics_relation_meta_get_relation(mask.entry.meta, detection.id, mask.entry.id),
                GST_ANALYTICS_REL_TYPE_RELATE_TO);
    }
  }
}

TEST(AnalyticsMask, WithoutDetections) {
  Harness h("name=ccl metadata=segmentation output=mask", kShapes);
  for (int i = 0; i < 2; ++i) {
    const Ref<GstBuffer> out = h.process(kShapes);
    EXPECT_EQ(lists_of(mask_of(out.get())).size(), 2u);
    EXPECT_EQ(gst_analytics_relation_get_length(gst_buffer_get_analytics_relation_meta(out.get())), 3u);
    const Ref<GstBuffer> empty = h.process(blank(kShapes.width, kShapes.height));
    EXPECT_EQ(mask_of(empty.get()).buffer, nullptr);
  }
}

/// With the default, 256 objects, there are 255 values; more objects have 16 bits each.
TEST(AnalyticsMask, AsManyObjectsAsItHasValues) {
  const Image image = dots(300);
  for (const auto& [limit, format, shown] : {std::tuple{3u, GST_VIDEO_FORMAT_GRAY8, 3u},
                                             {256u, GST_VIDEO_FORMAT_GRAY8, 255u},
                                             {257u, GST_VIDEO_FORMAT_GRAY16_LE, 257u},
                                             {1000u, GST_VIDEO_FORMAT_GRAY16_LE, 301u}}) {
    Harness h("output=mask metadata=analytics+segmentation max-objects=" + std::to_string(limit), image);
    const Ref<GstBuffer> out = h.process(image);
    const Mask mask = mask_of(out.get());
    ASSERT_NE(mask.buffer, nullptr);
    EXPECT_EQ(mask.format(), format) << limit;
    std::set<guint> values(mask.pixels.begin(), mask.pixels.end());
    EXPECT_EQ(values.size(), shown + 1) << limit;
    EXPECT_EQ(*values.rbegin(), shown) << limit;
    EXPECT_EQ(gst_analytics_segmentation_mtd_get_region_count(&mask.entry), shown + 1) << limit;
    EXPECT_EQ(mask.pixels[size_t{image.width} * (image.height - 1) + 98], 1u) << "the largest";
  }
}

/// What the filters remove is background.
TEST(AnalyticsMask, LeavesOutWhatTheFiltersRemove) {
  Harness h("output=mask metadata=segmentation min-area=4", kShapes);
  const Ref<GstBuffer> out = h.process(kShapes);
  const std::vector<guint> pixels = mask_of(out.get()).pixels;
  ASSERT_FALSE(pixels.empty());
  EXPECT_EQ(pixels[0], 0u);
  EXPECT_EQ(*std::max_element(pixels.begin(), pixels.end()), 3u);
}

/// Two elements have a mask each, and an element replaces its own.
TEST(AnalyticsMask, OnePerSource) {
  Harness first("name=first output=passthrough metadata=segmentation");
  Harness second("name=second output=passthrough metadata=segmentation");
  Harness third("name=third meta-name=first output=mask metadata=segmentation max-objects=1");
  for (Harness* h : {&first, &second, &third}) {
    ASSERT_TRUE(h->send_caps("GRAY8", kShapes.width, kShapes.height));
  }
  const Ref<GstBuffer> out = third.process(second.process(first.process(kShapes)));
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(out.get());
  gpointer state = nullptr;
  GstAnalyticsMtd found;
  std::vector<gsize> regions;
  while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_segmentation_mtd_get_mtd_type(),
                                             &found)) {
    regions.push_back(gst_analytics_segmentation_mtd_get_region_count(&found));
  }
  EXPECT_EQ(regions, (std::vector<gsize>{6, 2}));
  EXPECT_EQ(lists_of(mask_of(out.get()))[1][1], "second#4");
  EXPECT_EQ(gst_analytics_relation_get_length(relations), 6u);
}

/// Behind a crop rectangle that the element leaves on the buffer, the mask lies where the frame is.
TEST(AnalyticsMask, LiesWhereTheFrameIs) {
  Image whole = blank(20, 16);
  whole.at(7, 5) = 255;
  Ref<GstBuffer> frame = make_padded_frame(whole, "GRAY8", {});
  add_crop(frame.get(), 4, 3, 12, 8);
  Harness h("output=passthrough metadata=analytics+segmentation", "GRAY8", 12, 8);
  const Ref<GstBuffer> out = h.process(std::move(frame));
  const Mask mask = mask_of(out.get());
  ASSERT_NE(mask.buffer, nullptr);
  EXPECT_EQ(mask.x, 4);
  EXPECT_EQ(mask.y, 3);
  EXPECT_EQ(mask.width, 12u);
  EXPECT_EQ(mask.height, 8u);
  EXPECT_EQ(mask.pixels[2 * 12 + 3], 1u);
}

TEST(AnalyticsMask, MemoryIsUsedAgain) {
  Harness h("output=mask metadata=segmentation", kShapes);
  const GQuark is_seen = g_quark_from_static_string("seen");
  for (uint32_t i = 0; i < 20; ++i) {
    const Ref<GstBuffer> out = h.process(noise(kShapes.width, kShapes.height, i));
    const Mask mask = mask_of(out.get());
    ASSERT_NE(mask.buffer, nullptr);
    EXPECT_EQ(mask.format(), GST_VIDEO_FORMAT_GRAY8);
    EXPECT_EQ(gst_buffer_get_n_meta(mask.buffer.get(), GST_VIDEO_META_API_TYPE), 1u);
    GstMiniObject* object = GST_MINI_OBJECT_CAST(mask.buffer.get());
    EXPECT_EQ(gst_mini_object_get_qdata(object, is_seen) != nullptr, i > 0) << i;
    gst_mini_object_set_qdata(object, is_seen, &h, nullptr);
  }
}

/// Also when the stream goes on, the size and the format change, and the element stops.
TEST(AnalyticsMask, AReaderMayKeepIt) {
  Mask kept;
  {
    Harness h("output=mask metadata=segmentation", kShapes);
    {
      const Ref<GstBuffer> out = h.process(kShapes);
      kept = mask_of(out.get());
    }
    h.process(noise(kShapes.width, kShapes.height, 1));
    ASSERT_TRUE(h.send_caps("GRAY8", 30, 20));
    const Image other = noise(30, 20, 2);
    EXPECT_EQ(mask_of(h.process(other).get()).width, 30u);
    h.set("max-objects", "1000");
    EXPECT_EQ(mask_of(h.process(other).get()).format(), GST_VIDEO_FORMAT_GRAY16_LE);
    h.set("metadata", "components");
    EXPECT_EQ(mask_of(h.process(other).get()).buffer, nullptr);
    gst_element_set_state(h.element(), GST_STATE_NULL);
  }
  const std::vector<uint8_t> bytes = bytes_of(kept.buffer.get());
  EXPECT_EQ(std::vector<guint>(bytes.begin(), bytes.end()), kept.pixels);
}

struct OrientedBox {
  gint x = 0, y = 0, width = 0, height = 0;
  gfloat rotation = 9, confidence = 0;
};

/// The box of the only detection; with a rotation of 9 if there is none.
OrientedBox oriented_box(GstBuffer* buffer) {
  OrientedBox box;
  GstAnalyticsRelationMeta* relations = gst_buffer_get_analytics_relation_meta(buffer);
  GstAnalyticsMtd found;
  gpointer state = nullptr;
  if (relations != nullptr &&
      gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(), &found)) {
    EXPECT_TRUE(gst_analytics_od_mtd_get_oriented_location(&found, &box.x, &box.y, &box.width, &box.height,
                                                           &box.rotation, &box.confidence));
  }
  return box;
}

/// A bar in a direction of its own.
TEST(AnalyticsOriented, BoxHasTheDirectionOfTheObject) {
  for (const double degrees : {0.0, 30.0, 90.0, 150.0}) {
    const double angle = degrees * G_PI / 180;
    Image bar = blank(100, 100);
    for (uint32_t y = 0; y < bar.height; ++y) {
      for (uint32_t x = 0; x < bar.width; ++x) {
        const double along = (x - 50.0) * std::cos(angle) + (y - 40.0) * std::sin(angle);
        const double across = (y - 40.0) * std::cos(angle) - (x - 50.0) * std::sin(angle);
        bar.at(x, y) = std::abs(along) < 30.5 && std::abs(across) < 5.5 ? 255 : 0;
      }
    }
    for (const char* features : {"moments", "0"}) {
      Harness h(std::string("output=mask metadata=analytics+oriented features=") + features, "GRAY8", 100,
                100);
      const Ref<GstBuffer> out = h.process(bar);
      const auto [x, y, width, height, rotation, confidence] = oriented_box(out.get());
      h.set("metadata", "oriented");
      EXPECT_EQ(oriented_box(h.process(bar).get()).rotation, rotation) << "implies `analytics`";
      EXPECT_EQ(confidence, 1.0F);
      if (std::string(features) == "0") {
        EXPECT_EQ(rotation, 0.0F) << "no moments, no direction";
        continue;
      }
      EXPECT_NEAR(rotation, angle, 0.02) << degrees;
      EXPECT_NEAR(x + width / 2.0, 50.5, 0.51) << degrees;
      EXPECT_NEAR(y + height / 2.0, 40.5, 0.51) << degrees;
      // The ellipse with the moments of a rectangle is 2 / √3 times as long and as wide.
      EXPECT_NEAR(width, 61 * 2 / std::sqrt(3.0), 1.5) << degrees;
      EXPECT_NEAR(height, 11 * 2 / std::sqrt(3.0), 1.5) << degrees;
    }
  }
}

/// A disc with a pixel more at one side or another, which is no direction.
TEST(AnalyticsOriented, RoundObjectsAreNotTurned) {
  for (const auto& [bump_x, bump_y] :
       {std::pair{63, 50}, std::pair{59, 59}, std::pair{59, 41}, std::pair{50, 50}}) {
    Image disc = blank(100, 100);
    for (uint32_t y = 0; y < disc.height; ++y) {
      for (uint32_t x = 0; x < disc.width; ++x) {
        disc.at(x, y) = std::hypot(x - 50.0, y - 50.0) < 12.5 ? 255 : 0;
      }
    }
    disc.at(static_cast<uint32_t>(bump_x), static_cast<uint32_t>(bump_y)) = 255;
    Harness h("output=mask metadata=oriented", "GRAY8", 100, 100);
    const OrientedBox box = oriented_box(h.process(disc).get());
    EXPECT_EQ(box.width, box.height);
    EXPECT_EQ(box.rotation, 0.0F) << bump_x << "," << bump_y;
  }
}

/// One frame of kShapes, four times as large, through elements behind cudaccl; the bytes of the picture.
std::vector<uint8_t> drawn(const std::string& properties, const std::string& elements) {
  Image image = blank(4 * kShapes.width, 4 * kShapes.height);
  for (uint32_t y = 0; y < image.height; ++y) {
    for (uint32_t x = 0; x < image.width; ++x) {
      image.at(x, y) = kShapes.at(x / 4, y / 4);
    }
  }
  Pipeline p("appsrc name=in format=time caps=" + caps_text("GRAY8", image.width, image.height) +
             " ! cudaccl backend=" + backend() + " output=passthrough " + properties +
             " ! videoconvert ! video/x-raw,format=RGBA ! " + elements + " ! appsink name=out sync=false");
  if (p.push(make_frame(image, "GRAY8")) != GST_FLOW_OK) {
    ADD_FAILURE() << "the frame is refused";
  }
  p.end();
  const Ref<GstSample> sample = p.pull();
  if (sample == nullptr) {
    ADD_FAILURE() << "no picture";
    return {};
  }
  return bytes_of(gst_sample_get_buffer(sample.get()));
}

/// segmentationoverlay gives each object a colour of its own, and only objects.
TEST(AnalyticsElements, SegmentationOverlayDrawsTheMask) {
  if (!has_element("segmentationoverlay")) {
    GTEST_SKIP() << "no segmentationoverlay: it is in GStreamer 1.28 with the library cairo";
  }
  const std::vector<uint8_t> picture = drawn("metadata=segmentation", "segmentationoverlay");
  ASSERT_EQ(picture.size(), size_t{16} * kShapes.width * kShapes.height * 4);
  const auto color = [&](uint32_t x, uint32_t y) {
    const uint8_t* pixel = picture.data() + (size_t{y} * 4 * kShapes.width + x) * 4;
    return std::tuple{pixel[0], pixel[1], pixel[2]};
  };
  std::set<std::tuple<uint8_t, uint8_t, uint8_t>> colors;
  for (uint32_t y = 0; y < kShapes.height; ++y) {
    for (uint32_t x = 0; x < kShapes.width; ++x) {
      const auto [r, g, b] = color(4 * x + 2, 4 * y + 2);
      const bool is_drawn = r != g || g != b;
      EXPECT_EQ(is_drawn, kShapes.at(x, y) != 0) << x << "," << y;
      if (is_drawn) {
        colors.insert({r, g, b});
      }
    }
  }
  EXPECT_EQ(colors.size(), 5u);
}

/// Whether there are fonts, with which the overlays of GStreamer write.
bool has_fonts() {
  const auto write = [](const std::string& text) {
    return drawn(
        "metadata=components",
        "textoverlay valignment=center halignment=center auto-resize=false font-desc=8 text=" + text);
  };
  return has_element("textoverlay") && write("a") != write("b");
}

/// objectdetectionoverlay draws the boxes, and writes the type and not the key.
TEST(AnalyticsElements, ObjectDetectionOverlayDrawsTheBoxes) {
  if (!has_element("objectdetectionoverlay")) {
    GTEST_SKIP() << "no objectdetectionoverlay: it is in gstreamer1.0-plugins-bad";
  }
  const auto draw = [](const std::string& properties, const std::string& labels) {
    return drawn(properties, "objectdetectionoverlay draw-labels=" + labels);
  };
  const std::vector<uint8_t> plain = drawn("metadata=analytics", "identity");
  EXPECT_NE(draw("metadata=analytics", "false"), plain);
  EXPECT_EQ(draw("metadata=segmentation", "false"), plain);
  if (!has_fonts()) {
    GTEST_SKIP() << "textoverlay writes nothing here: it is missing, or there are no fonts";
  }
  EXPECT_NE(draw("metadata=analytics object-type=a", "true"),
            draw("metadata=analytics object-type=b", "true"));
  EXPECT_EQ(draw("metadata=analytics object-type=a name=x", "true"),
            draw("metadata=analytics object-type=a name=y", "true"));
}

/// ioutracker gives ids to detections that have none.
TEST(AnalyticsElements, IouTrackerFollowsTheObjects) {
  if (!has_element("ioutracker")) {
    GTEST_SKIP() << "no ioutracker: it is in GStreamer 1.28";
  }
  Pipeline p("appsrc name=in format=time caps=" + caps_text("GRAY8", kShapes.width, kShapes.height) +
             " ! cudaccl backend=" + backend() +
             " output=passthrough metadata=analytics ! ioutracker ! appsink name=out sync=false");
  for (int frame = 0; frame < 3; ++frame) {
    ASSERT_EQ(p.push(make_frame(kShapes, "GRAY8")), GST_FLOW_OK);
    const Ref<GstSample> sample = p.pull();
    ASSERT_NE(sample, nullptr);
    GstAnalyticsRelationMeta* relations =
        gst_buffer_get_analytics_relation_meta(gst_sample_get_buffer(sample.get()));
    ASSERT_NE(relations, nullptr);
    gpointer state = nullptr;
    GstAnalyticsMtd detection;
    std::vector<guint64> ids;
    while (gst_analytics_relation_meta_iterate(relations, &state, gst_analytics_od_mtd_get_mtd_type(),
                                               &detection)) {
      GstAnalyticsMtd track;
      guint64 id = 99;
      ASSERT_TRUE(gst_analytics_relation_meta_get_direct_related(
          relations, detection.id, GST_ANALYTICS_REL_TYPE_RELATE_TO,
          gst_analytics_tracking_mtd_get_mtd_type(), nullptr, &track));
      ASSERT_TRUE(gst_analytics_tracking_mtd_get_info(&track, &id, nullptr, nullptr, nullptr));
      ids.push_back(id);
    }
    EXPECT_EQ(std::set<guint64>(ids.begin(), ids.end()).size(), 5u);
    EXPECT_EQ(*std::max_element(ids.begin(), ids.end()), *std::min_element(ids.begin(), ids.end()) + 4);
  }
}

}  // namespace cudaccl::test

#else

TEST(AnalyticsMask, NeedsGStreamer126) {
  GTEST_SKIP() << "built with GStreamer " << GST_VERSION_MAJOR << "." << GST_VERSION_MINOR
               << ": masks and rotated boxes need 1.26";
}

#endif
