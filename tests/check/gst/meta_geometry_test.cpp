// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records that follow their picture, against the records of the picture where it went.
#include "metadata/meta_geometry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ccl/shape.h"
#include "expectation.h"

namespace cudaccl::test {

namespace {

constexpr uint32_t kWidth = 61;
constexpr uint32_t kHeight = 43;

/// The picture where the map puts it, by the map's definition.
Image moved(const Image& image, const PictureMap& map) {
  Image result = blank(map.width, map.height);
  for (int32_t y = 0; y < map.to.height; ++y) {
    for (int32_t x = 0; x < map.to.width; ++x) {
      int32_t column = map.flips_x ? map.to.width - 1 - x : x;
      int32_t row = map.flips_y ? map.to.height - 1 - y : y;
      if (map.swaps_axes) {
        std::swap(column, row);
      }
      const auto to_x = static_cast<uint32_t>(x + map.to.x);
      const auto to_y = static_cast<uint32_t>(y + map.to.y);
      if (to_x < map.width && to_y < map.height) {
        result.at(to_x, to_y) =
            image.at(static_cast<uint32_t>(column + map.from.x), static_cast<uint32_t>(row + map.from.y));
      }
    }
  }
  return result;
}

/// Without labels, which are those of the frame that was labelled. Of components with one box there is one
/// with the leftmost pixel in its first row, so this order is unique enough for blobs: checked by the caller.
std::vector<CclComponent> by_place(std::vector<CclComponent> records) {
  for (CclComponent& record : records) {
    record.label = record.id = 0;
  }
  std::sort(records.begin(), records.end(), [](const CclComponent& a, const CclComponent& b) {
    return std::tie(a.y, a.x, a.height, a.width, a.area, a.cx, a.cy) <
           std::tie(b.y, b.x, b.height, b.width, b.area, b.cx, b.cy);
  });
  return records;
}

struct NamedMap {
  const char* name;
  bool swaps_axes, flips_x, flips_y;
};

/// The eight rotations and mirrorings of videoflip.
constexpr NamedMap kOrientations[] = {
    {"Identity", false, false, false},         {"Clockwise", true, true, false},
    {"Rotate180", false, true, true},          {"Counterclockwise", true, false, true},
    {"HorizontalFlip", false, true, false},    {"VerticalFlip", false, false, true},
    {"UpperLeftDiagonal", true, false, false}, {"UpperRightDiagonal", true, true, true},
};

/// The whole frame in this orientation.
PictureMap whole_map(const NamedMap& orientation) {
  PictureMap map = orientation.swaps_axes ? scale_map(kWidth, kHeight, kHeight, kWidth)
                                          : scale_map(kWidth, kHeight, kWidth, kHeight);
  map.swaps_axes = orientation.swaps_axes;
  map.flips_x = orientation.flips_x;
  map.flips_y = orientation.flips_y;
  return map;
}

CclComponent make_component(uint32_t label, uint32_t x, uint32_t y, uint32_t width, uint32_t height) {
  CclComponent component{};
  component.label = component.id = label;
  component.area = width * height;
  component.x = x;
  component.y = y;
  component.width = width;
  component.height = height;
  return component;
}

CclGrey make_grey(uint32_t label, float cx, float cy) {
  CclGrey grey{};
  grey.sum = uint64_t{100} * label;
  grey.label = label;
  grey.cx = cx;
  grey.cy = cy;
  return grey;
}

CclTrack make_track(uint32_t id, uint32_t component, uint16_t x, uint16_t y, uint16_t width,
                    uint16_t height) {
  CclTrack track{};
  track.id = id;
  track.component = component;
  track.cx = static_cast<float>(x + (width - 1) / 2.0);
  track.cy = static_cast<float>(y + (height - 1) / 2.0);
  track.vx = 2;
  track.vy = -3;
  track.x = x;
  track.y = y;
  track.width = width;
  track.height = height;
  track.zones = 5;
  return track;
}

CclEvent make_event(uint32_t type, uint32_t id, float x, float y) {
  CclEvent event{};
  event.type = type;
  event.id = id;
  event.where = 2;
  event.x = x;
  event.y = y;
  return event;
}

class Orientation : public testing::TestWithParam<NamedMap> {};

/// Records of a labelled image, with these polygons.
FrameRecords records_with_polygons(const Image& image,
                                   uint32_t features = ccl::kFeatureHull | ccl::kFeatureContour) {
  const Expected expected = label(image, {.threshold = 100});
  FrameRecords records{.components = expected.records};
  ccl::PolygonMaker maker(1 << 16);
  maker.make({.image = {expected.frame.labels.data(), image.width},
              .width = image.width,
              .height = image.height,
              .connectivity = expected.settings.connectivity,
              .features = features,
              .components = records.components});
  records.polygons.assign(maker.polygons().begin(), maker.polygons().end());
  records.vertices.assign(maker.vertices().begin(), maker.vertices().end());
  return records;
}

using NamedPolygon = std::pair<uint32_t, std::vector<std::pair<float, float>>>;

/// Kinds and vertices, sorted: labels are those of the frame that was labelled.
std::vector<NamedPolygon> named_polygons(const FrameRecords& records) {
  std::vector<NamedPolygon> list;
  for (const CclPolygon& polygon : records.polygons) {
    list.emplace_back(polygon.kind, std::vector<std::pair<float, float>>{});
    for (uint32_t i = 0; i < polygon.n_vertices; ++i) {
      const CclVertex& vertex = records.vertices[polygon.first + i];
      list.back().second.emplace_back(vertex.x, vertex.y);
    }
  }
  std::sort(list.begin(), list.end());
  return list;
}

}  // namespace

TEST_P(Orientation, RecordsAreThoseOfTheNewPicture) {
  const PictureMap map = whole_map(GetParam());
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const Image image = noise(kWidth, kHeight, seed);
    const FrameRecords mapped = map_records(map, {.components = label(image, {.threshold = 100}).records});
    const std::vector<CclComponent> expected = label(moved(image, map), {.threshold = 100}).records;
    ASSERT_GT(expected.size(), 20U);
    EXPECT_TRUE(
        std::is_sorted(mapped.components.begin(), mapped.components.end(),
                       [](const CclComponent& a, const CclComponent& b) { return a.label < b.label; }));
    expect_records(by_place(mapped.components).data(), mapped.components.size(), by_place(expected));
  }
}

