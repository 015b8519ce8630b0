// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage beside the same frames without it, in the same run.
#include "track.h"

#include <array>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "ccl/engine.h"
#include "csv.h"
#include "device.h"
#include "device/check.h"
#include "device/graph.h"
#include "device/pipeline.h"
#include "device/stages/track/tracker.h"
#include "device_timer.h"
#include "images.h"
#include "options.h"
#include "track_scene.h"

namespace ccl::bench {

namespace {

using device::check;
using device::DeviceArray;

constexpr size_t kPitchAlignment = 128;
constexpr Repetitions kRepetitions{60, 60000};

// Several cameras at once: enough frames of each that the begin and the end of all count little.
constexpr uint32_t kCameras = 8;
constexpr uint32_t kFramesOfCamera = 8;

/// A camera: a stream of its own, and tracks of its own.
class Camera {
 public:
  Camera(const Config& config, Following following)
      : config_(config), following_(following), is_tracked_(following != Following::kUntracked) {}

  const device::Stream& stream() const { return stream_; }

  Status configure(const std::vector<test::Image>& images) {
    pitch_ = (config_.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    CCL_RETURN_IF_ERROR(stream_.create());
    CCL_RETURN_IF_ERROR(output_.allocate(size_t{config_.width} * config_.height * 4));
    CCL_RETURN_IF_ERROR(records_.allocate(config_.max_components));
    CCL_RETURN_IF_ERROR(counts_.allocate(1));
    CCL_RETURN_IF_ERROR(tracks_.allocate(config_.max_tracks));
    inputs_ = std::vector<DeviceArray<uint8_t>>(images.size());
    graphs_ = std::vector<device::Graph>(images.size());
    for (size_t i = 0; i < images.size(); ++i) {
      CCL_RETURN_IF_ERROR(inputs_[i].allocate(pitch_ * config_.height));
      CCL_RETURN_IF_ERROR(
          check(cudaMemcpy2DAsync(inputs_[i].data(), pitch_, images[i].pixels(), images[i].stride,
                                  config_.width, config_.height, cudaMemcpyHostToDevice, stream_.get()),
                "cudaMemcpy2DAsync of an image"));
    }
    if (is_tracked_) {
      CCL_RETURN_IF_ERROR(tracker_.configure(config_, 0));
    }
    const AlgorithmInfo* algorithm = nullptr;
    CCL_RETURN_IF_ERROR(resolve_algorithm(config_.algorithm, Backend::kCuda, &algorithm));
    return device::make_pipeline(config_, *algorithm, &pipeline_);
  }

  /// The frames that are shown once, and a graph for each image.
  Status begin(const Settings& settings) {
    job_.settings = settings;
    if (following_ == Following::kTracked) {
      guide_ = tracker_.guide_for(settings, {});
    }
    CCL_RETURN_IF_ERROR(pipeline_->prepare(settings, frame(0)));
    // Once outside a graph: the first launch loads the kernels, which a capture does not allow.
    CCL_RETURN_IF_ERROR(enqueue(settings, 0));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    for (uint32_t i = 0; i < graphs_.size(); ++i) {
      CCL_RETURN_IF_ERROR(graphs_[i].capture(stream_, [&] { return enqueue(settings, i); }));
    }
    while (n_frames_ + kFrames < graphs_.size()) {
      CCL_RETURN_IF_ERROR(launch_next());
    }
    return {};
  }

  Status launch_next() { return launch(image_at(n_frames_++, graphs_.size())); }

  /// Waits for all frames.
  Status finish(FrameCounts* counts) {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpyAsync(counts, counts_.data(), sizeof(*counts), cudaMemcpyDeviceToHost, stream_.get()),
              "cudaMemcpyAsync of the counts"));
    CCL_RETURN_IF_ERROR(stream_.synchronize());
    return following_ == Following::kTracked ? check_ids(*counts) : Status();
  }

