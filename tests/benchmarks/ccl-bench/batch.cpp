// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames of a batch in the GPU's memory, in two ways. Mode `batch`: the kernel alone, as `graph` measures a
/// frame. Mode `host`: push() and pop() by the host's clock, two batches in flight, records on the host.
/// Times are those of a frame: of a batch, divided by the number of frames.
#include "batch.h"

#include <algorithm>
#include <chrono>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "ccl/engine.h"
#include "csv.h"
#include "device.h"
#include "device/check.h"
#include "device/memory.h"
#include "device/runs/batch_pipeline.h"
#include "device_timer.h"
#include "image_set.h"
#include "images.h"
#include "options.h"

namespace ccl::bench {

namespace {

using device::DeviceArray;

constexpr size_t kPitchAlignment = 128;
constexpr uint32_t kSlots = 2;
constexpr uint32_t kMaxComponents = 1u << 20;
constexpr Repetitions kRepetitions{30, 20000};

struct Case {
  Size size;
  Output output;
  uint32_t features;
  std::vector<uint32_t> batches;
};

/// Of frames that are equal.
class BatchBench {
 public:
  BatchBench(const Case& the_case, uint32_t batch)
      : config_{.width = the_case.size.width,
                .height = the_case.size.height,
                .algorithm = Algorithm::kRuns,
                .output = the_case.output,
                .layout = {},
                .max_components = std::min(kMaxComponents, the_case.size.width * the_case.size.height / 4),
                .slots = kSlots,
                .batch = batch,
                .input_memory = Memory::kDevice,
                .output_memory = Memory::kDevice},
        timer_(stream_) {
    settings_.features = the_case.features;
  }

  Status configure() {
    pitch_ = (config_.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
    const size_t n_frames = size_t{kSlots} * config_.batch;
    const size_t output = size_t{config_.width} * config_.height * bytes_per_pixel(config_.output);
    CCL_RETURN_IF_ERROR(stream_.create());
    CCL_RETURN_IF_ERROR(inputs_.allocate(n_frames * pitch_ * config_.height));
    CCL_RETURN_IF_ERROR(outputs_.allocate(n_frames * output));
    CCL_RETURN_IF_ERROR(records_.allocate(size_t{config_.batch} * config_.max_components));
    CCL_RETURN_IF_ERROR(counts_.allocate(config_.batch));
    for (size_t i = 0; i < n_frames; ++i) {
      FrameJob job;
      job.input = {inputs_.data() + i * pitch_ * config_.height, pitch_, Memory::kDevice};
      job.output = {outputs_.data() + i * output, output / config_.height, Memory::kDevice};
      job.settings = settings_;
      jobs_.push_back(job);
      frames_.push_back({inputs_.data() + i * pitch_ * config_.height, outputs_.data() + i * output});
    }
    CCL_RETURN_IF_ERROR(pipeline_.configure(config_));
    CCL_RETURN_IF_ERROR(make_device_engine({}, &engine_));
    return engine_->configure(config_);
  }

  Status load(const test::Image& image) {
    for (const device::runs::Batch::Frame& frame : frames_) {
      CCL_RETURN_IF_ERROR(
          device::check(cudaMemcpy2D(const_cast<uint8_t*>(frame.input), pitch_, image.pixels(), image.stride,
                                     image.width, image.height, cudaMemcpyHostToDevice),
                        "cudaMemcpy2D of an image"));
    }
    return {};
  }

  Status time_kernel(Times* times) {
    const device::BatchBuffers buffers{.frames = std::span(frames_).first(config_.batch),
                                       .input_pitch = pitch_,
                                       .records = records_.data(),
                                       .counts = counts_.data()};
    CCL_RETURN_IF_ERROR(timer_.run(
        kRepetitions,
        [&] { return pipeline_.enqueue(settings_, buffers, /*paints_labels=*/false, stream_.get()); },
        times));
    for (float& us : *times) {
      us /= static_cast<float>(config_.batch);
    }
    return {};
  }

  Status time_host(Times* times, uint32_t* n_components) {
    using Clock = std::chrono::steady_clock;
    CCL_RETURN_IF_ERROR(push(0));
    for (int i = 1; i <= kRepetitions.most; ++i) {
      const Clock::time_point start = Clock::now();
      CCL_RETURN_IF_ERROR(push(i % kSlots));
      for (uint32_t frame = 0; frame < config_.batch; ++frame) {
        FrameResult result;
        CCL_RETURN_IF_ERROR(engine_->pop(&result));
        *n_components = result.counts.n_components;
      }
      const float us = std::chrono::duration<float, std::micro>(Clock::now() - start).count();
      times->push_back(us / static_cast<float>(config_.batch));
    }
    engine_->flush();
    return {};
  }

 private:
  Status push(uint32_t slot) {
    return engine_->push(std::span(jobs_).subspan(size_t{slot} * config_.batch, config_.batch));
  }

  Config config_;
  Settings settings_;
  size_t pitch_ = 0;
  device::Stream stream_;
  DeviceArray<uint8_t> inputs_, outputs_;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;
  std::vector<device::runs::Batch::Frame> frames_;
  std::vector<FrameJob> jobs_;
  device::BatchPipeline pipeline_;
  DeviceTimer timer_;
  std::unique_ptr<Engine> engine_;
};

Status write_rows(const Case& the_case, uint32_t batch, const std::vector<test::Image>& images,
                  CsvWriter* csv) {
  BatchBench bench(the_case, batch);
  CCL_RETURN_IF_ERROR(bench.configure());
  for (const test::Image& image : images) {
    Row row{.backend = "cuda",
            .algorithm = "runs x " + std::to_string(batch),
            .mode = "batch",
            .output = output_name(the_case.output),
            .features = features_name(the_case.features),
            .connectivity = 8,
            .image = image.name,
            .width = the_case.size.width,
            .height = the_case.size.height};
    Row of_host = row;
    of_host.mode = "host";
    uint32_t n_components = 0;
    CCL_RETURN_IF_ERROR(bench.load(image));
    CCL_RETURN_IF_ERROR(bench.time_kernel(&row.times));
    CCL_RETURN_IF_ERROR(bench.time_host(&of_host.times, &n_components));
    row.components = of_host.components = n_components;
    CCL_RETURN_IF_ERROR(csv->write(row));
    CCL_RETURN_IF_ERROR(csv->write(of_host));
  }
  return {};
}

}  // namespace

Status run_batch(int argc, char** argv) {
  std::unique_ptr<Device> device;
  CsvWriter csv;
  CCL_RETURN_IF_ERROR(open_device_csv(argc, argv, &device, &csv));
  Options options;
  options.images = {"short"};
  constexpr Size kFullHd{1920, 1080};
  for (const Case& the_case :
       {Case{kFullHd, Output::kColorized, 0, {1, 3, 8, 24}},
        Case{kFullHd, Output::kColorized, kAllFeatures, {1, 8}}, Case{kFullHd, Output::kNone, 0, {1, 8, 24}},
        Case{{1280, 720}, Output::kColorized, 0, {1, 8, 16}},
        Case{{640, 480}, Output::kColorized, 0, {1, 8, 32}}, Case{{256, 256}, Output::kMask, 0, {1, 8, 128}},
        Case{{3840, 2160}, Output::kColorized, 0, {1, 4}}}) {
    std::vector<test::Image> images;
    CCL_RETURN_IF_ERROR(make_images(options, the_case.size, &images));
    for (const uint32_t batch : the_case.batches) {
      CCL_RETURN_IF_ERROR(write_rows(the_case, batch, images, &csv));
    }
  }
  return {};
}

}  // namespace ccl::bench