/// Polygons of the moved picture, made again, are the moved polygons.
TEST_P(Orientation, PolygonsAreThoseOfTheNewPicture) {
  const PictureMap map = whole_map(GetParam());
  const Image image = noise(kWidth, kHeight, 3);
  const FrameRecords old = records_with_polygons(image);
  const FrameRecords mapped = map_records(map, old);
  const FrameRecords expected = records_with_polygons(moved(image, map));
  ASSERT_GT(expected.polygons.size(), 60U);
  EXPECT_EQ(named_polygons(mapped), named_polygons(expected));
}

/// A disc, of which one pixel alone is the farthest from background, whatever the orientation.
TEST_P(Orientation, CircleIsThatOfTheNewPicture) {
  const PictureMap map = whole_map(GetParam());
  Image image = blank(kWidth, kHeight);
  for (uint32_t y = 0; y < kHeight; ++y) {
    for (uint32_t x = 0; x < kWidth; ++x) {
      image.at(x, y) = (x - 12) * (x - 12) + (y - 9) * (y - 9) <= 30 ? 255 : 0;
    }
  }
  const FrameRecords old = records_with_polygons(image, ccl::kFeatureInradius);
  const FrameRecords mapped = map_records(map, old);
  const FrameRecords expected = records_with_polygons(moved(image, map), ccl::kFeatureInradius);
  ASSERT_EQ(expected.polygons.size(), 1U);
  ASSERT_EQ(mapped.polygons.size(), 1U);
  ASSERT_EQ(mapped.vertices.size(), 2U);
  EXPECT_EQ(mapped.vertices[0].x, expected.vertices[0].x);
  EXPECT_EQ(mapped.vertices[0].y, expected.vertices[0].y);
  EXPECT_EQ(mapped.vertices[1].y, expected.vertices[1].y);
  EXPECT_NEAR(mapped.vertices[1].x, expected.vertices[1].x, 1e-5);
  EXPECT_GT(mapped.vertices[1].x, mapped.vertices[0].x) << "the point is on the right";
}

