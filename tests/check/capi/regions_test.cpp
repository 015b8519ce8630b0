// SPDX-License-Identifier: LGPL-2.1-or-later
/// Zones, lines and masks through the C interface, with the tracks and events that they are for.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "c_engine.h"
#include "region_corpus.h"

namespace ccl::test {

namespace {

constexpr uint32_t kWidth = 61;
constexpr uint32_t kHeight = 47;

/// A square that moves one pixel per frame to the right, through a zone and over a line.
struct MovingSquare {
  static constexpr uint32_t kSide = 6;

  MovingSquare() {
    config.max_tracks = 16;
    zone.polygon = {"room", corners, 4};
    zone.crowd = CUDACCL_NO_CROWD;
    zone.margin = CUDACCL_DEFAULT_MARGIN;
    line.margin = CUDACCL_DEFAULT_MARGIN;
    line.name = "gate";
    line.from = {40.25, 0};
    line.to = {40.25, kHeight};
    regions.is_relative = 0;
    regions.zones = &zone;
    regions.n_zones = 1;
    regions.lines = &line;
    regions.n_lines = 1;
  }

  static Image at(uint32_t x) {
    return drawn("square", kWidth, kHeight, [x](uint32_t px, uint32_t py) {
      return px >= x && px < x + kSide && py >= 20 && py < 20 + kSide;
    });
  }

  cudaccl::Config config = c_config(kWidth, kHeight);
  CudacclPoint corners[4] = {{20.25, 10}, {30.25, 10}, {30.25, 40}, {20.25, 40}};
  CudacclZone zone{};
  CudacclLine line{};
  cudaccl::Regions regions;
};

TEST(CRegionsTest, TracksAndEvents) {
  MovingSquare scene;
  CEngine c(MovingSquare::at(0), scene.config);
  c.engine.set_regions(scene.regions);
  std::vector<uint32_t> events;
  uint32_t most_inside = 0;
  for (uint32_t i = 0; i < 50; ++i) {
    const Image image = MovingSquare::at(i);
    c.input = c_input(image);
    c.frame.time = int64_t{i} * 40'000'000;
    ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
    EXPECT_EQ(c.result.time, c.frame.time);
    ASSERT_EQ(c.result.n_tracks, 1u);
    EXPECT_EQ(c.result.tracks[0].id, 1u);
    EXPECT_EQ(c.result.records[0].id, 1u);
    ASSERT_EQ(c.result.n_zones, 1u);
    EXPECT_EQ(c.result.tracks[0].zones, c.result.n_inside[0]);
    most_inside = std::max(most_inside, c.result.n_inside[0]);
    for (size_t k = 0; k < c.result.n_events; ++k) {
      events.push_back(c.result.events[k].type);
      EXPECT_EQ(c.result.events[k].time, c.frame.time);
    }
  }
  const std::vector<uint32_t> expected = {CCL_EVENT_STARTED, CCL_EVENT_BORN, CCL_EVENT_ENTERED,
                                          CCL_EVENT_LEFT, CCL_EVENT_CROSSED_LEFT};
  EXPECT_EQ(events, expected);
  EXPECT_EQ(most_inside, 1u);
}

TEST(CRegionsTest, RegionsMaskAndAreForgotten) {
  const Image image = plain("full", kWidth, kHeight, 255);
  CEngine c(image);
  const CudacclPoint corners[] = {{0, 0}, {0.5, 0}, {0.5, 1}, {0, 1}};
  const CudacclPolygon half = {nullptr, corners, 4};
  cudaccl::Regions regions;
  regions.include = &half;
  regions.n_include = 1;
  c.engine.set_regions(regions);
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.records[0].width, (kWidth + 1) / 2 - 1);
  // They are made for frames of another size, too.
  const Image wide = plain("wide", 200, 10, 255);
  c.engine.configure(c_config(200, 10));
  c.input = c_input(wide);
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.records[0].width, 100u);
  ASSERT_EQ(cudaccl_engine_set_regions(c.engine.get(), nullptr), CUDACCL_OK);
  ASSERT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.records[0].width, 200u);
}