 private:
  device::FrameBuffers frame(uint32_t i) const {
    return {.input = inputs_[i].data(),
            .input_pitch = pitch_,
            .output = output_.data(),
            .records = records_.data(),
            .counts = counts_.data(),
            .is_tracked = is_tracked_,
            .guide = guide_};
  }

  track::TrackStep next_step() {
    job_.time += kFrameTime;
    return tracker_.next_step(job_);
  }

  Status enqueue(const Settings& settings, uint32_t i) {
    const device::FrameBuffers buffers = frame(i);
    const track::TrackStep step = is_tracked_ ? next_step() : track::TrackStep{};
    if (guide_ != nullptr) {
      tracker_.guide_for(settings, step);
    }
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(settings, buffers, stream_.get(), nullptr));
    if (!is_tracked_) {
      return {};
    }
    const device::TrackedFrame tracked{.labels = pipeline_->labels(settings, buffers),
                                       .luma = {buffers.input, pitch_, config_.width, config_.height},
                                       .buffers = buffers,
                                       .settings = settings,
                                       .tracks = tracks_.data(),
                                       .defers_overflow = pipeline_->defers_overflow()};
    return tracker_.enqueue(config_, tracked, step, stream_.get(), nullptr);
  }

  Status launch(uint32_t i) {
    if (is_tracked_) {
      CCL_RETURN_IF_ERROR(tracker_.set_step(next_step(), frame(i), &graphs_[i]));
    }
    return graphs_[i].launch(stream_);
  }

  /// No object may have lost its id.
  Status check_ids(const FrameCounts& counts) {
    uint32_t last_id = 0;
    CCL_RETURN_IF_ERROR(tracker_.end(stream_));
    CCL_RETURN_IF_ERROR(tracker_.read_last_id(&last_id));
    return last_id == counts.n_components
               ? Status()
               : Status(StatusCode::kDeviceError, std::to_string(counts.n_components) + " objects had " +
                                                      std::to_string(last_id) + " ids");
  }

  Config config_;
  Following following_;
  bool is_tracked_;
  device::Guide* guide_ = nullptr;  ///< if tracks guide cuts
  device::Stream stream_;
  size_t pitch_ = 0;
  FrameJob job_;
  uint32_t n_frames_ = 1;
  std::vector<DeviceArray<uint8_t>> inputs_;
  DeviceArray<uint8_t> output_;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;
  DeviceArray<CclTrack> tracks_;
  std::unique_ptr<device::Pipeline> pipeline_;
  device::Tracker tracker_;
  std::vector<device::Graph> graphs_;
};

/// Frames of one camera, one after the other.
Status run_camera(const Config& config, Following following, const std::vector<test::Image>& images,
                  const Settings& settings, Times* times, FrameCounts* counts) {
  Camera camera(config, following);
  CCL_RETURN_IF_ERROR(camera.configure(images));
  CCL_RETURN_IF_ERROR(camera.begin(settings));
  DeviceTimer timer(camera.stream());
  CCL_RETURN_IF_ERROR(timer.run(
      kRepetitions, [&] { return camera.launch_next(); }, times));
  return camera.finish(counts);
}