/// With the same scale in both directions, a circle has the new scale; else it is none, and its component's
/// other polygons stay.
TEST(Geometry, CirclesStayCirclesOrGo) {
  const FrameRecords records = {
      .components = {make_component(1, 10, 20, 12, 12)},
      .polygons = {{.label = 1, .id = 1, .kind = CCL_POLYGON_HULL, .first = 0, .n_vertices = 4},
                   {.label = 1, .id = 1, .kind = CCL_POLYGON_CIRCLE, .first = 4, .n_vertices = 2}},
      .vertices = {{10, 20}, {22, 20}, {22, 32}, {10, 32}, {15.5F, 25.5F}, {21, 25.5F}}};
  const FrameRecords larger = map_records(scale_map(100, 80, 150, 120), records);
  ASSERT_EQ(larger.polygons.size(), 2U);
  EXPECT_EQ(named_polygons(larger)[1],
            (NamedPolygon{CCL_POLYGON_CIRCLE, {{23.25F, 38.25F}, {31.5F, 38.25F}}}));
  for (const PictureMap& map : {scale_map(100, 80, 100, 160), scale_map(100, 80, 101, 80)}) {
    const FrameRecords other = map_records(map, records);
    ASSERT_EQ(other.polygons.size(), 1U);
    EXPECT_EQ(other.polygons[0].kind, uint32_t{CCL_POLYGON_HULL});
    EXPECT_EQ(other.vertices.size(), 4U);
  }
}

/// Metadata may come from anywhere.
TEST(Geometry, ACircleOfAnotherNumberOfVerticesGoes) {
  for (const uint32_t n : {0U, 1U, 3U}) {
    const FrameRecords mapped = map_records(
        scale_map(100, 80, 100, 80),
        {.components = {make_component(1, 10, 20, 12, 12)},
         .polygons = {{.label = 1, .id = 1, .kind = CCL_POLYGON_CIRCLE, .first = 0, .n_vertices = n}},
         .vertices = std::vector<CclVertex>(n)});
    EXPECT_TRUE(mapped.polygons.empty());
  }
}

/// What is not shown has no polygons and no grey statistics. What is cut keeps them as a whole.
TEST(Geometry, ShapesFollowTheirComponents) {
  PictureMap map = scale_map(100, 80, 50, 40);
  map.from = {20, 10, 50, 40};
  const FrameRecords mapped = map_records(
      map, {.components = {make_component(1, 0, 0, 5, 5), make_component(4, 15, 20, 10, 4)},
            .grey = {make_grey(1, 2, 2), make_grey(4, 19.5F, 21)},
            .polygons = {{.label = 1, .id = 1, .kind = CCL_POLYGON_HULL, .first = 0, .n_vertices = 3},
                         {.label = 4, .id = 9, .kind = CCL_POLYGON_HULL, .first = 3, .n_vertices = 4}},
            .vertices = {{0, 0}, {5, 0}, {0, 5}, {15, 20}, {25, 20}, {25, 24}, {15, 24}}});
  ASSERT_EQ(mapped.components.size(), 1U);
  EXPECT_EQ(mapped.components[0].flags & CCL_COMPONENT_CUT, CCL_COMPONENT_CUT);
  ASSERT_EQ(mapped.grey.size(), 1U);
  EXPECT_EQ(mapped.grey[0].label, 4U);
  EXPECT_EQ(mapped.grey[0].sum, 400U);
  EXPECT_EQ(mapped.grey[0].cx, -0.5F);
  EXPECT_EQ(mapped.grey[0].cy, 11.0F);
  ASSERT_EQ(mapped.polygons.size(), 1U);
  EXPECT_EQ(mapped.polygons[0].id, 9U);
  EXPECT_EQ(mapped.polygons[0].first, 0U);
  EXPECT_EQ(named_polygons(mapped),
            (std::vector<NamedPolygon>{{CCL_POLYGON_HULL, {{-5, 10}, {5, 10}, {5, 14}, {-5, 14}}}}));
}

