// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/slot.h"

#include <algorithm>

#include "device/check.h"

namespace ccl::device {

namespace {

// Rows of the input start where a memory transaction does.
constexpr size_t kPitchAlignment = 128;

// See FrameBuffers::output.
constexpr size_t kOutputAlignment = 16;

constexpr uint32_t kDeliverBlocks = 32;
constexpr uint32_t kDeliverThreads = 256;

/// Copies the counts, and as many records as there are, to page-locked memory of the host: only the device
/// knows how many, frames have few, and the whole table would cost each of them a megabyte on the bus.
__global__ void __launch_bounds__(kDeliverThreads)
    deliver(const FrameCounts* counts, const CclComponent* records, uint32_t max_components,
            bool defers_overflow, FrameCounts* host_counts, CclComponent* host_records) {
  static_assert(sizeof(CclComponent) % sizeof(uint4) == 0);
  constexpr uint32_t kPieces = sizeof(CclComponent) / sizeof(uint4);
  const uint32_t thread = blockIdx.x * kDeliverThreads + threadIdx.x;
  const uint32_t n_components = counts->n_components;
  if (thread == 0) {
    *host_counts = *counts;
  }
  if (n_components > max_components && defers_overflow) {
    return;
  }
  const auto* from = reinterpret_cast<const uint4*>(records);
  auto* to = reinterpret_cast<uint4*>(host_records);
  const size_t n_pieces = size_t{min(n_components, max_components)} * kPieces;
  for (size_t i = thread; i < n_pieces; i += kDeliverBlocks * kDeliverThreads) {
    to[i] = from[i];
  }
}

/// Whether copies between the device and this host memory leave the host free.
bool is_page_locked(const void* memory) {
  cudaPointerAttributes attributes{};
  if (cudaPointerGetAttributes(&attributes, memory) != cudaSuccess) {
    cudaGetLastError();
    return false;
  }
  return attributes.type == cudaMemoryTypeHost;
}

}  // namespace

Slot::~Slot() {
  wait();
}

Status Slot::configure(const Config& config, const AlgorithmInfo& algorithm, Transfers* transfers) {
  config_ = config;
  up_ = transfers != nullptr ? &transfers->up : &stream_;
  down_ = transfers != nullptr ? &transfers->down : &stream_;
  input_pitch_ = (config.width + kPitchAlignment - 1) / kPitchAlignment * kPitchAlignment;
  CCL_RETURN_IF_ERROR(stream_.create());
  for (Event& event : events_) {
    CCL_RETURN_IF_ERROR(event.create());
  }
  CCL_RETURN_IF_ERROR(written_.create());
  CCL_RETURN_IF_ERROR(vacant_.create());
  if (config.input_memory == Memory::kHost) {
    CCL_RETURN_IF_ERROR(take_input_memory());
  }
  if (config.output_memory == Memory::kHost) {
    CCL_RETURN_IF_ERROR(take_output_memory());
  }
  CCL_RETURN_IF_ERROR(records_.allocate(config.max_components));
  CCL_RETURN_IF_ERROR(counts_.allocate(1));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(counts_.data(), 0, sizeof(FrameCounts), stream_.get()),
                            "cudaMemsetAsync of the counts"));
  CCL_RETURN_IF_ERROR(host_counts_.allocate(1));
  CCL_RETURN_IF_ERROR(host_records_.allocate(config.max_components));
  frame_.records = records_.data();
  frame_.counts = counts_.data();
  return make_pipeline(config, algorithm, &pipeline_);
}

Status Slot::take_input_memory() {
  return input_.data() != nullptr ? Status() : input_.allocate(input_pitch_ * config_.height);
}

Status Slot::take_output_memory() {
  const size_t bytes = size_t{config_.width} * config_.height * bytes_per_pixel(config_.output);
  return output_.data() != nullptr ? Status() : output_.allocate(bytes);
}

void Slot::wait() {
  for (const Stream* stream : {up_, static_cast<const Stream*>(&stream_), down_}) {
    if (stream != nullptr && stream->get() != nullptr) {
      // Whoever waits here wants the memory back, which a failed stream does not use either.
      static_cast<void>(stream->synchronize());
    }
  }
}

Status Slot::start(const FrameJob& job) {
  job_ = job;
  CCL_RETURN_IF_ERROR(place());
  CCL_RETURN_IF_ERROR(upload());
  CCL_RETURN_IF_ERROR(follow(stream_, vacant_, job_.output.stream));
  CCL_RETURN_IF_ERROR(process());
  return delivers_late_ ? Status() : deliver_images();
}

