// SPDX-License-Identifier: LGPL-2.1-or-later
/// Short videos through two engines: records, tracks, events and ids do not depend on labeler and threads.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "frame_case.h"

namespace fuzz {

namespace {

constexpr uint32_t kWidth = 40;
constexpr uint32_t kHeight = 24;
constexpr const char* kZones =
    R"({"version": 1,
        "zones": [{"name": "left", "polygon": [[0, 0], [0.5, 0], [0.5, 1], [0, 1]], "dwell": 0.1, "crowd": 1},
                  {"name": "corner", "polygon": [[1, 0], [1, 1], [0, 1]], "margin": 0, "anchor": "centroid"}],
        "lines": [{"name": "middle", "from": [0.5, 0], "to": [0.5, 1], "margin": 0}]})";

/// One of the two.
class Stream {
 public:
  Stream() : ids_(size_t{kWidth} * kHeight) {
    cudaccl::EngineOptions options;
    options.backend = CUDACCL_BACKEND_CPU;
    cudaccl_engine_new(&options, &engine_);
  }

  void begin(const cudaccl::Config& config, const CudacclRegions* regions) {
    require(cudaccl_engine_configure(engine_, &config) == CUDACCL_OK, cudaccl_last_error(engine_));
    require(cudaccl_engine_set_regions(engine_, regions) == CUDACCL_OK, cudaccl_last_error(engine_));
  }

  const cudaccl::Result& run(cudaccl::Frame frame) {
    cudaccl::Plane plane;
    plane.values = ids_.data();
    frame.ids = &plane;
    require(cudaccl_engine_run(engine_, &frame, &result_) == CUDACCL_OK, cudaccl_last_error(engine_));
    return result_;
  }

  const std::vector<uint32_t>& ids() const { return ids_; }

 private:
  CudacclEngine* engine_ = nullptr;
  cudaccl::Result result_;
  std::vector<uint32_t> ids_;
};

template <typename Record>
void require_same(const char* what, const Record* a, size_t n_a, const Record* b, size_t n_b) {
  require(n_a == n_b && (n_a == 0 || std::memcmp(a, b, n_a * sizeof(Record)) == 0),
          std::string("other ") + what);
}

void compare(const Stream& one, const cudaccl::Result& a, const Stream& other, const cudaccl::Result& b) {
  require_same("records", a.records, a.n_records, b.records, b.n_records);
  require_same("tracks", a.tracks, a.n_tracks, b.tracks, b.n_tracks);
  require_same("events", a.events, a.n_events, b.events, b.n_events);
  require_same("counts of zones", a.n_inside, a.n_zones, b.n_inside, b.n_zones);
  require(one.ids() == other.ids(), "other ids");
  for (size_t i = 1; i < a.n_tracks; ++i) {
    require(a.tracks[i - 1].id < a.tracks[i].id, "tracks are not sorted");
  }
  for (size_t i = 0; i < a.n_tracks; ++i) {
    const uint32_t component = a.tracks[i].component;
    require(component == CCL_NO_COMPONENT || component < a.n_records, "a track of no component");
  }
}

/// Up to eight rectangles.
ccl::test::Image take_scene(Bytes* bytes) {
  ccl::test::Image image = ccl::test::plain("scene", kWidth, kHeight);
  for (uint32_t n = bytes->below(9); n > 0; --n) {
    const uint32_t left = bytes->below(kWidth);
    const uint32_t top = bytes->below(kHeight);
    const uint32_t right = std::min(kWidth, left + bytes->from_to(1, 12));
    const uint32_t bottom = std::min(kHeight, top + bytes->from_to(1, 12));
    for (uint32_t y = top; y < bottom; ++y) {
      for (uint32_t x = left; x < right; ++x) {
        image.at(x, y) = ccl::test::kForeground;
      }
    }
  }
  return image;
}

}  // namespace

void try_input(Bytes* bytes) {
  static Stream streams[2];
  static const std::shared_ptr<const CudacclRegions> zones = cudaccl::read_regions(kZones);
  cudaccl::Config config;
  config.width = kWidth;
  config.height = kHeight;
  config.planes = CUDACCL_PLANE_IDS;
  config.max_tracks = bytes->from_to(1, 10);
  config.max_components = bytes->from_to(1, 10);
  config.threads = 1;
  config.algorithm = "runs";
  cudaccl::Settings settings;
  settings.track_confirm = bytes->from_to(1, 4);
  settings.track_lost_ms = bytes->below(400);
  settings.event_hold_ms = bytes->below(400);
  settings.separate = bytes->flag() ? bytes->below(101) / 100.0 : 0;
  const CudacclRegions* regions = bytes->flag() ? zones.get() : nullptr;
  streams[0].begin(config, regions);
  config.algorithm = take_labeler(bytes);
  config.threads = bytes->from_to(1, 3);
  streams[1].begin(config, regions);
  int64_t time = 0;
  for (uint32_t i = 0; i == 0 || (i < 12 && !bytes->is_empty()); ++i) {
    const ccl::test::Image image = take_scene(bytes);
    cudaccl::Input input;
    input.planes[0] = image.pixels();
    input.strides[0] = image.stride;
    cudaccl::Frame frame;
    frame.input = &input;
    frame.settings = &settings;
    frame.reset_tracks = i == 0 || bytes->below(16) == 1;
    time += int64_t{bytes->byte()} * 2'000'000;
    frame.time = bytes->below(16) == 1 ? CUDACCL_NO_TIME : time;
    compare(streams[0], streams[0].run(frame), streams[1], streams[1].run(frame));
  }
}

}  // namespace fuzz
