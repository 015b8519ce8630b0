// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/slot.h"

#include <utility>

#include "device/check.h"

namespace ccl::device {

Slot::~Slot() {
  wait();
}

Status Slot::configure(const Config& config, std::unique_ptr<Pipeline> pipeline, const CopyStreams* copies,
                       const EngineStages& engine) {
  frame_.config = config;
  frame_.pipeline = std::move(pipeline);
  CCL_RETURN_IF_ERROR(frame_.stream.create());
  CCL_RETURN_IF_ERROR(frame_.timeline.create());
  CCL_RETURN_IF_ERROR(frame_.transfers.configure(config, frame_.stream, copies));
  CCL_RETURN_IF_ERROR(delivery_.configure(config.max_components, /*n_frames=*/1, frame_.stream));
  frame_.buffers.records = delivery_.device_records();
  frame_.buffers.counts = delivery_.device_counts();
  for (MakeStage* make : kStages) {
    if (std::unique_ptr<Stage> stage = make(&frame_, engine); stage != nullptr) {
      stages_.push_back(std::move(stage));
    }
  }
  return each(&Stage::configure);
}

template <typename... Arguments>
Status Slot::each(Status (Stage::*verb)(Arguments...), Arguments... arguments) {
  for (const std::unique_ptr<Stage>& stage : stages_) {
    CCL_RETURN_IF_ERROR(((*stage).*verb)(arguments...));
  }
  return {};
}

Status Slot::start(const FrameJob& job) {
  frame_.job = job;
  CCL_RETURN_IF_ERROR(place());
  CCL_RETURN_IF_ERROR(each(&Stage::prepare));
  CCL_RETURN_IF_ERROR(process());
  CCL_RETURN_IF_ERROR(each(&Stage::complete));
  if (frame_.is_extended) {
    CCL_RETURN_IF_ERROR(frame_.timeline.extend_last_stage(frame_.stream));
  }
  return frame_.downloads_late ? Status() : deliver();
}

/// Uploads the frame. Nothing is decided about its stages yet.
Status Slot::place() {
  CCL_RETURN_IF_ERROR(frame_.transfers.place(frame_.job, &frame_.buffers));
  CCL_RETURN_IF_ERROR(frame_.transfers.upload(frame_.job, frame_.timeline));
  frame_.settings = frame_.job.settings;
  frame_.plan = {};
  frame_.source = frame_.shown = frame_.transfers.source(frame_.job, frame_.buffers);
  frame_.buffers.bits = nullptr;
  frame_.buffers.strong_bits = nullptr;
  frame_.buffers.is_composed = false;
  frame_.buffers.needs_labels = false;
  frame_.buffers.label_map = nullptr;
  frame_.is_extended = false;
  frame_.downloads_late = frame_.transfers.downloads_late();
  return {};
}

/// Launches the graph of the frame, behind the frames whose state it continues.
Status Slot::process() {
  if (frame_.settings.rule.foreground != foreground_) {
    graphs_.clear();  // reserve() will allocate other memory
    foreground_ = frame_.settings.rule.foreground;
  }
  GraphCache::Entry* captured = nullptr;
  CCL_RETURN_IF_ERROR(graphs_.find(
      {frame_.buffers, frame_.settings, frame_.plan},
      [this](Graph* graph, uint32_t* marks) { return capture(graph, marks); }, &captured));
  frame_.timeline.set_marks(captured->marks);
  CCL_RETURN_IF_ERROR(each(&Stage::begin, &captured->graph));
  return captured->graph.launch(frame_.stream);
}

Status Slot::capture(Graph* graph, uint32_t* marks) {
  CCL_RETURN_IF_ERROR(each(&Stage::reserve, graph));
  frame_.timeline.clear_marks();
  CCL_RETURN_IF_ERROR(graph->capture(frame_.stream, [this]() -> Status {
    CCL_RETURN_IF_ERROR(each(&Stage::enqueue));
    return delivery_.enqueue(frame_.pipeline->defers_overflow(), /*n_frames=*/1, frame_.stream);
  }));
  *marks = frame_.timeline.marks();
  return {};
}

Status Slot::deliver() {
  CCL_RETURN_IF_ERROR(each(&Stage::download));
  return frame_.transfers.download(frame_.job, frame_.buffers, frame_.timeline);
}

Status Slot::choose_records() {
  CCL_RETURN_IF_ERROR(each(&Stage::choose_records));
  CCL_RETURN_IF_ERROR(delivery_.enqueue_table(frame_.stream));
  CCL_RETURN_IF_ERROR(frame_.stream.synchronize());
  const bool has_new_boxes =
      frame_.job.settings.draw_boxes && frame_.transfers.has_download(frame_.job, frame_.buffers);
  return has_new_boxes ? frame_.transfers.download_again(frame_.job, frame_.buffers) : Status();
}

Status Slot::finish(bool is_alone, FrameResult* result) {
  if (frame_.downloads_late) {
    CCL_RETURN_IF_ERROR(deliver());
  }
  CCL_RETURN_IF_ERROR(frame_.timeline.synchronize(is_alone));
  if (delivery_.overflows() && frame_.pipeline->defers_overflow()) {
    CCL_RETURN_IF_ERROR(choose_records());
  }
  *result = {};
  result->counts = delivery_.counts();
  result->overflow = delivery_.overflows();
  result->components = delivery_.records();
  for (const std::unique_ptr<Stage>& stage : stages_) {
    stage->finish(result);
  }
  return frame_.timeline.read(frame_.transfers.has_download(frame_.job, frame_.buffers), &result->times);
}

}  // namespace ccl::device