/// What is put on `stream` from now on comes after what is on `before`, whose end is the point.
Status Slot::follow(const Stream& stream, Point point, const Stream& before) {
  CCL_RETURN_IF_ERROR(record(point, before));
  return &stream == &before
             ? Status()
             : check(cudaStreamWaitEvent(stream.get(), events_[point].get()), "cudaStreamWaitEvent");
}

/// Chooses where the kernels find the frame and where they put its pixels.
Status Slot::place() {
  if (job_.input.memory == Memory::kDevice) {
    frame_.input = job_.input.pixels;
    frame_.input_pitch = job_.input.stride;
  } else {
    CCL_RETURN_IF_ERROR(take_input_memory());
    frame_.input = input_.data();
    frame_.input_pitch = input_pitch_;
  }
  const bool takes_output = config_.output != Output::kNone && job_.output.memory == Memory::kDevice;
  const size_t row = size_t{config_.width} * bytes_per_pixel(config_.output);
  const bool is_dense = job_.output.stride == row || config_.height == 1;
  const bool is_aligned = reinterpret_cast<uintptr_t>(job_.output.pixels) % kOutputAlignment == 0;
  if (takes_output && is_dense && is_aligned) {
    frame_.output = job_.output.pixels;
  } else {
    CCL_RETURN_IF_ERROR(take_output_memory());
    frame_.output = output_.data();
  }
  // A copy to pageable memory holds up the host, who has other frames to start first.
  delivers_late_ = config_.output != Output::kNone && !takes_output && !is_page_locked(job_.output.pixels);
  return {};
}

bool Slot::has_download() const {
  return config_.output != Output::kNone && frame_.output != job_.output.pixels;
}

/// What is put on `stream` from now on comes after what is on a stream that is not ours, if there is one.
Status Slot::follow(const Stream& stream, const Event& event, void* foreign) {
  if (foreign == nullptr) {
    return {};
  }
  CCL_RETURN_IF_ERROR(
      check(cudaEventRecord(event.get(), static_cast<cudaStream_t>(foreign)), "cudaEventRecord"));
  return check(cudaStreamWaitEvent(stream.get(), event.get()), "cudaStreamWaitEvent");
}

Status Slot::upload() {
  const bool is_there = job_.input.memory == Memory::kDevice;
  const Stream& stream = is_there ? stream_ : *up_;
  CCL_RETURN_IF_ERROR(follow(stream, written_, job_.input.stream));
  CCL_RETURN_IF_ERROR(record(kStarted, stream));
  if (!is_there) {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpy2DAsync(input_.data(), input_pitch_, job_.input.pixels, job_.input.stride,
                                config_.width, config_.height, cudaMemcpyHostToDevice, stream.get()),
              "cudaMemcpy2DAsync of the input"));
  }
  return follow(stream_, kUploaded, stream);
}

/// Everything between upload and download.
Status Slot::process() {
  const Settings& settings = job_.settings;
  if (settings.rule.foreground != foreground_) {
    forget_graphs();  // see Pipeline::prepare()
    foreground_ = settings.rule.foreground;
  }
  CapturedGraph* captured = find_graph();
  if (!captured->is_for(frame_, settings)) {
    if (Status status = capture(captured); !status.ok()) {
      forget_graphs();  // they may lead to memory that is gone
      return status;
    }
  }
  captured->last_use = ++n_frames_;
  marked_ = captured->marked;
  return captured->graph.launch(stream_);
}

/// The graph for the frame in flight, else the one that was not used for longest, to be captured anew.
Slot::CapturedGraph* Slot::find_graph() {
  const auto found = std::find_if(graphs_.begin(), graphs_.end(), [this](const CapturedGraph& captured) {
    return captured.is_for(frame_, job_.settings);
  });
  return found != graphs_.end() ? &*found
                                : &*std::min_element(graphs_.begin(), graphs_.end(),
                                                     [](const CapturedGraph& a, const CapturedGraph& b) {
                                                       return a.last_use < b.last_use;
                                                     });
}

Status Slot::capture(CapturedGraph* captured) {
  CCL_RETURN_IF_ERROR(pipeline_->prepare(job_.settings));
  marked_ = 0;
  CCL_RETURN_IF_ERROR(captured->graph.capture(stream_, [this]() -> Status {
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(job_.settings, frame_, stream_.get(), this));
    return deliver_records();
  }));
  captured->frame = frame_;
  captured->settings = job_.settings;
  captured->marked = marked_;
  return {};
}

