// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/slot.h"

#include <utility>

#include "device/check.h"

namespace ccl::device {

Slot::~Slot() {
  wait();
}

Status Slot::configure(const Config& config, std::unique_ptr<Pipeline> pipeline, const CopyStreams* copies) {
  config_ = config;
  pipeline_ = std::move(pipeline);
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(timeline_.create());
  CCL_RETURN_IF_ERROR(transfers_.configure(config, stream_, copies));
  CCL_RETURN_IF_ERROR(delivery_.configure(config.max_components, stream_));
  delivery_.place(&frame_);
  return {};
}

void Slot::wait() {
  transfers_.wait();
}

Status Slot::start(const FrameJob& job) {
  job_ = job;
  CCL_RETURN_IF_ERROR(transfers_.place(job_, &frame_));
  CCL_RETURN_IF_ERROR(transfers_.upload(job_, timeline_));
  CCL_RETURN_IF_ERROR(process());
  return transfers_.downloads_late() ? Status() : deliver_images();
}

/// Launches everything between upload and download.
Status Slot::process() {
  if (job_.settings.rule.foreground != foreground_) {
    graphs_.clear();  // prepare() will allocate other memory
    foreground_ = job_.settings.rule.foreground;
  }
  GraphCache::Entry* captured = nullptr;
  CCL_RETURN_IF_ERROR(graphs_.find(
      frame_, job_.settings, [this](Graph* graph, uint32_t* marks) { return capture(graph, marks); },
      &captured));
  timeline_.set_marks(captured->marks);
  return captured->graph.launch(stream_);
}

Status Slot::capture(Graph* graph, uint32_t* marks) {
  CCL_RETURN_IF_ERROR(pipeline_->prepare(job_.settings));
  timeline_.clear_marks();
  CCL_RETURN_IF_ERROR(graph->capture(stream_, [this]() -> Status {
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(job_.settings, frame_, stream_.get(), &timeline_));
    return delivery_.enqueue(pipeline_->defers_overflow(), stream_);
  }));
  *marks = timeline_.marks();
  return {};
}

Status Slot::deliver_images() {
  if (job_.root_map != nullptr || job_.labels != nullptr) {
    CCL_RETURN_IF_ERROR(
        pipeline_->enqueue_maps(job_.settings, frame_, job_.root_map, job_.labels, stream_.get()));
  }
  return transfers_.download(job_, frame_, timeline_);
}

/// For the rare frame with more components than the table holds, from a pipeline that leaves such frames to
/// the host.
Status Slot::choose_records() {
  CCL_RETURN_IF_ERROR(pipeline_->enqueue_overflow(job_.settings, frame_, stream_.get()));
  CCL_RETURN_IF_ERROR(delivery_.enqueue_table(stream_));
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  const bool has_new_boxes = job_.settings.draw_boxes && transfers_.has_download(job_, frame_);
  return has_new_boxes ? transfers_.download_again(job_, frame_) : Status();
}

Status Slot::finish(FrameResult* result) {
  if (transfers_.downloads_late()) {
    CCL_RETURN_IF_ERROR(deliver_images());
  }
  CCL_RETURN_IF_ERROR(timeline_.synchronize());
  if (delivery_.overflows() && pipeline_->defers_overflow()) {
    CCL_RETURN_IF_ERROR(choose_records());
  }
  *result = {};
  result->counts = delivery_.counts();
  result->overflow = delivery_.overflows();
  result->labels_saturated = config_.output == Output::kLabels && result->counts.n_labels > kMaxPaintedLabel;
  result->components = delivery_.records();
  return timeline_.read(transfers_.has_download(job_, frame_), &result->times);
}

}  // namespace ccl::device
