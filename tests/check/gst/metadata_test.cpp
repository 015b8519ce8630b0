// SPDX-License-Identifier: LGPL-2.1-or-later
/// Components in a buffer's metadata: GstCudaCclMeta and regions of interest.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness.h"

namespace cudaccl::test {

namespace {

std::vector<GstVideoRegionOfInterestMeta*> rois_of(GstBuffer* buffer) {
  std::vector<GstVideoRegionOfInterestMeta*> rois;
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_VIDEO_REGION_OF_INTEREST_META_API_TYPE)) {
    rois.push_back(reinterpret_cast<GstVideoRegionOfInterestMeta*>(meta));
  }
  return rois;
}

}  // namespace

TEST(Components, FieldsOfTheStructure) {
  Harness h("output=mask", kShapes);
  const Ref<GstBuffer> out = h.process(kShapes);
  GstStructure* structure = structure_of(out.get());
  ASSERT_NE(structure, nullptr);
  guint version = 0, width = 0, height = 0, count = 0;
  gboolean overflow = TRUE;
  gboolean saturated = TRUE;
  EXPECT_TRUE(gst_structure_get(structure, "layout-version", G_TYPE_UINT, &version, "width", G_TYPE_UINT,
                                &width, "height", G_TYPE_UINT, &height, "n-components", G_TYPE_UINT, &count,
                                "overflow", G_TYPE_BOOLEAN, &overflow, "labels-saturated", G_TYPE_BOOLEAN,
                                &saturated, nullptr));
  EXPECT_EQ(version, 1u);
  EXPECT_EQ(width, kShapes.width);
  EXPECT_EQ(height, kShapes.height);
  EXPECT_EQ(count, 5u);
  EXPECT_FALSE(overflow);
  EXPECT_FALSE(saturated);
  const GValue* records = gst_structure_get_value(structure, "components");
  ASSERT_NE(records, nullptr);
  ASSERT_TRUE(G_VALUE_HOLDS(records, G_TYPE_BYTES));
  EXPECT_EQ(g_bytes_get_size(static_cast<GBytes*>(g_value_get_boxed(records))), 5 * 64u + 1)
      << "padded to a multiple of three";
  for (const char* field : {"tracks", "events", "zones", "lines"}) {
    EXPECT_FALSE(gst_structure_has_field(structure, field)) << field << ": only with track=true";
  }
}

/// Fields of version 1 stay as they are. Without one of them there are no records.
TEST(Components, AreReadFromLaterVersions) {
  Harness h("output=mask", kShapes);
  const std::vector<CclComponent> expected = label(kShapes, {}).records;
  const Ref<GstBuffer> out = h.process(kShapes);
  GstStructure* structure = structure_of(out.get());
  GstCudaCclInfo info{};
  for (const guint version : {1u, 99u}) {
    gst_structure_set(structure, "layout-version", G_TYPE_UINT, version, "later", G_TYPE_STRING, "field",
                      nullptr);
    ASSERT_TRUE(gst_buffer_get_cudaccl_info(out.get(), &info)) << version;
    expect_records(info.records, info.n_records, expected);
    EXPECT_FALSE(info.is_tracked);
    EXPECT_EQ(info.n_tracks + info.n_events, 0u);
    EXPECT_EQ(info.zones, nullptr);
  }
  for (const char* field :
       {"layout-version", "width", "overflow", "level", "components", "source", "frame"}) {
    const Ref<GstBuffer> copy(gst_buffer_copy_deep(out.get()));
    gst_structure_remove_field(structure_of(copy.get()), field);
    EXPECT_FALSE(gst_buffer_get_cudaccl_info(copy.get(), &info)) << field;
  }
}

