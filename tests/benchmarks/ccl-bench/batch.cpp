// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames in the GPU's memory, one by one and as batches, in the same run: the time of a frame is that of its
/// batch, from the first kernel's start to the delivery of the last record, divided by the frames. Rows of
/// the mode `host` have what push() and pop() of a frame take by the host's clock, two batches in flight.
#include "batch.h"

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
#include "image_set.h"
#include "images.h"
#include "options.h"

namespace ccl::bench {

namespace {

constexpr uint32_t kSlots = 2;
constexpr uint32_t kMaxComponents = 1u << 15;
constexpr int kRepetitions = 30;

struct Case {
  Size size;
  Output output;
  std::vector<uint32_t> batches;
};

class BatchBench {
 public:
  BatchBench(const Case& the_case, uint32_t batch)
      : config_{.width = the_case.size.width,
                .height = the_case.size.height,
                .algorithm = Algorithm::kRuns,
                .output = the_case.output,
                .layout = {},
                .max_components = kMaxComponents,
                .slots = kSlots,
                .batch = batch,
                .input_memory = Memory::kDevice,
                .output_memory = Memory::kDevice} {}

  Status configure() {
    CCL_RETURN_IF_ERROR(make_device_engine({}, &engine_));
    CCL_RETURN_IF_ERROR(engine_->configure(config_));
    pitch_ = (config_.width + 127) / 128 * 128;
    const size_t output = size_t{config_.width} * config_.height * bytes_per_pixel(config_.output);
    jobs_.resize(kSlots * config_.batch);
    CCL_RETURN_IF_ERROR(inputs_.allocate(jobs_.size() * pitch_ * config_.height));
    CCL_RETURN_IF_ERROR(outputs_.allocate(jobs_.size() * output));
    for (size_t i = 0; i < jobs_.size(); ++i) {
      jobs_[i].input = {inputs_.data() + i * pitch_ * config_.height, pitch_, Memory::kDevice};
      jobs_[i].output = {outputs_.data() + i * output, output / config_.height, Memory::kDevice};
    }
    return {};
  }

  Status run(const test::Image& image, Times* of_device, Times* of_host, uint32_t* n_components) {
    for (FrameJob& job : jobs_) {
      CCL_RETURN_IF_ERROR(device::check(
          cudaMemcpy2D(const_cast<uint8_t*>(job.input.pixels), pitch_, image.pixels(), image.stride,
                       image.width, image.height, cudaMemcpyHostToDevice),
          "cudaMemcpy2D of an image"));
    }
    using Clock = std::chrono::steady_clock;
    CCL_RETURN_IF_ERROR(push(0));
    for (int i = 0; i < kRepetitions; ++i) {
      const Clock::time_point start = Clock::now();
      CCL_RETURN_IF_ERROR(push((i + 1) % kSlots));
      float of_batch = 0;
      for (uint32_t frame = 0; frame < config_.batch; ++frame) {
        FrameResult result;
        CCL_RETURN_IF_ERROR(engine_->pop(&result));
        of_batch += result.times.label;
        *n_components = result.counts.n_components;
      }
      const float us = std::chrono::duration<float, std::micro>(Clock::now() - start).count();
      of_device->total.push_back(of_batch / static_cast<float>(config_.batch));
      of_host->total.push_back(us / static_cast<float>(config_.batch));
    }
    engine_->flush();
    return {};
  }

 private:
  Status push(uint32_t slot) {
    return engine_->push(std::span(jobs_).subspan(size_t{slot} * config_.batch, config_.batch));
  }

  Config config_;
  std::unique_ptr<Engine> engine_;
  size_t pitch_ = 0;
  device::DeviceArray<uint8_t> inputs_;
  device::DeviceArray<uint8_t> outputs_;
  std::vector<FrameJob> jobs_;
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
            .features = features_name(kAllFeatures),
            .connectivity = 8,
            .image = image.name,
            .width = the_case.size.width,
            .height = the_case.size.height};
    Row of_host = row;
    of_host.mode = "host";
    uint32_t n_components = 0;
    CCL_RETURN_IF_ERROR(bench.run(image, &row.times, &of_host.times, &n_components));
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
  for (const Case& the_case : {Case{{1920, 1080}, Output::kColorized, {1, 2, 4, 8, 16}},
                               Case{{1920, 1080}, Output::kNone, {1, 8}},
                               Case{{1280, 720}, Output::kColorized, {1, 8}},
                               Case{{640, 480}, Output::kColorized, {1, 8, 32}},
                               Case{{256, 256}, Output::kMask, {1, 8, 128}},
                               Case{{3840, 2160}, Output::kColorized, {1, 4}}}) {
    std::vector<test::Image> images;
    CCL_RETURN_IF_ERROR(make_images(options, the_case.size, &images));
    for (const uint32_t batch : the_case.batches) {
      CCL_RETURN_IF_ERROR(write_rows(the_case, batch, images, &csv));
    }
  }
  return {};
}

}  // namespace ccl::bench
