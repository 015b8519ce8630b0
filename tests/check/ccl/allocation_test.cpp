// SPDX-License-Identifier: LGPL-2.1-or-later
/// After configure() no frame takes memory: every operator new of the process is counted.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "ccl/events.h"
#include "ccl/inscribed.h"
#include "drawing.h"
#include "event_fixture.h"
#include "fixture.h"
#include "host/stages/draw.h"
#include "images.h"

namespace {

std::atomic<uint64_t> n_allocations = 0;
/// A request of more bytes fails.
std::atomic<size_t> largest_allocation = std::numeric_limits<size_t>::max();
/// All requests fail once there were so many.
std::atomic<uint64_t> first_failure = std::numeric_limits<uint64_t>::max();

void* allocate(size_t size) {
  const bool is_possible = n_allocations++ < first_failure && size <= largest_allocation;
  void* memory = is_possible ? std::malloc(size != 0 ? size : 1) : nullptr;
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

// Every form of new that no other is defined by: the library's are counted with the tests' own.
void* operator new(size_t size) {
  return allocate(size);
}

void* operator new(size_t size, std::align_val_t alignment) {
  ++n_allocations;
  const auto a = static_cast<size_t>(alignment);
  if (void* memory = std::aligned_alloc(a, (size + a - 1) / a * a)) {
    return memory;
  }
  throw std::bad_alloc();
}

void operator delete(void* memory) noexcept {
  std::free(memory);
}

void operator delete(void* memory, size_t) noexcept {
  operator delete(memory);
}

void operator delete(void* memory, std::align_val_t) noexcept {
  operator delete(memory);
}

void operator delete(void* memory, size_t, std::align_val_t) noexcept {
  operator delete(memory);
}

namespace ccl::test {

namespace {

class EngineAllocationTest : public testing::Test {
 protected:
  void SetUp() override {
    if (backend() != Backend::kCpu) {
      GTEST_SKIP() << "the driver's own allocations would be counted, or fail";
    }
    ASSERT_TRUE(make_engine(&engine).ok());
  }

  std::unique_ptr<Engine> engine;
};

TEST_F(EngineAllocationTest, FramesTakeNoMemory) {
  const Image image = noise(201, 150, 1, 50, 1);
  std::vector<uint8_t> pixels(201 * 150 * 4);
  std::vector<uint32_t> root_map(201 * 150);
  std::vector<uint32_t> labels(201 * 150);
  std::vector<uint32_t> planes(3 * 201 * 150);
  const auto outlines = std::make_shared<const OutlineLayer>(
      std::vector<Outline>{{"zone", {{20, 30}, {150, 20}, {90, 140}}, true, kZoneColor}}, 201, 150);
  for (const AlgorithmInfo& labeler : labelers()) {
    for (const Output output :
         {Output::kNone, Output::kColorized, Output::kOverlay, Output::kLabels, Output::kDistance}) {
      Config config;
      config.width = 201;
      config.height = 150;
      config.algorithm = labeler.algorithm;
      config.output = output;
      config.max_components = 100;
      config.planes = kLabelPlane | kIdPlane | (output == Output::kDistance ? kDistancePlane : 0u);
      config.threads = 3;  // strips are merged then
      ASSERT_TRUE(engine->configure(config).ok());
      FrameJob job;
      job.input = {image.pixels(), image.stride};
      job.output = {pixels.data(), 201 * 4};
      job.settings.draw_boxes = true;
      job.settings.draw_regions = true;
      job.outlines = outlines;
      job.root_map = root_map.data();
      job.labels = labels.data();
      job.label_plane = {planes.data(), 201 * 4};
      job.id_plane = {planes.data() + 201 * 150, 201 * 4};
      job.distance_plane = {planes.data() + 2 * 201 * 150, 201 * 4};
      const auto run = [&](uint32_t n_frames) {
        const uint64_t before = n_allocations;
        for (uint32_t i = 0; i < n_frames; ++i) {
          FrameResult result;
          const bool is_done = engine->push(job).ok() && engine->pop(&result).ok();
          EXPECT_TRUE(is_done);
        }
        return n_allocations - before;
      };
      EXPECT_EQ(run(3), 0u) << labeler.nick << ", output " << name_of(output);
      job.settings.features |= kFeatureGrey;
      EXPECT_LE(run(1), 2u) << "the first frame takes the memory";
      EXPECT_EQ(run(2), 0u) << labeler.nick << ", output " << name_of(output) << ", grey statistics";
    }
  }
}

TEST(AllocationTest, CirclesTakeMemoryWithTheLargestBox) {
  const std::vector<uint32_t> labels(60 * 50, 1);
  InscribedCircleFinder finder;
  const auto allocations_of = [&](const PixelBox& box) {
    const uint64_t before = n_allocations;
    finder.find({labels.data(), 60}, 1, box, 61, 51);
    return n_allocations - before;
  };
  EXPECT_GT(allocations_of({0, 0, 60, 50}), 0u);
  EXPECT_EQ(allocations_of({0, 0, 60, 50}), 0u);
  EXPECT_EQ(allocations_of({7, 5, 20, 45}), 0u);
}

/// Ids, trails and outlines over a frame.
TEST(AllocationTest, DrawingTakesNoMemory) {
  if (backend() != Backend::kCpu) {
    GTEST_SKIP() << "of the CPU only";
  }
  Config config;
  config.width = 201;
  config.height = 150;
  config.output = Output::kOverlay;
  config.max_tracks = 100;
  host::ThreadPool pool(3);
  host::Drawing drawing(config, pool);
  TrackScene scene(config, 1, 50);
  std::vector<uint8_t> pixels(201 * 150 * 4);
  FrameJob job;
  job.output = {pixels.data(), 201 * 4};
  job.settings.draw_ids = job.settings.draw_trails = job.settings.draw_regions = true;
  job.outlines = std::make_shared<OutlineLayer>(
      std::vector<Outline>{{"zone", {{20, 30}, {150, 20}, {90, 140}}, true, kZoneColor}}, 201, 150);
  for (uint32_t i = 0; i < 5; ++i) {
    scene.advance();
    const uint64_t before = n_allocations;
    drawing.draw(job, scene.tracks());
    EXPECT_EQ(n_allocations - before, 0u) << "frame " << i;
  }
  EXPECT_GT(scene.tracks().size(), 40u);
  EXPECT_GT(std::count_if(pixels.begin(), pixels.end(), [](uint8_t value) { return value != 0; }), 10000);
}

/// Each rule with all later steps of the segment stage.
TEST_F(EngineAllocationTest, BitImagesTakeNoMemory) {
  const Image image = grey_noise(201, 150, 1);
  Config config;
  config.width = 201;
  config.height = 150;
  config.threads = 3;
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  job.segmentation.threshold_low = 100;
  job.segmentation.morphology = {.open_radius = 1, .close_radius = 2, .fill_holes = 30};
  job.regions = std::make_shared<const RegionMask>(Regions{}, config.width, config.height);
  for (const AlgorithmInfo& labeler : labelers()) {
    config.algorithm = labeler.algorithm;
    ASSERT_TRUE(engine->configure(config).ok());
    for (const Foreground foreground : {Foreground::kBinary, Foreground::kOtsu, Foreground::kLocal}) {
      job.settings.rule = {.foreground = foreground, .threshold = 150};
      const uint64_t before = n_allocations;
      FrameResult result;
      const bool is_done = engine->push(job).ok() && engine->pop(&result).ok();
      ASSERT_TRUE(is_done);
      EXPECT_EQ(n_allocations - before, 0u) << labeler.nick << ", " << name_of(foreground);
    }
  }
}

/// Thousands of births and deaths, merges and frames that are not matched.
TEST_F(EngineAllocationTest, TracksTakeNoMemory) {
  std::vector<Image> images;
  for (uint32_t i = 0; i < 10; ++i) {
    images.push_back(noise(201, 150, 4 + i % 5, 10 + 3 * i, i));
  }
  for (const AlgorithmInfo& labeler : labelers()) {
    Config config{.width = 201, .height = 150, .algorithm = labeler.algorithm, .max_components = 200};
    config.max_tracks = 300;
    config.threads = 3;
    ASSERT_TRUE(engine->configure(config).ok());
    const uint64_t before = n_allocations;
    for (uint32_t i = 0; i < 300; ++i) {
      FrameJob job;
      job.input = {images[i % images.size()].pixels(), images[i % images.size()].stride};
      FrameResult result;
      const bool is_done = engine->push(job).ok() && engine->pop(&result).ok();
      ASSERT_TRUE(is_done);
    }
    EXPECT_EQ(n_allocations - before, 0u) << labeler.nick;
  }
}

/// Events of a full table, of which half ends in each frame, with as many zones and lines as there can be.
TEST(AllocationTest, EventsTakeNoMemory) {
  Regions regions;
  regions.is_relative = false;
  for (uint32_t i = 0; i < kMaxZones; ++i) {
    const double edge = i + 50;
    regions.zones.push_back(
        {.name = "", .polygon = {{0, 0}, {edge, 0}, {edge, 200}, {0, 200}}, .dwell_ns = 1});
    regions.lines.push_back({.name = "", .from = {edge, 0}, .to = {edge, 200}});
  }
  constexpr uint32_t kTracks = 40;
  constexpr uint32_t kAlone = CCL_TRACK_CONFIRMED;
  constexpr uint32_t kTogether = CCL_TRACK_CONFIRMED | CCL_TRACK_MERGED;
  EventMaker maker;
  ASSERT_TRUE(maker.configure({.width = 200, .height = 200, .max_tracks = kTracks}, regions).ok());
  CclTrack tracks[kTracks] = {};
  uint64_t events = 0;
  const uint64_t before = n_allocations;
  for (uint32_t frame = 0; frame < 20; ++frame) {
    for (uint32_t i = 0; i < kTracks; ++i) {
      tracks[i].id = frame * kTracks / 2 + i + 1;
      tracks[i].flags = i % 4 < 2 && frame % 2 == 0 ? kTogether : kAlone;
      tracks[i].component = frame % 2 == 0 ? i / 2 : i;
      tracks[i].cx = static_cast<float>(frame * 90 % 180);
      tracks[i].x = static_cast<uint16_t>(frame * 90 % 180);
      tracks[i].width = tracks[i].height = 1;
    }
    maker.update({.tracks = tracks, .n_components = kTracks, .time = frame * 1000});
    events += maker.events().size();
  }
  EXPECT_EQ(n_allocations - before, 0u);
  EXPECT_GT(events, 20 * 1000u);
}

namespace {

/// The result of `function`, for which there is memory for `n` requests only.
template <typename Function>
Status with_memory_for(uint64_t n, Function function) {
  first_failure = n_allocations + n;
  const Status status = function();
  first_failure = std::numeric_limits<uint64_t>::max();
  return status;
}

constexpr EventConfig kSmallEvents{.width = 100, .height = 100, .max_tracks = 2};

/// So many zones that all hold the point (50, 50), and one line less.
Regions nested_zones(uint32_t n_zones) {
  Regions regions;
  regions.is_relative = false;
  for (uint32_t i = 0; i < n_zones; ++i) {
    const double edge = 60 + i;
    regions.zones.push_back({.name = "", .polygon = {{40, 40}, {edge, 40}, {edge, edge}, {40, edge}}});
    if (i > 0) {
      regions.lines.push_back({.name = "", .from = {edge, 0}, .to = {edge, 100}});
    }
  }
  return regions;
}

/// Two tracks in all zones.
void play_small_frame(EventMaker* maker) {
  const CclTrack tracks[] = {dot(1, 50, 50), dot(2, 50, 50)};
  maker->update({.tracks = tracks, .n_components = 2, .time = 0});
}

}  // namespace

/// New regions for which the memory ends at each possible place, and then a second attempt with each kind of
/// regions: it begins as an EventMaker without a past.
TEST(AllocationTest, EventsBeginAgainAfterLackOfMemory) {
  const Regions before = nested_zones(1);
  const Regions wanted = nested_zones(3);
  for (const Regions& second : {before, wanted, nested_zones(5), Regions{}}) {
    EventMaker fresh;
    ASSERT_TRUE(fresh.configure(kSmallEvents, second).ok());
    play_small_frame(&fresh);
    for (uint64_t n = 0;; ++n) {
      EventMaker maker;
      ASSERT_TRUE(maker.configure(kSmallEvents, before).ok());
      play_small_frame(&maker);
      const EventConfig larger{.width = 100, .height = 100, .max_tracks = 8};
      const Status status = with_memory_for(n, [&] { return maker.configure(larger, wanted); });
      if (status.ok()) {
        EXPECT_GT(n, 10u);
        break;
      }
      EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
      EXPECT_NE(status.message().find("memory"), std::string::npos) << status.message();
      EXPECT_TRUE(maker.n_inside().empty()) << "there are no zones now";
      ASSERT_TRUE(maker.configure(kSmallEvents, second).ok());
      play_small_frame(&maker);
      EXPECT_TRUE(std::ranges::equal(maker.n_inside(), fresh.n_inside())) << "memory for " << n;
      EXPECT_TRUE(std::ranges::equal(maker.events(), fresh.events(), {}, &CclEvent::type, &CclEvent::type));
    }
  }
}

/// DeviceMemoryTest does this on the GPU.
TEST_F(EngineAllocationTest, OutOfMemorySaysWhatNeedsLess) {
  Config config;
  config.width = 2000;
  config.height = 1000;
  config.slots = 4;
  largest_allocation = 100'000;
  const Status status = engine->configure(config);
  largest_allocation = std::numeric_limits<size_t>::max();
  EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
  for (const char* part : {"not enough memory", "2000×1000", "4 slots", "pipeline-depth", "max-components"}) {
    EXPECT_NE(status.message().find(part), std::string::npos) << status.message();
  }
  EXPECT_TRUE(engine->configure(config).ok());
}

/// A frame that takes memory, for which there is none, may have stopped anywhere.
TEST_F(EngineAllocationTest, AFrameWithoutMemoryNeedsAnotherConfiguration) {
  const Image image = noise(20, 10, 1, 50, 1);
  Config config{.width = 20, .height = 10, .max_components = 10};
  config.threads = 1;
  ASSERT_TRUE(engine->configure(config).ok());
  FrameJob job;
  job.input = {image.pixels(), image.stride};
  job.settings.features |= kFeatureGrey;
  EXPECT_EQ(with_memory_for(0, [&] { return engine->push(job); }).code(), StatusCode::kOutOfMemory);
  EXPECT_EQ(engine->push(job).code(), StatusCode::kInvalidArgument);
  ASSERT_TRUE(engine->configure(config).ok());
  EXPECT_TRUE(engine->push(job).ok());
}

TEST_F(EngineAllocationTest, OutOfMemoryHasAText) {
  Config config{.width = 20, .height = 10, .max_components = 10, .max_tracks = 10};
  config.threads = 1;
  for (uint64_t n = 0;; ++n) {
    const Status status = with_memory_for(n, [&] { return engine->configure(config); });
    if (status.ok()) {
      EXPECT_GT(n, 10u);
      break;
    }
    EXPECT_EQ(status.code(), StatusCode::kOutOfMemory);
    EXPECT_NE(status.message().find("memory"), std::string::npos) << "memory for " << n;
  }
}

}  // namespace

}  // namespace ccl::test