/// Another program may have made it. fuzz_meta.cpp shows that nothing outside is read.
TEST(Components, BrokenMetadataIsLeftOut) {
  Harness h("output=mask track=true", kShapes);
  const Ref<GstBuffer> out = h.process(kShapes);
  const GstStructure* whole = structure_of(out.get());
  GstCudaCclInfo info{};
  const auto is_read = [&](const char* field, GType type, auto value) {
    const Ref<GstStructure> copy(gst_structure_copy(whole));
    gst_structure_set(copy.get(), field, type, value, nullptr);
    return gst_structure_get_cudaccl_info(copy.get(), &info) != FALSE;
  };
  EXPECT_TRUE(is_read("width", G_TYPE_UINT, 9u));
  EXPECT_FALSE(is_read("width", G_TYPE_UINT, 0u));
  EXPECT_FALSE(is_read("height", G_TYPE_UINT, 0u));
  EXPECT_FALSE(is_read("n-components", G_TYPE_INT, -1));
  EXPECT_FALSE(is_read("layout-version", G_TYPE_UINT, 0u));
  EXPECT_FALSE(is_read("frame", G_TYPE_INT64, gint64{0}));
  EXPECT_FALSE(is_read("source", G_TYPE_UINT, 0u));
  EXPECT_FALSE(is_read("zones", G_TYPE_STRING, "door"));
  EXPECT_FALSE(is_read("utc", G_TYPE_STRING, "noon"));
  EXPECT_FALSE(is_read("utc-clock", G_TYPE_UINT, 1u));
  constexpr gsize kEven = 64;
  const std::vector<guint8> zeros(3 * kEven);
  for (const char* field : {"components", "tracks", "events"}) {
    EXPECT_FALSE(is_read(field, G_TYPE_STRING, "text")) << field;
    for (const auto& [size, is_whole] :
         {std::pair{kEven, true}, std::pair{kEven + 3, true}, std::pair{kEven + 4, false},
          std::pair{kEven - 1, false}, std::pair{gsize{0}, true}}) {
      GBytes* bytes = g_bytes_new(zeros.data(), size);
      EXPECT_EQ(is_read(field, G_TYPE_BYTES, bytes), is_whole) << field << " of " << size << " bytes";
      g_bytes_unref(bytes);
    }
  }
  for (const char* field : {"events", "zones", "lines"}) {
    const Ref<GstStructure> copy(gst_structure_copy(whole));
    gst_structure_remove_field(copy.get(), field);
    EXPECT_FALSE(gst_structure_get_cudaccl_info(copy.get(), &info)) << "tracks without " << field;
  }
}

/// Each polygon is inside of the vertices, but all together have more: JSON of it would have no bound.
TEST(Components, PolygonsThatShareVerticesAreLeftOut) {
  Harness h("output=mask features=hull", kShapes);
  const Ref<GstBuffer> out = h.process(kShapes);
  const GstStructure* whole = structure_of(out.get());
  const auto is_read = [&](const std::vector<CclPolygon>& polygons) {
    constexpr gsize kVertices = 6;
    const std::vector<CclVertex> vertices(kVertices);
    const Ref<GstStructure> copy(gst_structure_copy(whole));
    const auto set = [&](const char* field, const void* data, gsize size) {
      GBytes* bytes = g_bytes_new(data, size);
      gst_structure_set(copy.get(), field, G_TYPE_BYTES, bytes, nullptr);
      g_bytes_unref(bytes);
    };
    set("polygons", polygons.data(), polygons.size() * sizeof(CclPolygon));
    set("vertices", vertices.data(), kVertices * sizeof(CclVertex));
    GstCudaCclInfo info{};
    return gst_structure_get_cudaccl_info(copy.get(), &info) != FALSE;
  };
  const auto hull = [](uint32_t first, uint32_t n_vertices) {
    return CclPolygon{
        .label = 1, .id = 1, .kind = CCL_POLYGON_HULL, .first = first, .n_vertices = n_vertices};
  };
  EXPECT_TRUE(is_read({hull(0, 3), hull(3, 3)}));
  EXPECT_TRUE(is_read({hull(3, 3), hull(6, 0), hull(0, 3)}));
  EXPECT_FALSE(is_read({hull(3, 4)}));
  EXPECT_FALSE(is_read({hull(0, 6), hull(0, 1)}));
  EXPECT_FALSE(is_read(std::vector<CclPolygon>(5000, hull(0, 6))));
}

