// SPDX-License-Identifier: LGPL-2.1-or-later
/// Follows objects in a video-like loop, and prints what happens to them:
///
///     follow [FRAMES]
///
/// Two frames are in flight: while one is labelled, the next one is drawn. Here the frames show two squares
/// that move towards each other; replace draw() by a camera.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cudaccl/cudaccl.hpp>
#include <exception>

namespace {

constexpr uint32_t kWidth = 320;
constexpr uint32_t kHeight = 120;
constexpr uint32_t kSlots = 2;
constexpr int64_t kFrameTime = 40'000'000;  // 25 frames per second

void draw_square(uint32_t left, uint32_t top, uint8_t* pixels) {
  constexpr uint32_t kSide = 20;
  for (uint32_t y = top; y < top + kSide; ++y) {
    for (uint32_t x = left; x < left + kSide && x < kWidth; ++x) {
      pixels[y * kWidth + x] = 255;
    }
  }
}

void draw(uint32_t frame, uint8_t* pixels) {
  std::fill(pixels, pixels + kWidth * kHeight, uint8_t{0});
  draw_square(10 + 2 * frame, 30, pixels);
  draw_square(280 - 2 * frame, 70, pixels);
}

const char* name_of(uint32_t type) {
  switch (type) {
    case CCL_EVENT_BORN:
      return "born";
    case CCL_EVENT_DIED:
      return "died";
    case CCL_EVENT_ENTERED:
      return "entered the zone";
    case CCL_EVENT_LEFT:
      return "left the zone";
    case CCL_EVENT_STARTED:
      return "the scene started";
    default:
      return "another event";
  }
}

void print(const cudaccl::Result& result) {
  for (const CclEvent& event : result.all_events()) {
    std::printf("%.2f s: %s", static_cast<double>(event.time) / 1e9, name_of(event.type));
    if (event.id != 0) {
      std::printf(": track %u at %.0f,%.0f", event.id, static_cast<double>(event.x),
                  static_cast<double>(event.y));
    }
    std::printf("\n");
  }
}

void set_zone(cudaccl::Engine* engine) {
  const CudacclPoint corners[] = {{0.4, 0}, {0.6, 0}, {0.6, 1}, {0.4, 1}};
  CudacclZone zone{};
  zone.polygon = {"middle", corners, 4};
  zone.crowd = CUDACCL_NO_CROWD;
  zone.margin = CUDACCL_DEFAULT_MARGIN;
  cudaccl::Regions regions;
  regions.zones = &zone;
  regions.n_zones = 1;
  engine->set_regions(regions);
}

void follow(uint32_t n_frames) {
  cudaccl::Engine engine;
  std::fprintf(stderr, "on %s\n", engine.description().c_str());
  cudaccl::Config config;
  config.width = kWidth;
  config.height = kHeight;
  config.max_tracks = 64;
  config.slots = kSlots;
  engine.configure(config);
  set_zone(&engine);

  // The engine reads a frame until it is popped, so each slot has memory of its own.
  const cudaccl::Memory memory = engine.allocate(CUDACCL_MEMORY_HOST, kSlots * kWidth * kHeight);
  for (uint32_t i = 0; i < n_frames; ++i) {
    auto* pixels = static_cast<uint8_t*>(memory.data()) + i % kSlots * kWidth * kHeight;
    if (i >= kSlots) {
      print(engine.pop());
    }
    draw(i, pixels);
    cudaccl::Input input;
    input.planes[0] = pixels;
    input.strides[0] = kWidth;
    cudaccl::Frame frame;
    frame.input = &input;
    frame.time = i * kFrameTime;
    engine.push(frame);
  }
  for (uint32_t i = 0; i < std::min(n_frames, kSlots); ++i) {
    print(engine.pop());
  }
}

}  // namespace

int main(int argc, char** argv) {
  try {
    follow(argc > 1 ? static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10)) : 125);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "error: %s\n", error.what());
    return EXIT_FAILURE;
  }
  return EXIT_SUCCESS;
}
