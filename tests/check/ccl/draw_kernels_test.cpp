// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels that draw over frames write the bytes of the host's stage.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

#include "device/stages/draw.h"
#include "device_bits.h"
#include "drawing.h"
#include "host/stages/draw.h"

namespace ccl::test {

namespace {

using device::DeviceArray;

template <typename T>
Status copy_up(const std::vector<T>& from, const DeviceArray<T>& to) {
  CCL_RETURN_IF_ERROR(device::check(
      cudaMemcpy(to.data(), from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy"));
  return device::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

/// Frames of both backends in the same order.
class DrawKernelsTest : public DeviceTest {
 protected:
  void start(const Config& config) {
    config_ = config;
    ASSERT_TRUE(tracks_.allocate(config.max_tracks).ok());
    ASSERT_TRUE(n_tracks_.allocate(1).ok());
    ASSERT_TRUE(counts_.allocate(1).ok());
    ASSERT_TRUE(pixels_.allocate(size_t{config.width} * config.height).ok());
    ASSERT_TRUE(drawing_.configure(config, config.slots).ok());
    ASSERT_TRUE(other_stream_.create().ok());
  }

  /// What the device makes of a picture, as the slot draws it. `skips`: for frames of too many components.
  Status draw(const FrameJob& job, const std::vector<CclTrack>& tracks, bool skips,
              std::vector<uint32_t>* picture) {
    // Frames of an engine alternate between streams.
    const device::Stream& stream = n_frames_++ % 2 == 0 ? stream_ : other_stream_;
    CCL_RETURN_IF_ERROR(copy_up(tracks, tracks_));
    CCL_RETURN_IF_ERROR(copy_up(std::vector<uint32_t>{static_cast<uint32_t>(tracks.size())}, n_tracks_));
    CCL_RETURN_IF_ERROR(copy_up(*picture, pixels_));
    const FrameCounts* counts = skips ? counts_.data() : nullptr;
    if (job.outlines != nullptr && job.settings.draw_regions) {
      CCL_RETURN_IF_ERROR(outlines_.prepare(job, stream.get()));
      CCL_RETURN_IF_ERROR(device::draw_outlines(config_, outlines_, counts, pixels_.data(), stream.get()));
    }
    const device::DeviceTracks on_device = {tracks_.data(), n_tracks_.data()};
    if (drawing_.is_active(job.settings, on_device)) {
      uint32_t table = 0;
      CCL_RETURN_IF_ERROR(drawing_.update(job.settings, on_device, stream, &table));
      CCL_RETURN_IF_ERROR(drawing_.draw(job.settings, table, counts, pixels_.data(), stream.get()));
    } else {
      drawing_.skip();
    }
    CCL_RETURN_IF_ERROR(stream.synchronize());
    return download(pixels_, picture->size(), picture);
  }

  Config config_;
  device::Stream other_stream_;
  device::TrackDrawing drawing_;
  device::DeviceOutlines outlines_;
  DeviceArray<CclTrack> tracks_;
  DeviceArray<uint32_t> n_tracks_;
  DeviceArray<FrameCounts> counts_;
  DeviceArray<uint32_t> pixels_;
  uint32_t n_frames_ = 0;
};

Config config_of(uint32_t width, uint32_t height, uint32_t max_tracks) {
  Config config;
  config.width = width;
  config.height = height;
  config.output = Output::kOverlay;
  config.max_tracks = max_tracks;
  config.max_components = 10;
  config.slots = 2;
  config.layout = {1, 2, 3, 0};
  return config;
}

std::shared_ptr<const OutlineLayer> layer_of(const Config& config, uint32_t i) {
  const double width = config.width;
  const double height = config.height;
  const std::vector<Outline> outlines = {
      {"zone " + std::to_string(i),
       {{0.1 * width, 0.2 * height}, {0.8 * width, 0.1 * height}, {0.5 * width, (0.5 + 0.1 * i) * height}},
       i % 2 == 0,
       kZoneColor}};
  return std::make_shared<OutlineLayer>(outlines, config.width, config.height);
}

std::vector<uint32_t> random_picture(const Config& config, TrackScene& scene) {
  std::vector<uint32_t> picture(size_t{config.width} * config.height);
  const std::vector<uint8_t> bytes = scene.ground();
  std::memcpy(picture.data(), bytes.data(), picture.size() * sizeof(uint32_t));
  return picture;
}

/// Many tracks or few, frames of odd sizes and of less than a tile, and settings that change.
TEST_F(DrawKernelsTest, WriteTheBytesOfTheHost) {
  for (const auto& [width, height, max_tracks] :
       {std::tuple{1u, 1u, 5u}, {33u, 70u, 16u}, {301u, 143u, 200u}, {640u, 481u, 2000u}}) {
    const Config config = config_of(width, height, max_tracks);
    drawing_ = {};
    tracks_ = {};
    n_tracks_ = {};
    counts_ = {};
    pixels_ = {};
    other_stream_ = {};
    ASSERT_NO_FATAL_FAILURE(start(config));
    host::ThreadPool pool(1);
    host::Drawing host_drawing(config, pool);
    TrackScene scene(config, width, max_tracks);
    uint32_t n_changed = 0;
    for (uint32_t i = 0; i < 60; ++i) {
      scene.advance();
      const std::vector<uint32_t> plain = random_picture(config, scene);
      std::vector<uint32_t> want = plain;
      std::vector<uint32_t> got = plain;
      FrameJob job;
      job.settings.draw_ids = i % 7 != 3 && i != 20;
      job.settings.draw_trails = i % 5 != 4 && i != 20;
      job.settings.draw_regions = i % 4 != 0;
      job.settings.palette = i < 30 ? Palette::kGlasbey : Palette::kViridisByArea;
      job.outlines = i % 9 != 0 ? layer_of(config, i / 10) : nullptr;
      job.output = {reinterpret_cast<uint8_t*>(want.data()), size_t{width} * 4};
      host_drawing.draw(job, scene.tracks());
      const Status status = draw(job, scene.tracks(), false, &got);
      ASSERT_TRUE(status.ok()) << status.message();
      const auto at = std::mismatch(got.begin(), got.end(), want.begin()).first - got.begin();
      ASSERT_TRUE(got == want) << width << "×" << height << ", frame " << i << ", pixel " << at;
      n_changed += got != plain ? 1 : 0;
    }
    EXPECT_GT(n_changed, 50u);
  }
}

/// Boxes of such frames are drawn later, and must not lie over the rest.
TEST_F(DrawKernelsTest, FramesOfTooManyComponentsAreLeftOut) {
  const Config config = config_of(100, 60, 16);
  ASSERT_NO_FATAL_FAILURE(start(config));
  TrackScene scene(config, 1);
  scene.advance();
  FrameJob job;
  job.settings.draw_ids = job.settings.draw_trails = job.settings.draw_regions = true;
  job.outlines = layer_of(config, 1);
  for (const uint32_t n_components : {10u, 11u}) {
    FrameCounts counts{};
    counts.n_components = n_components;
    ASSERT_TRUE(copy_up(std::vector<FrameCounts>{counts}, counts_).ok());
    const std::vector<uint32_t> plain = random_picture(config, scene);
    std::vector<uint32_t> got = plain;
    ASSERT_TRUE(draw(job, scene.tracks(), true, &got).ok());
    EXPECT_EQ(got == plain, n_components > config.max_components);
  }
}

}  // namespace

}  // namespace ccl::test
