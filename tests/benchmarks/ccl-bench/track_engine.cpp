// SPDX-License-Identifier: LGPL-2.1-or-later
/// The host's engine with one thread, with and without tracks. Both take each frame in turn, so that they
/// meet the same machine.
#include <array>
#include <chrono>
#include <cstdlib>
#include <iterator>
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
constexpr uint32_t kNeverConfirmed = 1000;  ///< more frames than there are

/// An engine and its last frame.
class HostCamera {
 public:
  Status configure(Config config, uint32_t max_tracks) {
    config.max_tracks = max_tracks;
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
                       .tracking = tracking,
                       .time = time_ += kFrameTime};
    const auto start = std::chrono::steady_clock::now();
    CCL_RETURN_IF_ERROR(engine_->push(job));
    CCL_RETURN_IF_ERROR(engine_->pop(&result_));
    times->push_back(
        std::chrono::duration<float, std::micro>(std::chrono::steady_clock::now() - start).count());
    return {};
  }

  const FrameResult& result() const { return result_; }

  Tracking tracking;  ///< a track that is never confirmed guides no cut

 private:
  Config config_;
  std::unique_ptr<Engine> engine_ = make_host_engine();
  std::vector<uint8_t> pixels_;
  FrameResult result_;
  int64_t time_ = 0;
};

Status write_rows(const Size& size, Scene scene, Output output, CsvWriter* csv) {
  const std::vector<test::Image> images = track_images(size, scene);
  const std::vector<Following> all = followings(scene);
  const Config config = config_of(size, output);
  std::vector<HostCamera> cameras(all.size());
  std::vector<std::vector<float>> times(all.size());
  for (size_t k = 0; k < all.size(); ++k) {
    CCL_RETURN_IF_ERROR(cameras[k].configure(config, all[k] == Following::kUntracked ? 0 : kMaxTracks));
    if (all[k] == Following::kUnguided) {
      cameras[k].tracking.confirm_frames = kNeverConfirmed;
    }
  }
  for (uint32_t i = 0; i < kWarmUps + kRepetitions; ++i) {
    for (size_t k = 0; k < all.size(); ++k) {
      CCL_RETURN_IF_ERROR(
          cameras[k].run(images[image_at(i, images.size())], track_settings(scene), &times[k]));
    }
  }
  for (size_t k = 0; k < all.size(); ++k) {
    Row row = row_of(config, "cpu", following_name(all[k]), "engine", scene_name(scene));
    row.components = cameras[k].result().counts.n_components;
    row.times.assign(times[k].begin() + kWarmUps, times[k].end());
    CCL_RETURN_IF_ERROR(csv->write(row));
  }
  const auto& tracks = cameras.back().result().tracks;
  return tracks.size() == cameras.back().result().components.size()
             ? Status()
             : Status(StatusCode::kDeviceError,
                      std::to_string(tracks.size()) + " tracks of " +
                          std::to_string(cameras.back().result().components.size()) + " objects");
}

constexpr uint32_t kNoiseWarmUps = 6;
constexpr uint32_t kNoiseRepetitions = 14;

Status write_noise_rows(const Size& size, uint32_t density, CsvWriter* csv) {
  const std::vector<test::Image> images = noise_images(size, density);
  Config config = config_of(size, Output::kNone);
  config.max_components = kNoiseRecords;
  std::array<HostCamera, std::size(kNoiseTables)> cameras;
  std::array<std::vector<float>, std::size(kNoiseTables)> times;
  for (size_t k = 0; k < cameras.size(); ++k) {
    CCL_RETURN_IF_ERROR(cameras[k].configure(config, kNoiseTables[k]));
  }
  for (uint32_t i = 0; i < kNoiseWarmUps + kNoiseRepetitions; ++i) {
    for (size_t k = 0; k < cameras.size(); ++k) {
      CCL_RETURN_IF_ERROR(cameras[k].run(images[i % kFrames], {}, &times[k]));
    }
  }
  for (size_t k = 0; k < cameras.size(); ++k) {
    Row row = row_of(config, "cpu", noise_table_name(kNoiseTables[k]), "engine",
                     "noise-" + std::to_string(density));
    row.components = cameras[k].result().counts.n_components;
    row.times.assign(times[k].begin() + kNoiseWarmUps, times[k].end());
    CCL_RETURN_IF_ERROR(csv->write(row));
  }
  return {};
}

Status open_csv(int argc, char** argv, CsvWriter* csv) {
  if (argc != 3) {
    return {StatusCode::kInvalidArgument, std::string("usage: ccl-bench ") + argv[1] + " FILE.csv"};
  }
  const char* commit = std::getenv("COMMIT");
  CCL_RETURN_IF_ERROR(csv->open(argv[2]));
  csv->write_header(machine_facts(commit != nullptr ? commit : "", argc, argv));
  return {};
}

}  // namespace

Status run_track_engine(int argc, char** argv) {
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_csv(argc, argv, &csv));
  for (const Size& size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    for (const Scene scene : kScenes) {
      for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay}) {
        CCL_RETURN_IF_ERROR(write_rows(size, scene, output, &csv));
      }
    }
  }
  return {};
}

Status run_track_noise_engine(int argc, char** argv) {
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_csv(argc, argv, &csv));
  for (const uint32_t density : kNoiseDensities) {
    CCL_RETURN_IF_ERROR(write_noise_rows({1920, 1080}, density, &csv));
  }
  return {};
}

}  // namespace ccl::bench