/// Two maps that undo each other give the bytes of the first records, negative zeros included.
TEST_P(Orientation, UndoneGivesTheSameBytes) {
  const PictureMap there = whole_map(GetParam());
  PictureMap back = there;
  back.old_width = there.width;
  back.old_height = there.height;
  back.width = kWidth;
  back.height = kHeight;
  back.from = there.to;
  back.to = there.from;
  if (there.swaps_axes) {
    std::swap(back.flips_x, back.flips_y);
  }
  const FrameRecords records{
      .components = label(noise(kWidth, kHeight, 3), {}).records,
      .tracks = {make_track(7, CCL_NO_COMPONENT, 2, 5, 6, 7)},
      .events = {make_event(CCL_EVENT_BORN, 7, 4, 8.5F), make_event(CCL_EVENT_STARTED, 0, 0, 0)}};
  const FrameRecords result = map_records(back, map_records(there, records));
  ASSERT_EQ(result.components.size(), records.components.size());
  for (size_t i = 0; i < records.components.size(); ++i) {
    CclComponent got = result.components[i];
    EXPECT_FLOAT_EQ(got.cx, records.components[i].cx);
    EXPECT_FLOAT_EQ(got.cy, records.components[i].cy);
    got.cx = records.components[i].cx;  // rounded twice
    got.cy = records.components[i].cy;
    EXPECT_EQ(std::memcmp(&got, &records.components[i], sizeof got), 0) << i;
  }
  ASSERT_EQ(result.tracks.size(), 1U);
  ASSERT_EQ(result.events.size(), 2U);
  EXPECT_EQ(std::memcmp(result.tracks.data(), records.tracks.data(), sizeof(CclTrack)), 0);
  EXPECT_EQ(std::memcmp(result.events.data(), records.events.data(), 2 * sizeof(CclEvent)), 0);
}

/// A crop, moved into a larger frame: components that are whole have the records of the new picture.
TEST_P(Orientation, CropsRemoveAndCut) {
  PictureMap map = whole_map(GetParam());
  map.from = {9, 5, 37, 21};
  map.to = {4, -3, map.swaps_axes ? 21 : 37, map.swaps_axes ? 37 : 21};
  map.width = 50;
  map.height = 48;
  uint32_t n_cut = 0;
  uint32_t n_removed = 0;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    const Image image = noise(kWidth, kHeight, seed);
    const std::vector<CclComponent> before = label(image, {.threshold = 100}).records;
    const Expected after = label(moved(image, map), {.threshold = 100});
    const FrameRecords mapped = map_records(map, {.components = before});
    std::vector<bool> is_found(after.records.size() + 1);
    for (const CclComponent& old : before) {
      const auto now = std::find_if(mapped.components.begin(), mapped.components.end(),
                                    [&](const CclComponent& c) { return c.label == old.label; });
      if (now == mapped.components.end()) {
        ++n_removed;
        continue;
      }
      EXPECT_LE(now->x + now->width, map.width);
      EXPECT_LE(now->y + now->height, map.height);
      EXPECT_EQ(now->area, old.area);
      if (now->flags & CCL_COMPONENT_CUT) {
        ++n_cut;
        EXPECT_TRUE(now->flags & CCL_COMPONENT_TOUCHES_BORDER);
        continue;
      }
      const auto same = std::find_if(after.records.begin(), after.records.end(), [&](const CclComponent& c) {
        return c.x == now->x && c.y == now->y && c.width == now->width && c.height == now->height &&
               c.area == now->area && c.perimeter == now->perimeter && c.euler == now->euler;
      });
      ASSERT_NE(same, after.records.end()) << GetParam().name << " " << old.label;
      EXPECT_NEAR(same->cx, now->cx, 1e-5);
      EXPECT_NEAR(same->mxy, now->mxy, 1e-3);
      is_found[same->label] = true;
    }
    for (const CclComponent& c : after.records) {  // what is left is a part of one that was cut
      const bool is_cut_part =
          std::any_of(mapped.components.begin(), mapped.components.end(), [&](const CclComponent& whole) {
            return (whole.flags & CCL_COMPONENT_CUT) && whole.x <= c.x && whole.y <= c.y &&
                   c.x + c.width <= whole.x + whole.width && c.y + c.height <= whole.y + whole.height;
          });
      EXPECT_TRUE(is_found[c.label] || is_cut_part) << c.label;
    }
  }
  EXPECT_GT(n_cut, 10U);
  EXPECT_GT(n_removed, 20U);
}