/// What is read is what an engine takes.
TEST(CRegionsTest, DocumentsOfRegionsHaveTheVerdictsOfTheCorpus) {
  const Image image = plain("full", kWidth, kHeight, 255);
  CEngine c(image);
  for (const RegionCase& one : region_corpus()) {
    CudacclRegions* regions = nullptr;
    const CudacclStatus status = cudaccl_regions_read(one.text.data(), one.text.size(), &regions);
    ASSERT_EQ(status, one.reason.empty() ? CUDACCL_OK : CUDACCL_INVALID_ARGUMENT) << one.path;
    EXPECT_EQ(regions != nullptr, one.reason.empty()) << one.path;
    if (regions != nullptr) {
      EXPECT_EQ(cudaccl_engine_set_regions(c.engine.get(), regions), CUDACCL_OK) << c.error();
    } else {
      EXPECT_TRUE(says(cudaccl_last_error(nullptr), one.reason.c_str())) << one.path;
    }
    cudaccl_regions_free(regions);
  }
  const auto regions = cudaccl::read_regions(region_case("all-members.json").path);
  ASSERT_EQ(regions->n_zones, 1u);
  EXPECT_STREQ(regions->zones[0].polygon.name, "door");
  EXPECT_EQ(regions->zones[0].polygon.points[1].x, 1);
  EXPECT_EQ(regions->zones[0].dwell_ns, 2'500'000'000);
  EXPECT_EQ(regions->zones[0].margin, 0.1);
  EXPECT_EQ(regions->lines[0].margin, 1.5);
  EXPECT_EQ(regions->exclude[0].name, nullptr);
  EXPECT_EQ(regions->lines[0].anchor, uint32_t{CUDACCL_ANCHOR_CENTROID});
  EXPECT_EQ(cudaccl_regions_read(nullptr, 0, nullptr), CUDACCL_INVALID_ARGUMENT);
}

TEST(CRegionsTest, WrongRegionsAreRefusedAndTheOldOnesStay) {
  const Image image = plain("full", kWidth, kHeight, 255);
  MovingSquare scene;
  CEngine c(image, scene.config);
  const auto refusal = [&](const char* part) {
    EXPECT_EQ(cudaccl_engine_set_regions(c.engine.get(), &scene.regions), CUDACCL_INVALID_ARGUMENT);
    EXPECT_TRUE(says(c.error(), part));
  };
  const auto refused = [&](auto* member, auto value, const char* part) {
    const auto good = std::exchange(*member, value);
    refusal(part);
    *member = good;
  };
  CudacclZone& zone = scene.zone;
  refused(&zone.polygon.n_points, 2, "zones[0].polygon has 2 points");
  refused(&zone.polygon.name, "", "zones[0] has no name");
  refused(&zone.polygon.name, "\xff", "zones[0].name is not UTF-8");
  refused(&scene.corners[2].y, 1e7, "zones[0].polygon[2][1]");
  refused(&zone.dwell_ns, -1, "dwell_ns");
  refused(&zone.anchor, 2, "zones[0].anchor");
  refused(&zone.margin, std::nan(""), "zones[0].margin");
  refused(&scene.line.margin, 11, "lines[0].margin");
  refused(&scene.line.to, scene.line.from, "lines[0] has no length");
  const CudacclZone twice[] = {scene.zone, scene.zone};
  scene.regions.zones = twice;
  scene.regions.n_zones = 2;
  refusal("same name");
  scene.regions.n_zones = 33;
  refusal("at most 32");
  scene.regions.zones = nullptr;
  scene.regions.n_zones = 1;
  refusal("zones is NULL");
  EXPECT_EQ(c.run(), CUDACCL_OK) << c.error();
  EXPECT_EQ(c.result.n_zones, 0u);
}

}  // namespace

}  // namespace ccl::test
