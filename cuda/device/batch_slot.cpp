// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/batch_slot.h"

#include <algorithm>
#include <cstdint>

#include "device/check.h"

namespace ccl::device {

namespace {

constexpr uintptr_t kAlignment = 16;  ///< of what the kernel writes; see FrameBuffers

/// Whether rows of `row` bytes in device memory can be written without a copy.
bool is_writable(const void* pixels, size_t stride, size_t row, Memory memory, uint32_t height) {
  return memory == Memory::kDevice && (stride == row || height == 1) &&
         reinterpret_cast<uintptr_t>(pixels) % kAlignment == 0;
}

bool has_only_labels(const Settings& settings, const Segmentation& segmentation, const Config& config) {
  return !makes_bits(settings.rule, segmentation, /*has_regions=*/false) &&
         !settings.separation.is_active() && !settings.filter.is_active(config.width * config.height) &&
         !has_grey(settings) && !settings.draw_boxes && settings.mask_on == 255 && settings.mask_off == 0;
}

bool can_share(const FrameJob& job, const Config& config) {
  const size_t row = size_t{config.width} * bytes_per_pixel(config.output);
  const bool writes_output =
      config.output == Output::kNone ||
      (job.output.chroma[0] == nullptr &&
       is_writable(job.output.pixels, job.output.stride, row, job.output.memory, config.height));
  const bool writes_labels = config.planes == 0 || is_writable(job.label_plane.values, job.label_plane.stride,
                                                               config.width * sizeof(uint32_t),
                                                               job.label_plane.memory, config.height);
  return job.input.memory == Memory::kDevice && job.input.source.pixels == nullptr &&
         job.regions == nullptr && job.outlines == nullptr && job.root_map == nullptr &&
         job.labels == nullptr && writes_output && writes_labels &&
         has_only_labels(job.settings, job.segmentation, config);
}

}  // namespace

bool BatchSlot::is_for(const Config& config) {
  const AlgorithmInfo* algorithm = nullptr;
  const bool is_runs = resolve_algorithm(config.algorithm, Backend::kCuda, &algorithm).ok() &&
                       algorithm->algorithm == Algorithm::kRuns;
  const bool paints = config.output == Output::kColorized || config.output == Output::kLabels ||
                      config.output == Output::kMask;
  return is_runs && config.max_tracks == 0 &&
         ((paints && config.planes == 0) ||
          (config.output == Output::kNone && (config.planes & ~kLabelPlane) == 0));
}

Status BatchSlot::configure(const Config& config) {
  config_ = config;
  CCL_RETURN_IF_ERROR(stream_.create());
  for (Event* event : {&started_, &done_, &foreign_}) {
    CCL_RETURN_IF_ERROR(event->create());
  }
  jobs_.reserve(config.batch);
  frames_.reserve(config.batch);
  CCL_RETURN_IF_ERROR(pipeline_.configure(config));
  return delivery_.configure(config.max_components, config.batch, stream_);
}

Status BatchSlot::prepare(std::span<const FrameJob> jobs, bool* can_share_launch) {
  *can_share_launch = std::all_of(jobs.begin(), jobs.end(), [&](const FrameJob& job) {
    return can_share(job, config_) && job.settings == jobs[0].settings &&
           job.input.stride == jobs[0].input.stride;
  });
  if (*can_share_launch) {
    CCL_RETURN_IF_ERROR(pipeline_.prepare(jobs[0].settings));
    *can_share_launch = pipeline_.fits();
  }
  return {};
}

/// The batch starts after all work on the streams of its frames; mostly this is one stream.
Status BatchSlot::follow(std::span<const FrameJob> jobs) const {
  const void* last = nullptr;
  for (const FrameJob& job : jobs) {
    for (void* stream : {job.input.stream, job.output.stream, job.label_plane.stream}) {
      if (stream != nullptr && stream != last) {
        CCL_RETURN_IF_ERROR(
            check(cudaEventRecord(foreign_.get(), static_cast<cudaStream_t>(stream)), "cudaEventRecord"));
        CCL_RETURN_IF_ERROR(check(cudaStreamWaitEvent(stream_.get(), foreign_.get()), "cudaStreamWaitEvent"));
        last = stream;
      }
    }
  }
  return {};
}

Status BatchSlot::start(std::span<const FrameJob> jobs) {
  const Settings& settings = jobs[0].settings;
  CCL_RETURN_IF_ERROR(follow(jobs));
  const bool paints_labels = config_.planes != 0;
  jobs_.assign(jobs.begin(), jobs.end());
  n_popped_ = 0;
  frames_.clear();
  for (const FrameJob& job : jobs) {
    uint8_t* output = config_.output == Output::kNone ? nullptr : job.output.pixels;
    frames_.push_back(
        {.input = job.input.pixels,
         .output = paints_labels ? reinterpret_cast<uint8_t*>(job.label_plane.values) : output});
  }
  CCL_RETURN_IF_ERROR(started_.record(stream_));
  CCL_RETURN_IF_ERROR(pipeline_.enqueue(settings,
                                        {.frames = frames_,
                                         .input_pitch = jobs[0].input.stride,
                                         .records = delivery_.device_records(),
                                         .counts = delivery_.device_counts()},
                                        paints_labels, stream_.get()));
  CCL_RETURN_IF_ERROR(
      delivery_.enqueue(/*defers_overflow=*/true, static_cast<uint32_t>(jobs.size()), stream_));
  return done_.record(stream_);
}

Status BatchSlot::pop(FrameResult* result, bool* overflows) {
  if (n_popped_ == 0) {
    CCL_RETURN_IF_ERROR(done_.synchronize());
    CCL_RETURN_IF_ERROR(done_.elapsed_since(started_, &us_of_frame_));
    us_of_frame_ /= static_cast<float>(jobs_.size());
  }
  const auto frame = static_cast<uint32_t>(n_popped_++);
  *result = {};
  *overflows = delivery_.overflows(frame);
  if (*overflows) {
    return {};
  }
  result->counts.n_labels = delivery_.counts(frame).n_labels;
  result->counts.n_components = delivery_.counts(frame).n_components;
  result->components = delivery_.records(frame);
  result->labels_saturated = config_.output == Output::kLabels && result->counts.n_labels > kMaxPaintedLabel;
  result->times.label = us_of_frame_;
  return {};
}

void BatchSlot::wait() const {
  if (stream_.get() != nullptr) {
    static_cast<void>(stream_.synchronize());
  }
}

void BatchSlot::flush() {
  wait();
  n_popped_ = jobs_.size();
}

}  // namespace ccl::device