TEST_P(Orientation, MatricesOfCentresAndOfCorners) {
  const PictureMap expected = whole_map(GetParam());
  for (const float last : {0.0F, 1.0F}) {  // the last pixel's centre, or its far corner
    PictureMap map = expected;
    map.swaps_axes = map.flips_x = map.flips_y = false;
    float matrix[3][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}};
    matrix[0][expected.swaps_axes ? 1 : 0] = expected.flips_x ? -1 : 1;
    matrix[1][expected.swaps_axes ? 0 : 1] = expected.flips_y ? -1 : 1;
    matrix[0][2] = expected.flips_x ? static_cast<float>(map.width - 1) + last : 0;
    matrix[1][2] = expected.flips_y ? static_cast<float>(map.height - 1) + last : 0;
    ASSERT_TRUE(take_matrix(matrix, &map));
    EXPECT_EQ(map.swaps_axes, expected.swaps_axes);
    EXPECT_EQ(map.flips_x, expected.flips_x);
    EXPECT_EQ(map.flips_y, expected.flips_y);
    matrix[0][2] += 2;
    EXPECT_FALSE(take_matrix(matrix, &map)) << "moved out of its rectangle";
  }
}

INSTANTIATE_TEST_SUITE_P(All, Orientation, testing::ValuesIn(kOrientations),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(Geometry, OtherMatricesAreRefused) {
  const float matrices[][3][3] = {
      {{0.8F, -0.6F, 0}, {0.6F, 0.8F, 0}, {0, 0, 1}},  // a rotation
      {{1, 0.1F, 0}, {0, 1, 0}, {0, 0, 1}},            // a shear
      {{1, 0, 0}, {0, 1, 0}, {0.001F, 0, 1}},          // a perspective
      {{1, 0, 0}, {0, 1, 0}, {0, 0, 2}},
      {{0, 0, 0}, {0, 0, 0}, {0, 0, 1}},
      {{2, 0, 0}, {0, 1, 0}, {0, 0, 1}},  // wider than its rectangle
      {{NAN, 0, 0}, {0, 1, 0}, {0, 0, 1}},
  };
  for (const auto& matrix : matrices) {
    PictureMap map = scale_map(kWidth, kHeight, kWidth, kHeight);
    EXPECT_FALSE(take_matrix(matrix, &map));
  }
}

TEST(Geometry, OnlyTheSamePlacesAreTheSame) {
  const PictureMap map = scale_map(40, 30, 40, 30);
  EXPECT_TRUE(is_same(map));
  PictureMap mirrored = map;
  mirrored.flips_y = true;
  EXPECT_FALSE(is_same(mirrored));
  PictureMap shifted = map;
  shifted.to.x = 1;
  EXPECT_FALSE(is_same(shifted));
  PictureMap cropped = map;
  cropped.from.width = cropped.to.width = 39;
  EXPECT_FALSE(is_same(cropped));
  EXPECT_FALSE(is_same(scale_map(40, 30, 30, 40)));
}

TEST(Geometry, ScaledBoxesGrowToWholePixels) {
  CclComponent old = make_component(1, 1, 3, 4, 3);
  old.cx = 2.5F;
  old.cy = 4;
  old.mxx = 3;
  old.mxy = 1;
  old.myy = 2;
  old.perimeter = 14;
  PictureMap map = scale_map(10, 10, 15, 5);  // 3/2 and 1/2
  const CclComponent c = map_records(map, {.components = {old}}).components.at(0);
  EXPECT_EQ(c.x, 1U);  // 1.5 to 7.5
  EXPECT_EQ(c.width, 7U);
  EXPECT_EQ(c.y, 1U);  // 1.5 to 3
  EXPECT_EQ(c.height, 2U);
  EXPECT_EQ(c.area, 9U);
  EXPECT_FLOAT_EQ(c.cx, 4.0F);
  EXPECT_FLOAT_EQ(c.cy, 1.75F);
  EXPECT_FLOAT_EQ(c.mxx, 6.75F);
  EXPECT_FLOAT_EQ(c.mxy, 0.75F);
  EXPECT_FLOAT_EQ(c.myy, 0.5F);
  EXPECT_EQ(c.perimeter, 14U);
  EXPECT_EQ(c.flags, CCL_COMPONENT_SCALED);
  map.flips_x = true;
  const CclComponent mirrored = map_records(map, {.components = {old}}).components.at(0);
  EXPECT_EQ(mirrored.x, 7U);  // 7.5 to 13.5
  EXPECT_EQ(mirrored.width, 7U);
  EXPECT_FLOAT_EQ(mirrored.cx, 10.0F);
  EXPECT_FLOAT_EQ(mirrored.mxy, -0.75F);
}

/// With borders, the new frame's border is not where the picture ends.
TEST(Geometry, BordersAreNoPartOfThePicture) {
  PictureMap map = scale_map(10, 10, 20, 10);
  map.to = {5, 0, 10, 10};
  const FrameRecords records{.components = {make_component(1, 0, 2, 3, 3), make_component(2, 2, 2, 3, 3)}};
  const std::vector<CclComponent> mapped = map_records(map, records).components;
  EXPECT_EQ(mapped[0].x, 5U);
  EXPECT_EQ(mapped[0].flags, CCL_COMPONENT_TOUCHES_BORDER);
  EXPECT_EQ(mapped[1].x, 7U);
  EXPECT_EQ(mapped[1].flags, 0U);
}

TEST(Geometry, TracksFollowTheirComponents) {
  PictureMap map = scale_map(100, 100, 50, 50);
  map.from = {50, 50, 50, 50};
  const FrameRecords records{
      .components = {make_component(1, 0, 0, 10, 10), make_component(2, 60, 70, 10, 10)},
      .tracks = {make_track(1, 0, 0, 0, 10, 10), make_track(2, 1, 60, 70, 10, 10),
                 make_track(3, 0, 45, 60, 10, 10), make_track(4, CCL_NO_COMPONENT, 90, 90, 5, 5),
                 make_track(5, 9, 90, 90, 0, 5)},
      .events = {make_event(CCL_EVENT_LEFT, 1, 4, 4)}};
  const FrameRecords mapped = map_records(map, records);
  ASSERT_EQ(mapped.components.size(), 1U);
  ASSERT_EQ(mapped.tracks.size(), 4U);
  const CclTrack second = make_track(2, 0, 10, 20, 10, 10);
  EXPECT_EQ(std::memcmp(&mapped.tracks[0], &second, sizeof second), 0);
  EXPECT_EQ(mapped.tracks[1].component, CCL_NO_COMPONENT);
  EXPECT_EQ(mapped.tracks[1].x, 0U);
  EXPECT_EQ(mapped.tracks[1].width, 5U);
  EXPECT_EQ(mapped.tracks[1].flags, CCL_TRACK_TOUCHES_BORDER);
  EXPECT_EQ(mapped.tracks[2].component, CCL_NO_COMPONENT);
  EXPECT_EQ(mapped.tracks[3].component, CCL_NO_COMPONENT) << "an index of no record";
  EXPECT_EQ(mapped.tracks[3].width, 0U);
  EXPECT_EQ(mapped.events.at(0).where, 2U);
  EXPECT_FLOAT_EQ(mapped.events.at(0).x, -46) << "outside of the crop";
}

/// Whatever a meta holds, nothing overflows, and boxes are within the frame.
TEST(Geometry, AbsurdRecords) {
  PictureMap map = scale_map(1U << 24, 1U << 24, 1U << 24, 3);
  map.from = {1 << 24, -(1 << 24), 1, 1 << 24};
  map.to = {-(1 << 24), 1, 1 << 24, 1};
  ASSERT_TRUE(is_usable(map));
  for (const uint32_t value : {0U, 1U, UINT32_MAX, 1U << 31}) {
    CclComponent c = make_component(1, value, value, value, value);
    c.area = c.perimeter = value;
    c.cx = INFINITY;
    c.mxx = NAN;
    for (const PictureMap& m : {map, scale_map(7, 1U << 24, 1U << 24, 9)}) {
      for (const CclComponent& now : map_records(m, {.components = {c}}).components) {
        EXPECT_LE(now.x + now.width, m.width);
        EXPECT_LE(now.y + now.height, m.height);
      }
    }
  }
  map.from.width = 0;
  EXPECT_FALSE(is_usable(map));
  EXPECT_FALSE(is_usable(scale_map(40, 30, 0, 30)));
  EXPECT_FALSE(is_usable(scale_map(UINT32_MAX, 30, 40, 30)));
}

}  // namespace cudaccl::test