/// Frames of several cameras at the same time. The times are for a frame: that of all by their number.
Status run_cameras(const Config& config, Following following, const std::vector<test::Image>& images,
                   const Settings& settings, Times* times, FrameCounts* counts) {
  std::vector<std::unique_ptr<Camera>> cameras;
  std::array<device::Event, kCameras> ended;
  for (device::Event& event : ended) {
    cameras.push_back(std::make_unique<Camera>(config, following));
    CCL_RETURN_IF_ERROR(cameras.back()->configure(images));
    CCL_RETURN_IF_ERROR(cameras.back()->begin(settings));
    CCL_RETURN_IF_ERROR(event.create());
  }
  device::Stream all;
  device::Event begun;
  CCL_RETURN_IF_ERROR(all.create());
  CCL_RETURN_IF_ERROR(begun.create());
  const auto enqueue = [&]() -> Status {
    CCL_RETURN_IF_ERROR(begun.record(all));
    for (const auto& camera : cameras) {
      CCL_RETURN_IF_ERROR(
          check(cudaStreamWaitEvent(camera->stream().get(), begun.get()), "cudaStreamWaitEvent"));
    }
    for (uint32_t i = 0; i < kFramesOfCamera; ++i) {
      for (const auto& camera : cameras) {
        CCL_RETURN_IF_ERROR(camera->launch_next());
      }
    }
    for (uint32_t i = 0; i < kCameras; ++i) {
      CCL_RETURN_IF_ERROR(ended[i].record(cameras[i]->stream()));
      CCL_RETURN_IF_ERROR(check(cudaStreamWaitEvent(all.get(), ended[i].get()), "cudaStreamWaitEvent"));
    }
    return {};
  };
  DeviceTimer timer(all);
  CCL_RETURN_IF_ERROR(timer.run(kRepetitions, enqueue, times));
  for (float& us : *times) {
    us /= kCameras * kFramesOfCamera;
  }
  for (const auto& camera : cameras) {
    CCL_RETURN_IF_ERROR(camera->finish(counts));
  }
  return {};
}

Status write_rows(const Size& size, Scene scene, CsvWriter* csv) {
  using Run = Status (*)(const Config&, Following, const std::vector<test::Image>&, const Settings&, Times*,
                         FrameCounts*);
  constexpr std::pair<const char*, Run> kModes[] = {{"graph", run_camera}, {"cameras", run_cameras}};
  const std::vector<test::Image> images = track_images(size, scene);
  const Settings settings = track_settings(scene);
  for (const auto& [mode, run] : kModes) {
    for (const Output output : {Output::kNone, Output::kColorized, Output::kOverlay}) {
      for (const Following following : followings(scene)) {
        Config config = config_of(size, output);
        config.max_tracks = following == Following::kUntracked ? 0 : kMaxTracks;
        Row row = row_of(config, "cuda", following_name(following), mode, scene_name(scene));
        FrameCounts counts{};
        CCL_RETURN_IF_ERROR(run(config, following, images, settings, &row.times, &counts));
        row.components = counts.n_components;
        CCL_RETURN_IF_ERROR(csv->write(row));
      }
    }
  }
  return {};
}

Status write_noise_rows(const Size& size, uint32_t density, CsvWriter* csv) {
  const std::vector<test::Image> images = noise_images(size, density);
  for (const uint32_t max_tracks : kNoiseTables) {
    Config config = config_of(size, Output::kNone);
    config.max_components = kNoiseRecords;
    config.max_tracks = max_tracks;
    Row row =
        row_of(config, "cuda", noise_table_name(max_tracks), "graph", "noise-" + std::to_string(density));
    FrameCounts counts{};
    CCL_RETURN_IF_ERROR(run_camera(config, max_tracks > 0 ? Following::kUnguided : Following::kUntracked,
                                   images, {}, &row.times, &counts));
    row.components = counts.n_components;
    CCL_RETURN_IF_ERROR(csv->write(row));
  }
  return {};
}

}  // namespace

Status run_track_noise(int argc, char** argv) {
  std::unique_ptr<Device> device;
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_device_csv(argc, argv, &device, &csv));
  for (const uint32_t density : kNoiseDensities) {
    CCL_RETURN_IF_ERROR(write_noise_rows({1920, 1080}, density, &csv));
  }
  return {};
}

Status run_track(int argc, char** argv) {
  std::unique_ptr<Device> device;
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_device_csv(argc, argv, &device, &csv));
  for (const Size& size : {Size{1280, 720}, Size{1920, 1080}, Size{3840, 2160}}) {
    for (const Scene scene : kScenes) {
      CCL_RETURN_IF_ERROR(write_rows(size, scene, &csv));
    }
  }
  return {};
}

}  // namespace ccl::bench
