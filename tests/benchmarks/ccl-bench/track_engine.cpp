// SPDX-License-Identifier: LGPL-2.1-or-later
/// The host's engine with one thread, with and without tracks. Both take each frame in turn, so that they
/// meet the same machine.
#include <array>
#include <chrono>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "csv.h"
#include "machine.h"
#include "track.h"
#include "track_scene.h"

namespace ccl::bench {

namespace {

constexpr uint32_t kWarmUps = 20;
constexpr uint32_t kRepetitions = 300;

/// An engine and its last frame.
class HostCamera {
 public:
  Status configure(Config config, bool is_tracked) {
    config.max_tracks = is_tracked ? kMaxTracks : 0;
    config.threads = 1;
    config_ = config;
    pixels_.resize(size_t{config.width} * config.height * bytes_per_pixel(config.output));
    return engine_->configure(config);
  }

  /// Adds the time of the frame, in µs.
  Status run(const test::Image& image, const Settings& settings, std::vector<float>* times) {
    const FrameJob job{.input = {image.pixels(), image.stride},
                       .output = {pixels_.data(), size_t{config_.width} * bytes_per_pixel(config_.output)},
                       .settings = settings,
                       .time = time_ += kFrameTime};
    const auto start = std::chrono::steady_clock::now();
    CCL_RETURN_IF_ERROR(engine_->push(job));
    CCL_RETURN_IF_ERROR(engine_->pop(&result_));
    times->push_back(
        std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count());
    return {};
  }

  const FrameResult& result() const { return result_; }

 private:
  Config config_;
  std::unique_ptr<Engine> engine_ = make_host_engine();
  std::vector<uint8_t> pixels_;
  FrameResult result_;
  int64_t time_ = 0;
};

Status write_rows(const Size& size, bool has_noise, Output output, CsvWriter* csv) {
  std::vector<test::Image> images;
  for (uint32_t i = 0; i < kFrames; ++i) {
    images.push_back(objects(size, i, has_noise));
  }
  const Config config{.width = size.width,
                      .height = size.height,
                      .algorithm = Algorithm::kRuns,
                      .output = output,
                      .layout = {}};
  std::array<HostCamera, 2> cameras;  // without tracks, and with
  std::array<std::vector<float>, 2> times;
  for (size_t k = 0; k < 2; ++k) {
    CCL_RETURN_IF_ERROR(cameras[k].configure(config, k == 1));
  }
  for (uint32_t i = 0; i < kWarmUps + kRepetitions; ++i) {
    for (size_t k = 0; k < 2; ++k) {
      CCL_RETURN_IF_ERROR(cameras[k].run(images[frame_at(i)], track_settings(has_noise), &times[k]));
    }
  }
  for (size_t k = 0; k < 2; ++k) {
    Row row{.backend = "cpu",
            .algorithm = k == 1 ? "tracked" : "untracked",
            .mode = "engine",
            .output = output_name(output),
            .features = features_name(kAllFeatures),
            .connectivity = 8,
            .image = has_noise ? "discs-noise" : "discs",
            .width = size.width,
            .height = size.height,
            .components = cameras[k].result().counts.n_components};
    row.times.total.assign(times[k].begin() + kWarmUps, times[k].end());
    CCL_RETURN_IF_ERROR(csv->write(row));
  }
  const auto& tracks = cameras[1].result().tracks;
  return tracks.size() == cameras[1].result().components.size()
             ? Status()
             : Status(StatusCode::kDeviceError, std::to_string(tracks.size()) + " tracks of " +
                                                    std::to_string(cameras[1].result().components.size()) +
                                                    " objects");
}

}  // namespace

Status run_track_engine(int argc, char** argv) {
  if (argc != 3) {
    return {StatusCode::kInvalidArgument, "usage: ccl-bench track-cpu FILE.csv"};
  }
  const char* commit = std::getenv("COMMIT");
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(csv.open(argv[2]));
  csv.write_header(machine_facts(commit != nullptr ? commit : "", argc, argv));
  for (const Size& size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    for (const bool has_noise : {false, true}) {
      for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay}) {
        CCL_RETURN_IF_ERROR(write_rows(size, has_noise, output, &csv));
      }
    }
  }
  return {};
}

}  // namespace ccl::bench