/// A record that a track or an event names need not exist.
TEST(Components, IndicesOutsideOfArraysGiveNothing) {
  const CclComponent component{};
  GstCudaCclInfo info{};
  info.records = &component;
  info.n_records = 1;
  CclTrack track{};
  EXPECT_EQ(gst_cudaccl_track_component(&info, &track), &component);
  for (const guint outside : {1u, CCL_NO_COMPONENT}) {
    track.component = outside;
    EXPECT_EQ(gst_cudaccl_track_component(&info, &track), nullptr) << outside;
  }
  EXPECT_EQ(gst_cudaccl_event_nick(CCL_EVENT_COUNT), nullptr);
}

/// Computed by hand, to find mistakes in the tests' own flood fill.
TEST(Components, RecordsOfAKnownPicture) {
  Harness h("output=passthrough", "GRAY8", 7, 6);
  const Ref<GstBuffer> out =
      h.process(picture({".......", ".###...", ".#.#...", ".###...", "......#", "......#"}));
  const GstCudaCclInfo info = components_of(out.get());
  const float moment = 0.75f;  // six pixels at distance 1 and two at 0, squared, over eight
  expect_records(info.records, info.n_records,
                 {{.label = 1,
                   .id = 1,
                   .area = 8,
                   .x = 1,
                   .y = 1,
                   .width = 3,
                   .height = 3,
                   .cx = 2,
                   .cy = 2,
                   .mxx = moment,
                   .mxy = 0,
                   .myy = moment,
                   .perimeter = 16,
                   .euler = 0,
                   .flags = 0,
                   .value = 255,
                   .age = 0},
                  {.label = 2,
                   .id = 2,
                   .area = 2,
                   .x = 6,
                   .y = 4,
                   .width = 1,
                   .height = 2,
                   .cx = 6,
                   .cy = 4.5f,
                   .mxx = 0,
                   .mxy = 0,
                   .myy = 0.25f,
                   .perimeter = 6,
                   .euler = 1,
                   .flags = CCL_COMPONENT_TOUCHES_BORDER,
                   .value = 255,
                   .age = 0}});
}

TEST(Components, NoneInAnEmptyFrameAndOneInAFullOne) {
  Harness h("output=labels", "GRAY8", 33, 9);
  const Ref<GstBuffer> empty = h.process(blank(33, 9));
  EXPECT_EQ(components_of(empty.get()).n_components, 0u);
  EXPECT_EQ(components_of(empty.get()).n_records, 0u);
  const Ref<GstBuffer> full = h.process(blank(33, 9, 255));
  const GstCudaCclInfo info = components_of(full.get());
  expect_records(info.records, info.n_records, label(blank(33, 9, 255), {}).records);
}

TEST(Components, OverflowIsReportedAndKeepsTheLargest) {
  Harness h("output=labels max-components=1", kShapes);
  const Expected expected = label(kShapes, {});
  const Ref<GstBuffer> out = h.process(kShapes);
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_EQ(info.n_components, 5u);
  EXPECT_TRUE(info.overflow);
  expect_records(info.records, info.n_records, largest(expected.records, 1));
  EXPECT_EQ(h.pixels(out), labels(expected)) << "all components are painted";
  EXPECT_EQ(h.stat("overflow"), 1u);
  // A tie goes to the smaller label.
  h.set("max-area", "4");
  const Ref<GstBuffer> tie = h.process(kShapes);
  EXPECT_EQ(components_of(tie.get()).records[0].label, 2u);
}