void Slot::forget_graphs() {
  for (CapturedGraph& captured : graphs_) {
    captured.graph.reset();
  }
}

/// Called while a graph is captured: the graph will record the event each time it runs.
Status Slot::mark(Stage stage, cudaStream_t stream) {
  marked_ |= 1u << stage;
  return check(
      cudaEventRecordWithFlags(events_[kFirstStage + uint32_t{stage}].get(), stream, cudaEventRecordExternal),
      "cudaEventRecordWithFlags");
}

Status Slot::deliver_records() {
  deliver<<<kDeliverBlocks, kDeliverThreads, 0, stream_.get()>>>(
      counts_.data(), records_.data(), config_.max_components, pipeline_->defers_overflow(),
      host_counts_.data(), host_records_.data());
  return check_launch("deliver");
}

Status Slot::deliver_images() {
  if (job_.root_map != nullptr || job_.labels != nullptr) {
    CCL_RETURN_IF_ERROR(
        pipeline_->enqueue_maps(job_.settings, frame_, job_.root_map, job_.labels, stream_.get()));
  }
  if (!has_download()) {
    return record(kDownloaded, stream_);
  }
  CCL_RETURN_IF_ERROR(follow(*down_, kProcessed, stream_));
  CCL_RETURN_IF_ERROR(download_output());
  return record(kDownloaded, *down_);
}

Status Slot::download_output() {
  const size_t row = size_t{config_.width} * bytes_per_pixel(config_.output);
  const cudaMemcpyKind kind =
      job_.output.memory == Memory::kDevice ? cudaMemcpyDeviceToDevice : cudaMemcpyDeviceToHost;
  return check(cudaMemcpy2DAsync(job_.output.pixels, job_.output.stride, frame_.output, row, row,
                                 config_.height, kind, down_->get()),
               "cudaMemcpy2DAsync of the output");
}

/// The rare frame with more components than the table holds, from a pipeline that leaves such frames to the
/// host, who sees it only now.
Status Slot::choose_records() {
  CCL_RETURN_IF_ERROR(pipeline_->enqueue_overflow(job_.settings, frame_, stream_.get()));
  CCL_RETURN_IF_ERROR(check(
      cudaMemcpyAsync(host_records_.data(), records_.data(), config_.max_components * sizeof(CclComponent),
                      cudaMemcpyDeviceToHost, stream_.get()),
      "cudaMemcpyAsync of the records"));
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  if (!job_.settings.draw_boxes || !has_download()) {
    return {};
  }
  CCL_RETURN_IF_ERROR(download_output());
  return down_->synchronize();
}

Status Slot::finish(FrameResult* result) {
  if (delivers_late_) {
    CCL_RETURN_IF_ERROR(deliver_images());
  }
  CCL_RETURN_IF_ERROR(events_[kDownloaded].synchronize());
  const FrameCounts counts = *host_counts_.data();
  const bool overflow = counts.n_components > config_.max_components;
  if (overflow && pipeline_->defers_overflow()) {
    CCL_RETURN_IF_ERROR(choose_records());
  }
  *result = {};
  result->counts = counts;
  result->overflow = overflow;
  result->labels_saturated = config_.output == Output::kLabels && counts.n_labels > kMaxPaintedLabel;
  result->components = {host_records_.data(), std::min(counts.n_components, config_.max_components)};
  return read_times(&result->times);
}

Status Slot::read_times(StageTimes* times) const {
  constexpr std::array kTimes = {&StageTimes::label, &StageTimes::number, &StageTimes::measure,
                                 &StageTimes::paint};
  static_assert(kTimes.size() == kStageCount);
  CCL_RETURN_IF_ERROR(events_[kUploaded].elapsed_since(events_[kStarted], &times->upload));
  uint32_t last = kUploaded;
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if ((marked_ >> stage & 1) != 0) {
      const uint32_t point = kFirstStage + stage;
      CCL_RETURN_IF_ERROR(events_[point].elapsed_since(events_[last], &(times->*kTimes[stage])));
      last = point;
    }
  }
  // Behind the last stage a frame may have waited for finish().
  return events_[kDownloaded].elapsed_since(events_[has_download() ? uint32_t{kProcessed} : last],
                                            &times->download);
}

}  // namespace ccl::device
