// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics and polygons in a buffer's metadata: `features=grey+rectangle+hull+contour+inradius`.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "harness.h"

namespace cudaccl::test {

namespace {

/// Areas 3, 8 with a hole, 4.
const Image kPicture =
    picture({"ab.......", ".c.###...", "...#.#...", "...###..b", ".......bb", "........z"});

std::vector<std::pair<float, float>> vertices_of(const GstCudaCclInfo& info, const CclPolygon& polygon) {
  std::vector<std::pair<float, float>> vertices;
  for (guint i = polygon.first; i < polygon.first + polygon.n_vertices; ++i) {
    vertices.emplace_back(info.vertices[i].x, info.vertices[i].y);
  }
  return vertices;
}

/// Twice the area; negative if the polygon runs counterclockwise.
double doubled_area(const GstCudaCclInfo& info, const CclPolygon& polygon) {
  const auto v = vertices_of(info, polygon);
  double sum = 0;
  for (size_t i = 0; i < v.size(); ++i) {
    const auto& [x, y] = v[i];
    const auto& [next_x, next_y] = v[(i + 1) % v.size()];
    sum += double{x} * next_y - double{y} * next_x;
  }
  return sum;
}

/// Whether the outlines of each component, less its holes, have its area.
void expect_areas(const GstCudaCclInfo& info, const std::vector<CclComponent>& components) {
  std::map<uint32_t, double> areas;
  for (guint i = 0; i < info.n_polygons; ++i) {
    const CclPolygon& polygon = info.polygons[i];
    if (polygon.kind == CCL_POLYGON_OUTLINE || polygon.kind == CCL_POLYGON_HOLE) {
      areas[polygon.label] += doubled_area(info, polygon) / 2;
    }
  }
  ASSERT_EQ(areas.size(), components.size());
  for (const CclComponent& c : components) {
    EXPECT_EQ(areas[c.label], c.area) << c.label;
  }
}

}  // namespace

TEST(Shapes, OffByDefault) {
  Harness h("output=mask", kPicture);
  const Ref<GstBuffer> out = h.process(kPicture);
  for (const char* field : {"grey", "polygons", "vertices", "polygons-truncated"}) {
    EXPECT_FALSE(gst_structure_has_field(structure_of(out.get()), field)) << field;
  }
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_FALSE(info.has_grey || info.has_polygons);
  EXPECT_EQ(info.n_grey + info.n_polygons + info.n_vertices, 0u);
  EXPECT_EQ(gst_cudaccl_component_grey(&info, &info.records[0]), nullptr);
}

TEST(Shapes, GreyStatisticsOfAKnownPicture) {
  for (const char* output : {"passthrough", "mask", "colorized"}) {
    Harness h("features=moments+grey output=" + std::string(output), kPicture);
    const Ref<GstBuffer> out = h.process(kPicture);
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_TRUE(info.has_grey);
    EXPECT_FALSE(info.has_polygons);
    ASSERT_EQ(info.n_grey, 3u);
    const CclGrey& first = info.grey[0];  // 1, 2 and below it 3
    EXPECT_EQ(gst_cudaccl_component_grey(&info, &info.records[0]), &first);
    EXPECT_EQ(first.label, 1u);
    EXPECT_EQ(first.sum, 6u);
    EXPECT_EQ(first.min, 1u);
    EXPECT_EQ(first.max, 3u);
    EXPECT_EQ(first.mean, 2.0f);
    EXPECT_EQ(first.variance, static_cast<float>(2.0 / 3.0));
    EXPECT_EQ(first.cx, static_cast<float>(5.0 / 6.0));
    EXPECT_EQ(first.cy, 0.5f);
    EXPECT_EQ(info.grey[1].mean, 255.0f);
    EXPECT_EQ(info.grey[1].variance, 0.0f);
    EXPECT_EQ(info.grey[2].max, 26u);
    EXPECT_NE(info.records[0].mxx, 0.0f);
    EXPECT_EQ(info.records[0].perimeter, 0u) << "other features are off";
  }
}

TEST(Shapes, GreyStatisticsOfAllBits) {
  Harness h("features=grey threshold=1000 output=passthrough", "GRAY16_LE", 4, 1);
  Ref<GstBuffer> frame(gst_buffer_new_allocate(nullptr, 8, nullptr));
  const std::vector<guint16> values = {1000, 2001, 0, 65535};
  std::vector<guint8> bytes;
  for (const guint16 value : values) {
    bytes.push_back(static_cast<guint8>(value & 0xff));
    bytes.push_back(static_cast<guint8>(value >> 8));
  }
  gst_buffer_fill(frame.get(), 0, bytes.data(), bytes.size());
  const Ref<GstBuffer> out = h.process(std::move(frame));
  const GstCudaCclInfo info = components_of(out.get());
  ASSERT_EQ(info.n_grey, 2u);
  EXPECT_EQ(info.grey[0].mean, 1500.5f);
  EXPECT_EQ(info.grey[0].max, 2001u);
  EXPECT_EQ(info.grey[1].min, 65535u);
}

TEST(Shapes, PolygonsOfAKnownPicture) {
  Harness h("features=rectangle+hull+contour output=passthrough", kPicture);
  const Ref<GstBuffer> out = h.process(kPicture);
  const GstCudaCclInfo info = components_of(out.get());
  ASSERT_TRUE(info.has_polygons);
  EXPECT_FALSE(info.has_grey);
  EXPECT_FALSE(info.polygons_truncated);
  const std::vector<std::pair<uint32_t, uint32_t>> want = {
      {2, CCL_POLYGON_RECTANGLE}, {2, CCL_POLYGON_HULL},      {2, CCL_POLYGON_OUTLINE},
      {2, CCL_POLYGON_HOLE},      {3, CCL_POLYGON_RECTANGLE}, {3, CCL_POLYGON_HULL},
      {3, CCL_POLYGON_OUTLINE},   {1, CCL_POLYGON_RECTANGLE}, {1, CCL_POLYGON_HULL},
      {1, CCL_POLYGON_OUTLINE}};
  ASSERT_EQ(info.n_polygons, want.size()) << "the largest components first";
  for (guint i = 0; i < want.size(); ++i) {
    EXPECT_EQ(std::pair(info.polygons[i].label, info.polygons[i].kind), want[i]) << i;
    EXPECT_EQ(info.polygons[i].id, info.polygons[i].label);
  }
  using Vertices = std::vector<std::pair<float, float>>;
  EXPECT_EQ(vertices_of(info, info.polygons[0]), (Vertices{{3, 1}, {6, 1}, {6, 4}, {3, 4}}));
  EXPECT_EQ(vertices_of(info, info.polygons[3]), (Vertices{{4, 2}, {4, 3}, {5, 3}, {5, 2}}));
  EXPECT_EQ(vertices_of(info, info.polygons[5]), (Vertices{{8, 3}, {9, 3}, {9, 6}, {8, 6}, {7, 5}, {7, 4}}));
  EXPECT_EQ(vertices_of(info, info.polygons[9]), (Vertices{{0, 0}, {2, 0}, {2, 2}, {1, 2}, {1, 1}, {0, 1}}));
}

/// Components of two values touch: each is background of the other.
TEST(Shapes, CirclesOfAKnownPicture) {
  Harness h("features=inradius foreground=values output=passthrough");
  const Image image = picture({"........", ".aaabbb.", ".aaabbb.", ".aaabbb.", "........", "c......."});
  ASSERT_TRUE(h.send_caps("GRAY8", image.width, image.height));
  const Ref<GstBuffer> out = h.process(image);
  const GstCudaCclInfo info = components_of(out.get());
  ASSERT_TRUE(info.has_polygons);
  using Vertices = std::vector<std::pair<float, float>>;
  const std::vector<std::pair<uint32_t, Vertices>> want = {
      {1, {{2.5f, 2.5f}, {4, 2.5f}}}, {2, {{5.5f, 2.5f}, {7, 2.5f}}}, {3, {{0.5f, 5.5f}, {1, 5.5f}}}};
  ASSERT_EQ(info.n_polygons, want.size());
  for (guint i = 0; i < want.size(); ++i) {
    const CclPolygon& polygon = info.polygons[i];
    EXPECT_STREQ(gst_cudaccl_polygon_nick(polygon.kind), "circle");
    EXPECT_EQ(std::pair(polygon.label, vertices_of(info, polygon)), want[i]);
  }
}

/// A frame that is one component has no circle, whatever its size.
TEST(Shapes, AWholeFrameHasNoCircle) {
  for (const guint size : {1u, 5u}) {
    Harness h("features=inradius output=passthrough", "GRAY8", size, size);
    Image image = blank(size, size);
    for (guint i = 0; i < size * size; ++i) {
      image.at(i % size, i / size) = 255;
    }
    const Ref<GstBuffer> out = h.process(image);
    const GstCudaCclInfo info = components_of(out.get());
    EXPECT_EQ(info.n_records, 1u);
    EXPECT_TRUE(info.has_polygons);
    EXPECT_EQ(info.n_polygons, 0u);
    EXPECT_FALSE(info.polygons_truncated);
  }
}

/// Every frame has its own polygons, however many are in flight.
TEST(Shapes, EveryFrameHasItsOwn) {
  for (const int depth : {0, 3}) {
    Harness h(
        "features=contour+perimeter+grey max-objects=100000 output=colorized connectivity=4-way "
        "pipeline-depth=" +
            std::to_string(depth),
        "GRAY8", 90, 70);
    for (uint32_t i = 0; i < 8; ++i) {
      ASSERT_EQ(h.push(noise(90, 70, i)), GST_FLOW_OK);
    }
    gst_harness_push_event(h.get(), gst_event_new_eos());
    for (uint32_t i = 0; i < 8; ++i) {
      const Ref<GstBuffer> out = h.pull();
      ASSERT_NE(out, nullptr) << i;
      const GstCudaCclInfo info = components_of(out.get());
      const Image image = noise(90, 70, i);
      const Expected expected = label(image, {.connectivity = 4});
      expect_areas(info, expected.records);
      ASSERT_EQ(info.n_grey, expected.records.size());
      for (guint r = 0; r < info.n_grey; ++r) {
        guint64 sum = 0;
        for (size_t p = 0; p < image.pixels.size(); ++p) {
          sum += expected.frame.labels[p] == info.grey[r].label ? image.pixels[p] : 0u;
        }
        ASSERT_EQ(info.grey[r].sum, sum);
      }
    }
  }
}

TEST(Shapes, AtMostMaxObjects) {
  Harness h("features=hull output=passthrough max-objects=3", "GRAY8", 90, 70);
  const Image image = noise(90, 70, 3);
  const Ref<GstBuffer> out = h.process(image);
  const GstCudaCclInfo info = components_of(out.get());
  ASSERT_GT(info.n_records, 3u);
  ASSERT_EQ(info.n_polygons, 3u);
  std::set<uint32_t> labels;
  for (guint i = 0; i < info.n_polygons; ++i) {
    labels.insert(info.polygons[i].label);
  }
  for (const CclComponent& c : largest(label(image, {}).records, 3)) {
    EXPECT_TRUE(labels.contains(c.label));
  }
}

/// A comb whose outline has too many vertices, and a small component, which has room.
TEST(Shapes, TooManyVertices) {
  constexpr uint32_t kSize = 1024;
  Image image = blank(kSize, kSize);
  for (uint32_t y = 0; y + 4 < kSize; ++y) {
    for (uint32_t x = 0; x < kSize; ++x) {
      image.at(x, y) = y % 4 == 0 || (x % 2 == 0 && y % 4 == 1) || x == 0 ? 255 : 0;
    }
  }
  image.at(9, kSize - 1) = 255;
  Harness h("features=contour output=passthrough", "GRAY8", kSize, kSize);
  const Ref<GstBuffer> out = h.process(image);
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_TRUE(info.polygons_truncated);
  ASSERT_EQ(info.n_polygons, 1u);
  EXPECT_EQ(info.polygons[0].label, 2u);
  h.set("features", "hull");
  const Ref<GstBuffer> next = h.process(image);
  EXPECT_EQ(components_of(next.get()).n_polygons, 2u) << "a hull needs few";
  EXPECT_FALSE(components_of(next.get()).polygons_truncated);
}

TEST(Shapes, EmptyFrames) {
  Harness h("features=grey+hull+contour output=mask", "GRAY8", 16, 16);
  const Ref<GstBuffer> out = h.process(blank(16, 16));
  const GstCudaCclInfo info = components_of(out.get());
  EXPECT_TRUE(info.has_grey && info.has_polygons);
  EXPECT_EQ(info.n_grey + info.n_polygons + info.n_vertices, 0u);
}

/// They go where the records go.
TEST(Shapes, OnlyWithRecords) {
  Harness h("features=grey+hull metadata=roi output=mask", kPicture);
  const Ref<GstBuffer> out = h.process(kPicture);
  EXPECT_EQ(count_component_metas(out.get()), 0);
}

TEST(Shapes, HaveTheIdsOfTracks) {
  Harness h("features=hull+grey track=true track-confirm=1 output=colorized min-area=3", kPicture);
  Image image = kPicture;
  std::map<uint32_t, uint32_t> id_of_label;
  for (int frame = 0; frame < 3; ++frame) {
    const Ref<GstBuffer> out = h.process(image);
    const GstCudaCclInfo info = components_of(out.get());
    ASSERT_EQ(info.n_polygons, info.n_records);
    for (guint i = 0; i < info.n_records; ++i) {
      id_of_label[info.records[i].label] = info.records[i].id;
    }
    for (guint i = 0; i < info.n_polygons; ++i) {
      EXPECT_EQ(info.polygons[i].id, id_of_label[info.polygons[i].label]);
    }
    image.at(0, 0) = image.at(1, 0) = image.at(1, 1) = 0;  // labels move, ids stay
  }
}

TEST(Shapes, AreScaledWithTheFrame) {
  Pipeline p("appsrc name=in format=time caps=\"" + caps_text("GRAY8", 9, 6) +
             "\" ! cudaccl backend=" + backend() +
             " features=grey+hull output=mask ! videoscale add-borders=false"
             " ! video/x-raw,width=18,height=18 ! appsink name=out sync=false");
  ASSERT_EQ(p.push(make_frame(kPicture, "GRAY8")), GST_FLOW_OK);
  const Ref<GstSample> sample = p.pull();
  ASSERT_NE(sample, nullptr);
  const GstCudaCclInfo info = components_of(gst_sample_get_buffer(sample.get()));
  ASSERT_EQ(info.n_grey, 3u);
  ASSERT_EQ(info.n_polygons, 3u);
  EXPECT_EQ(info.grey[1].cx, (4 + 0.5f) * 2 - 0.5f);
  EXPECT_EQ(info.grey[1].cy, (2 + 0.5f) * 3 - 0.5f);
  EXPECT_EQ(info.grey[1].mean, 255.0f);
  EXPECT_EQ(vertices_of(info, info.polygons[0]),
            (std::vector<std::pair<float, float>>{{6, 3}, {12, 3}, {12, 12}, {6, 12}}));
}

/// Behind a crop rectangle that stays on the buffer, polygons have places in the frame, and regions of
/// interest in the whole picture.
TEST(Shapes, OfACroppedFrameHavePlacesInTheFrame) {
  Image whole = blank(20, 16);
  for (uint32_t y = 0; y < kPicture.height; ++y) {
    for (uint32_t x = 0; x < kPicture.width; ++x) {
      whole.at(x + 5, y + 4) = kPicture.at(x, y);
    }
  }
  Ref<GstBuffer> frame = make_padded_frame(whole, "GRAY8", {});
  add_crop(frame.get(), 5, 4, kPicture.width, kPicture.height);
  Harness h("features=rectangle metadata=components+roi output=passthrough", kPicture);
  const Ref<GstBuffer> out = h.process(std::move(frame));
  const GstCudaCclInfo info = components_of(out.get());
  ASSERT_EQ(info.n_polygons, 3u);
  EXPECT_EQ(vertices_of(info, info.polygons[0]),
            (std::vector<std::pair<float, float>>{{3, 1}, {6, 1}, {6, 4}, {3, 4}}));
  const GstVideoRegionOfInterestMeta* region = gst_buffer_get_video_region_of_interest_meta_id(out.get(), 2);
  ASSERT_NE(region, nullptr);
  EXPECT_EQ(std::pair(region->x, region->y), std::pair(8u, 5u));
}

/// Metadata that was cut off or changed on its way is no metadata.
TEST(Shapes, ReaderChecksTables) {
  Harness h("features=grey+hull output=mask", kPicture);
  const Ref<GstBuffer> out = h.process(kPicture);
  GstStructure* structure = structure_of(out.get());
  GstCudaCclInfo info{};
  const auto refuses = [&](const char* field, gsize bytes) {
    const GValue old = *gst_structure_get_value(structure, field);
    GValue kept = G_VALUE_INIT;
    g_value_init(&kept, G_TYPE_BYTES);
    g_value_copy(&old, &kept);
    const std::vector<guint8> zeros(bytes);
    GBytes* shorter = g_bytes_new(zeros.data(), bytes);
    gst_structure_set(structure, field, G_TYPE_BYTES, shorter, nullptr);
    g_bytes_unref(shorter);
    const bool is_refused = gst_buffer_get_cudaccl_info(out.get(), &info) == FALSE;
    gst_structure_take_value(structure, field, &kept);
    return is_refused;
  };
  EXPECT_TRUE(refuses("vertices", 5 * sizeof(CclVertex))) << "fewer than the polygons name";
  EXPECT_TRUE(refuses("grey", 2 * sizeof(CclGrey))) << "fewer than components";
  EXPECT_TRUE(refuses("polygons", sizeof(CclPolygon) / 2));
  EXPECT_FALSE(refuses("vertices", 500 * sizeof(CclVertex)));
  ASSERT_TRUE(gst_buffer_get_cudaccl_info(out.get(), &info));
  gst_structure_remove_field(structure, "polygons-truncated");
  EXPECT_FALSE(gst_buffer_get_cudaccl_info(out.get(), &info));
}

}  // namespace cudaccl::test