TEST(Components, SaturatedLabelsAreReported) {
  // Every other pixel of every other row: 260 × 260 components.
  const Image many = dots(520, 520);
  Harness h("output=labels", many);
  const Ref<GstBuffer> out = h.process(many);
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_EQ(info.n_components, 67600u);
  EXPECT_TRUE(info.labels_saturated);
  EXPECT_TRUE(info.overflow);
  EXPECT_EQ(info.n_records, 16384u);
  const std::vector<uint8_t> pixels = h.pixels(out);
  const auto label_at = [&](uint32_t x, uint32_t y) {
    const size_t i = (size_t{y} * many.width + x) * 2;
    return pixels[i] | pixels[i + 1] << 8;
  };
  EXPECT_EQ(label_at(0, 0), 1);
  EXPECT_EQ(label_at(2, 0), 2);
  EXPECT_EQ(label_at(28, 252 * 2), 65535);
  EXPECT_EQ(label_at(26, 252 * 2), 65534);
  EXPECT_EQ(label_at(518, 518), 65535);
  h.set("output", "mask");
  EXPECT_FALSE(components_of(h.process(many).get()).labels_saturated) << "a mask has no labels to saturate";
}

/// Later frames do not overwrite the records of a buffer.
TEST(Components, OutliveLaterFrames) {
  Harness h("output=passthrough", "GRAY8", 45, 33);
  const Ref<GstBuffer> first = h.process(noise(45, 33, 1));
  for (int i = 2; i < 6; ++i) {
    h.process(noise(45, 33, i));
  }
  const GstCudaCclInfo info = components_of(first.get());
  expect_records(info.records, info.n_records, label(noise(45, 33, 1), {}).records);
}

TEST(RegionsOfInterest, LargestFirstWithTheirParameters) {
  Harness h("output=mask metadata=roi", kShapes);
  std::vector<CclComponent> expected = label(kShapes, {}).records;
  std::stable_sort(expected.begin(), expected.end(),
                   [](const CclComponent& a, const CclComponent& b) { return a.area > b.area; });
  for (const size_t limit : {size_t{256}, size_t{3}, size_t{1}, size_t{0}}) {
    h.set("max-objects", std::to_string(limit));
    const Ref<GstBuffer> out = h.process(kShapes);
    const std::vector<GstVideoRegionOfInterestMeta*> rois = rois_of(out.get());
    ASSERT_EQ(rois.size(), std::min(limit, expected.size()));
    for (size_t i = 0; i < rois.size(); ++i) {
      EXPECT_STREQ(g_quark_to_string(rois[i]->roi_type), "component");
      EXPECT_EQ(rois[i]->id, static_cast<gint>(expected[i].id));
      EXPECT_EQ(rois[i]->x, expected[i].x);
      EXPECT_EQ(rois[i]->y, expected[i].y);
      EXPECT_EQ(rois[i]->w, expected[i].width);
      EXPECT_EQ(rois[i]->h, expected[i].height);
      GstStructure* param = gst_video_region_of_interest_meta_get_param(rois[i], "component");
      ASSERT_NE(param, nullptr);
      EXPECT_STREQ(gst_structure_get_string(param, "source"), GST_OBJECT_NAME(h.element()));
      guint label = 0, area = 0;
      gdouble cx = -1, cy = -1;
      EXPECT_TRUE(gst_structure_get(param, "label", G_TYPE_UINT, &label, "area", G_TYPE_UINT, &area, "cx",
                                    G_TYPE_DOUBLE, &cx, "cy", G_TYPE_DOUBLE, &cy, nullptr));
      EXPECT_EQ(label, expected[i].label);
      EXPECT_EQ(area, expected[i].area);
      EXPECT_DOUBLE_EQ(cx, expected[i].cx);
      EXPECT_DOUBLE_EQ(cy, expected[i].cy);
    }
  }
}

}  // namespace cudaccl::test
