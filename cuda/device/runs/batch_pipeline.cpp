// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/runs/batch_pipeline.h"

#include <algorithm>

#include "device/runs/dispatch.h"
#include "device/runs/paint_mode.h"
#include "device/stages/paint.h"

namespace ccl::device {

using namespace runs;

Status BatchPipeline::configure(const Config& config) {
  config_ = config;
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(upload_palettes(stream_, &palettes_));
  return prepare(Settings{});
}

Status BatchPipeline::prepare(const Settings& settings) {
  const bool has_values = settings.rule.foreground == Foreground::kValues;
  if (memory_ != nullptr && memory_->has_values() == has_values) {
    return {};
  }
  memory_.reset();
  auto memory = std::make_unique<TileMemory>();
  CCL_RETURN_IF_ERROR(
      memory->allocate_batch(config_.width, config_.height, has_values, config_.batch, stream_.get()));
  memory_ = std::move(memory);
  return {};
}

Status BatchPipeline::enqueue(const Settings& settings, const BatchBuffers& buffers, bool paints_labels,
                              cudaStream_t stream) {
  Batch batch;
  batch.n_frames = static_cast<uint32_t>(buffers.frames.size());
  batch.set_bytes = memory_->set_bytes();
  std::copy(buffers.frames.begin(), buffers.frames.end(), batch.frames);
  FrameBuffers first{};
  first.input = batch.frames[0].input;
  first.input_pitch = buffers.input_pitch;
  Tiles tiles = memory_->of(settings, first);
  for (const Batch::Frame& frame : buffers.frames) {
    tiles.is_aligned = tiles.is_aligned && reinterpret_cast<uintptr_t>(frame.input) % kChunk == 0;
  }
  const Emitter emitter{.emission = Emission::kByLabel,
                        .settings = kernel_settings(settings),
                        .max_components = config_.max_components,
                        .records = buffers.records,
                        .counts = buffers.counts,
                        .max_labels = max_labels(config_, memory_->has_values()),
                        .is_kept = nullptr,
                        .index_or_mark = nullptr};
  const PaintMode mode = paints_labels ? PaintMode::kLabelMap : paint_mode_for(config_.output);
  return process_batch(tiles, memory_->n_groups(), emitter,
                       paint_rule(mode, settings, config_, palettes_.data()), batch, stream);
}

}  // namespace ccl::device
