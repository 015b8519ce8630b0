// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/engine.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <limits>
#include <new>
#include <system_error>

#include "ccl/colors.h"
#include "host/number.h"
#include "host/paint.h"
#include "host/select.h"

namespace ccl::host {

namespace {

constexpr uint32_t kRowsPerTurn = 64;

/// Tells how long each stage took.
class StageClock {
 public:
  /// Microseconds since the last call, or since the clock was made.
  float lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<float, std::micro> elapsed = now - last_;
    last_ = now;
    return elapsed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

std::unique_ptr<Labeler> make_labeler(Algorithm algorithm, uint32_t width, uint32_t height,
                                      ThreadPool& pool) {
  switch (algorithm) {
    case Algorithm::kDlp:
      return make_dlp(width, height, pool);
    case Algorithm::kStefanoBulgarelli:
      return make_stefano_bulgarelli(width, height);
    default:
      return make_sauf(width, height);
  }
}

size_t padded_stride(const Config& config) {
  return size_t{config.width} + 2;
}

size_t count_pixels(const Config& config) {
  return size_t{config.width} * config.height;
}

/// No frame has more components than pixels, whatever the configuration allows.
uint32_t count_records(const Config& config) {
  return static_cast<uint32_t>(std::min(size_t{config.max_components}, count_pixels(config)));
}

}  // namespace

HostEngine::Memory::Memory(const Config& config, Algorithm algorithm, ThreadPool& pool)
    // Zeroed: segments are only ever written inside the border.
    : padded_segments(std::make_unique<uint8_t[]>(padded_stride(config) * (size_t{config.height} + 2))),
      segments{padded_segments.get() + padded_stride(config) + 1, padded_stride(config), config.width,
               config.height},
      root_map(std::make_unique_for_overwrite<uint32_t[]>(count_pixels(config))),
      labels(std::make_unique_for_overwrite<uint32_t[]>(count_pixels(config))),
      areas(std::make_unique_for_overwrite<uint32_t[]>(count_pixels(config) + 1)),
      record_of_label(std::make_unique_for_overwrite<uint32_t[]>(count_pixels(config) + 1)),
      ink(std::make_unique_for_overwrite<uint32_t[]>(count_pixels(config) + 1)),
      sums(std::make_unique_for_overwrite<Sums[]>(count_records(config))),
      values(std::make_unique_for_overwrite<uint8_t[]>(count_records(config))),
      labeler(make_labeler(algorithm, config.width, config.height, pool)),
      slots(config.slots) {
  for (Slot& slot : slots) {
    slot.records = std::make_unique_for_overwrite<CclComponent[]>(count_records(config));
  }
}

std::string HostEngine::description() const {
  const uint32_t n_threads = pool_ ? pool_->n_threads() : std::max(1u, std::thread::hardware_concurrency());
  return "CPU, " + std::to_string(n_threads) + (n_threads == 1 ? " thread" : " threads");
}

Status HostEngine::configure(const Config& config) {
  flush();
  memory_.reset();
  CCL_RETURN_IF_ERROR(validate(config));
  Algorithm algorithm{};
  CCL_RETURN_IF_ERROR(resolve_algorithm(config.algorithm, Backend::kCpu, &algorithm));
  try {
    if (!pool_) {
      pool_ = std::make_unique<ThreadPool>();
    }
    memory_ = std::make_unique<Memory>(config, algorithm, *pool_);
    palette_colors();  // built here, so that no frame waits for it
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "not enough memory for frames of " + std::to_string(config.width) +
                                          "×" + std::to_string(config.height) + " pixels and " +
                                          std::to_string(config.slots) + " slots"};
  } catch (const std::system_error& error) {
    return {StatusCode::kOutOfMemory, std::string("cannot start the engine's threads: ") + error.what()};
  }
  config_ = config;
  return {};
}

Status HostEngine::push(const FrameJob& job) {
  if (!memory_) {
    return {StatusCode::kInvalidArgument, "the engine is not configured"};
  }
  if (n_waiting_ == config_.slots) {
    return {StatusCode::kInvalidArgument,
            "all " + std::to_string(config_.slots) + " slots hold frames; pop one first"};
  }
  CCL_RETURN_IF_ERROR(validate(job, config_));

  Slot& slot = memory_->slots[(first_waiting_ + n_waiting_) % config_.slots];
  slot.result = {};
  StageTimes& times = slot.result.times;
  const LabeledFrame frame = label(job, times);
  StageClock clock;
  measure(job, frame, slot);
  times.measure = clock.lap();
  if (config_.output != Output::kNone) {
    paint_frame(job, frame, slot.result);
    times.paint = clock.lap();
  }
  ++n_waiting_;
  return {};
}

Status HostEngine::pop(FrameResult* result) {
  if (n_waiting_ == 0) {
    return {StatusCode::kNeedMoreData, ""};
  }
  *result = memory_->slots[first_waiting_].result;
  first_waiting_ = (first_waiting_ + 1) % config_.slots;
  --n_waiting_;
  return {};
}

/// Applies the foreground rule to the input.
void HostEngine::separate_segments(const FrameJob& job) {
  const ForegroundRule rule = job.settings.rule;
  pool_->parallel_for((config_.height + kRowsPerTurn - 1) / kRowsPerTurn, [this, &job, rule](uint32_t turn) {
    const uint32_t end = std::min(config_.height, (turn + 1) * kRowsPerTurn);
    const size_t stride = memory_->segments.stride;
    for (size_t y = size_t{turn} * kRowsPerTurn; y < end; ++y) {
      const uint8_t* in = job.input.pixels + y * job.input.stride;
      uint8_t* out = memory_->padded_segments.get() + (y + 1) * stride + 1;
      std::transform(in, in + config_.width, out, [rule](uint8_t value) { return rule.segment(value); });
    }
  });
}

LabeledFrame HostEngine::label(const FrameJob& job, StageTimes& times) {
  uint32_t* root_map = job.root_map != nullptr ? job.root_map : memory_->root_map.get();
  uint32_t* labels = job.labels != nullptr ? job.labels : memory_->labels.get();
  StageClock clock;
  separate_segments(job);
  memory_->labeler->label(memory_->segments, job.settings.connectivity, root_map);
  times.label = clock.lap();
  const uint32_t n_labels = number(root_map, config_.width * config_.height, labels, memory_->areas.get());
  times.number = clock.lap();
  return {memory_->segments, labels, n_labels};
}

void HostEngine::measure(const FrameJob& job, const LabeledFrame& frame, Slot& slot) {
  const Selection selection = select(memory_->areas.get(), frame.n_labels, job.settings,
                                     config_.max_components, memory_->record_of_label.get());
  measure_records(frame, job.settings,
                  {.areas = memory_->areas.get(),
                   .record_of_label = memory_->record_of_label.get(),
                   .n_records = selection.n_records,
                   .sums = memory_->sums.get(),
                   .values = memory_->values.get(),
                   .records = slot.records.get()});
  slot.result.n_labels = frame.n_labels;
  slot.result.n_components = selection.n_components;
  slot.result.overflow = selection.n_components > config_.max_components;
  slot.result.labels_saturated =
      config_.output == Output::kLabels && frame.n_labels > std::numeric_limits<uint16_t>::max();
  slot.result.components = {slot.records.get(), selection.n_records};
}

void HostEngine::paint_frame(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result) {
  paint({.width = config_.width,
         .height = config_.height,
         .output = config_.output,
         .layout = config_.layout,
         .settings = job.settings,
         .labels = frame.labels,
         .areas = memory_->areas.get(),
         .n_labels = frame.n_labels,
         .input = job.input,
         .image = job.output},
        memory_->ink.get(), *pool_);
  if (job.settings.draw_boxes && bytes_per_pixel(config_.output) == 4) {
    draw_boxes(result.components, config_.layout, job.output);
  }
}

}  // namespace ccl::host

namespace ccl {

std::unique_ptr<Engine> make_host_engine() {
  return std::make_unique<host::HostEngine>();
}

}  // namespace ccl
