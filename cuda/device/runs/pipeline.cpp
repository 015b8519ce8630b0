// SPDX-License-Identifier: LGPL-2.1-or-later
/// Our own method: runs as nodes, with all stages fused in one kernel (kernel.cuh). Labelling runs instead of
/// pixels is the idea of Ronse and Devijver 1984 and He, Chao, Suzuki 2007; dividing the frame into tiles
/// that of Šťava, Beneš 2011 and Cabaret, Lacassagne, Etiemble 2017.
///
/// Atomics on device memory are few: their number grows with the components at borders of tiles, not with
/// pixels or runs. Rare requests take more kernels: a filter takes two that sort its records, and a map of
/// labels or roots takes another pass. So does Filter::top_n, because all components must be known before any
/// is painted, and a table that overflows takes two, because all areas must be known before any record.
/// Hysteresis is a condition of the filter: strong pixels are counted with the area. Frames with separation
/// may take the stages of published labelers, see is_staged().
#include <optional>
#include <utility>

#include "device/check.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/runs/dispatch.h"
#include "device/runs/order.h"
#include "device/runs/paint_mode.h"
#include "device/runs/part_pipeline.h"
#include "device/runs/tile_memory.h"
#include "device/stages/paint.h"
#include "device/stages/select.h"

namespace ccl::device {

namespace {

using namespace runs;

class RunsPipeline final : public Pipeline {
 public:
  explicit RunsPipeline(const Config& config) : config_(config) {}

  Status allocate();

  Status prepare(const Settings& settings, const FrameBuffers& frame) override;
  Status enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                 StageMarks* marks) override;
  FrameLabels labels(const Settings& settings, const FrameBuffers& frame) const override;
  FrameLabels labels_of_overflow(const Settings& settings, const FrameBuffers& frame) const override;
  Status enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                      uint32_t* labels, cudaStream_t stream) override;
  bool defers_overflow() const override { return true; }
  Status enqueue_overflow(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) override;

 private:
  Pipeline* other(const Settings& settings, const FrameBuffers& frame) const;
  Status make_other(const Settings& settings, const FrameBuffers& frame);
  uint32_t n_pixels() const { return config_.width * config_.height; }
  uint32_t max_labels() const { return runs::max_labels(config_, memory_->has_values()); }
  bool has_filter(const Settings& settings, const FrameBuffers& frame) const {
    return frame.strong_bits != nullptr || settings.filter.is_active(n_pixels());
  }
  std::optional<FullFilter> full_filter(const Settings& settings, const FrameBuffers& frame) const;
  Emitter emitter(Emission emission, const Settings& settings, const FrameBuffers& frame) const;
  PaintRule rule(PaintMode mode, const Settings& settings) const {
    return paint_rule(mode, settings, config_, palettes_.data());
  }
  Status run(const Settings& settings, const FrameBuffers& frame, const Emitter& emitter,
             const PaintRule& rule, const std::optional<FullFilter>& filter, uint8_t* pixels,
             cudaStream_t stream) const;
  Status write_marks(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) const;
  Status paint(const Settings& settings, const FrameBuffers& frame, Emission emission,
               const std::optional<FullFilter>& filter, cudaStream_t stream) const;
  Status enqueue_all(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) const;
  Status enqueue_largest(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) const;
  Status allocate_map();
  Status allocate_selection();
  uint32_t* label_map(const FrameBuffers& frame) const {
    return frame.label_map != nullptr ? frame.label_map : map_.data();
  }
  Status write_map(PaintMode mode, const Settings& settings, const FrameBuffers& frame, uint32_t* map,
                   cudaStream_t stream) const;
  Status download_map(PaintMode mode, const Settings& settings, const FrameBuffers& frame, uint32_t* map,
                      cudaStream_t stream);

  Config config_;
  Stream stream_;  ///< for memory that is initialized once
  DeviceArray<uint32_t> palettes_;
  std::unique_ptr<TileMemory> memory_;    ///< for the foreground rule in use
  std::unique_ptr<RecordOrder> order_;    ///< once a filter was active
  std::unique_ptr<Selection> selection_;  ///< with Filter::top_n, or once a table overflowed
  DeviceArray<uint32_t> marks_;           ///< likewise, per label
  DeviceArray<uint32_t> record_index_;    ///< likewise
  DeviceArray<uint32_t> map_;             ///< of frames that need labels, or once a map was asked for
  std::unique_ptr<Pipeline> staged_;      ///< once a frame is_staged()
  std::unique_ptr<Pipeline> parts_;       ///< once a frame had parts
};

Status RunsPipeline::allocate() {
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(upload_palettes(stream_, &palettes_));
  FrameBuffers frame{};
  frame.is_tracked = config_.max_tracks > 0;
  return prepare(Settings{}, frame);
}

/// Where components may touch, parts are made of a root map, and only the parts have strong pixels or not.
/// The common stages are made for this. Their labels are the same, whichever labeler makes them.
bool is_staged(const Settings& settings, const FrameBuffers& frame) {
  return settings.separation.is_active() && (frame.strong_bits != nullptr || !can_have_parts(settings));
}

/// The common stages, behind the fastest of the published labelers.
Status make_common_pipeline(const Config& config, std::unique_ptr<Pipeline>* pipeline) {
  const AlgorithmInfo* labeler = nullptr;
  CCL_RETURN_IF_ERROR(resolve_algorithm(Algorithm::kBlockEquivalence, Backend::kCuda, &labeler));
  return make_pipeline(config, *labeler, pipeline);
}

Pipeline* RunsPipeline::other(const Settings& settings, const FrameBuffers& frame) const {
  return is_staged(settings, frame) ? staged_.get() : can_have_parts(settings) ? parts_.get() : nullptr;
}

Status RunsPipeline::make_other(const Settings& settings, const FrameBuffers& frame) {
  if (is_staged(settings, frame) && staged_ == nullptr) {
    return make_common_pipeline(config_, &staged_);
  }
  if (!is_staged(settings, frame) && can_have_parts(settings) && parts_ == nullptr) {
    std::unique_ptr<Pipeline> of_values;
    CCL_RETURN_IF_ERROR(make_runs_pipeline(config_, &of_values));
    return make_part_pipeline(config_, std::move(of_values), &parts_);
  }
  return {};
}

Status RunsPipeline::prepare(const Settings& settings, const FrameBuffers& frame) {
  CCL_RETURN_IF_ERROR(make_other(settings, frame));
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->prepare(settings, frame);
  }
  const bool has_values = settings.rule.foreground == Foreground::kValues;
  if (memory_ == nullptr || memory_->has_values() != has_values) {
    memory_.reset();
    order_.reset();
    selection_.reset();
    marks_ = {};
    record_index_ = {};
    auto memory = std::make_unique<TileMemory>();
    CCL_RETURN_IF_ERROR(memory->allocate(config_.width, config_.height, has_values, stream_.get()));
    memory_ = std::move(memory);
  }
  if (settings.filter.top_n > 0) {
    CCL_RETURN_IF_ERROR(allocate_selection());
  } else if (has_filter(settings, frame) && order_ == nullptr) {
    auto order = std::make_unique<RecordOrder>();
    CCL_RETURN_IF_ERROR(order->configure(config_.max_components, max_labels()));
    order_ = std::move(order);
  }
  const bool needs_labels = frame.is_tracked || frame.needs_labels;
  return needs_labels && frame.label_map == nullptr ? allocate_map() : Status();
}

Status RunsPipeline::allocate_selection() {
  if (selection_ != nullptr) {
    return {};
  }
  auto selection = std::make_unique<Selection>();
  CCL_RETURN_IF_ERROR(selection->configure(max_labels(), config_.max_components));
  DeviceArray<uint32_t> marks;
  CCL_RETURN_IF_ERROR(marks.allocate(max_labels()));
  CCL_RETURN_IF_ERROR(record_index_.allocate(max_labels()));
  marks_ = std::move(marks);
  selection_ = std::move(selection);
  return {};
}

Status RunsPipeline::allocate_map() {
  return map_.data() == nullptr ? map_.allocate(n_pixels()) : Status();
}

Emitter RunsPipeline::emitter(Emission emission, const Settings& settings, const FrameBuffers& frame) const {
  const bool is_appended = emission == Emission::kAppended;
  return {.emission = emission,
          .settings = kernel_settings(settings),
          .max_components = config_.max_components,
          .records = is_appended ? order_->appended() : frame.records,
          .counts = frame.counts,
          .max_labels = max_labels(),
          .is_kept = is_appended ? order_->is_kept() : nullptr,
          .index_or_mark = emission == Emission::kMarks ? marks_.data() : record_index_.data()};
}

/// What kernels must know to decide about components; nothing if the limits of the area are enough.
std::optional<FullFilter> RunsPipeline::full_filter(const Settings& settings,
                                                    const FrameBuffers& frame) const {
  const bool has_others =
      settings.filter.is_active(n_pixels()) && settings.filter.only_area_condition(n_pixels()) == kPassed;
  return has_others || frame.strong_bits != nullptr
             ? std::optional(FullFilter{.filter = settings.filter, .strong = frame.strong_bits})
             : std::nullopt;
}

Status RunsPipeline::run(const Settings& settings, const FrameBuffers& frame, const Emitter& emitter,
                         const PaintRule& rule, const std::optional<FullFilter>& filter, uint8_t* pixels,
                         cudaStream_t stream) const {
  return process_tiles(memory_->of(settings, frame), frame.bits, memory_->n_blocks(), emitter, rule,
                       filter ? &*filter : nullptr, pixels, stream);
}

/// Enqueues a pass for the marks of all components.
Status RunsPipeline::write_marks(const Settings& settings, const FrameBuffers& frame,
                                 cudaStream_t stream) const {
  return run(settings, frame, emitter(Emission::kMarks, settings, frame), rule(PaintMode::kNone, settings),
             full_filter(settings, frame), nullptr, stream);
}

/// Enqueues the pass that paints and, if they are needed, the labels.
Status RunsPipeline::paint(const Settings& settings, const FrameBuffers& frame, Emission emission,
                           const std::optional<FullFilter>& filter, cudaStream_t stream) const {
  const Output painted = painted_output(config_, frame);
  const bool needs_labels = frame.is_tracked || frame.needs_labels;
  const bool paints_labels = needs_labels && painted == Output::kNone;
  PaintRule painting = rule(paints_labels ? PaintMode::kLabelMap : paint_mode_for(painted), settings);
  painting.needs_areas = painting.needs_areas || filter.has_value();
  CCL_RETURN_IF_ERROR(run(settings, frame, emitter(emission, settings, frame), painting, filter,
                          paints_labels ? reinterpret_cast<uint8_t*>(label_map(frame)) : frame.output,
                          stream));
  return needs_labels && !paints_labels
             ? write_map(PaintMode::kLabelMap, settings, frame, label_map(frame), stream)
             : Status();
}

/// Enqueues what paints and measures all components that the filter keeps.
Status RunsPipeline::enqueue_all(const Settings& settings, const FrameBuffers& frame,
                                 cudaStream_t stream) const {
  const bool is_filtered = has_filter(settings, frame);
  CCL_RETURN_IF_ERROR(paint(settings, frame, is_filtered ? Emission::kAppended : Emission::kByLabel,
                            full_filter(settings, frame), stream));
  return is_filtered ? order_->run(frame.counts, frame.records, stream) : Status();
}

/// Enqueues the same for the largest of them: marks, the selection among them, and a pass for those whose
/// marks are left.
Status RunsPipeline::enqueue_largest(const Settings& settings, const FrameBuffers& frame,
                                     cudaStream_t stream) const {
  CCL_RETURN_IF_ERROR(write_marks(settings, frame, stream));
  CCL_RETURN_IF_ERROR(selection_->select_top(settings.filter.top_n, marks_.data(), frame.counts,
                                             record_index_.data(), stream));
  return paint(settings, frame, Emission::kSelected, FullFilter{.chosen = marks_.data()}, stream);
}

Status RunsPipeline::enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                             StageMarks* marks) {
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->enqueue(settings, frame, stream, marks);
  }
  const bool selects = settings.filter.top_n > 0;
  CCL_RETURN_IF_ERROR(selects ? enqueue_largest(settings, frame, stream)
                              : enqueue_all(settings, frame, stream));
  if (settings.draw_boxes && !frame.is_tracked) {
    CCL_RETURN_IF_ERROR(outline_boxes(config_, frame, /*skips_overflow=*/!selects, stream));
  }
  return marks != nullptr ? marks->mark(StageMarks::kLabel, stream) : Status();
}

FrameLabels RunsPipeline::labels(const Settings& settings, const FrameBuffers& frame) const {
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->labels(settings, frame);
  }
  FrameLabels labels{.labels = label_map(frame)};
  if (settings.filter.top_n > 0) {
    labels.marks = marks_.data();
    labels.record_index = record_index_.data();
  } else if (has_filter(settings, frame)) {
    labels.is_kept = order_->is_kept();
    labels.kept_before = order_->kept_before();
  }
  return labels;
}

FrameLabels RunsPipeline::labels_of_overflow(const Settings& settings, const FrameBuffers& frame) const {
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->labels_of_overflow(settings, frame);
  }
  return {.labels = label_map(frame), .record_index = record_index_.data()};
}

/// Enqueues another pass, which only writes a map.
Status RunsPipeline::write_map(PaintMode mode, const Settings& settings, const FrameBuffers& frame,
                               uint32_t* map, cudaStream_t stream) const {
  return run(settings, frame, emitter(Emission::kNone, settings, frame), rule(mode, settings), std::nullopt,
             reinterpret_cast<uint8_t*>(map), stream);
}

Status RunsPipeline::download_map(PaintMode mode, const Settings& settings, const FrameBuffers& frame,
                                  uint32_t* map, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(allocate_map());
  CCL_RETURN_IF_ERROR(write_map(mode, settings, frame, map_.data(), stream));
  return check(cudaMemcpyAsync(map, map_.data(), size_t{n_pixels()} * sizeof(uint32_t),
                               cudaMemcpyDeviceToHost, stream),
               "cudaMemcpyAsync of a map");
}

Status RunsPipeline::enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                                  uint32_t* labels, cudaStream_t stream) {
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->enqueue_maps(settings, frame, root_map, labels, stream);
  }
  if (root_map != nullptr) {
    CCL_RETURN_IF_ERROR(download_map(PaintMode::kRootMap, settings, frame, root_map, stream));
  }
  return labels != nullptr ? download_map(PaintMode::kLabelMap, settings, frame, labels, stream) : Status();
}

/// Enqueues a pass for all marks, the selection among them, and a pass for the selected records. And the
/// labels, if they are needed: a request for the roots may have replaced them.
Status RunsPipeline::enqueue_overflow(const Settings& settings, const FrameBuffers& frame,
                                      cudaStream_t stream) {
  if (Pipeline* pipeline = other(settings, frame)) {
    return pipeline->enqueue_overflow(settings, frame, stream);
  }
  if (settings.filter.top_n > 0) {  // its records are selected already
    return frame.needs_labels ? write_map(PaintMode::kLabelMap, settings, frame, label_map(frame), stream)
                              : Status();
  }
  CCL_RETURN_IF_ERROR(allocate_selection());
  CCL_RETURN_IF_ERROR(write_marks(settings, frame, stream));
  CCL_RETURN_IF_ERROR(selection_->select(marks_.data(), frame.counts, record_index_.data(), stream));
  CCL_RETURN_IF_ERROR(
      run(settings, frame, emitter(Emission::kSelected, settings, frame),
          rule(frame.needs_labels ? PaintMode::kLabelMap : PaintMode::kNone, settings), std::nullopt,
          frame.needs_labels ? reinterpret_cast<uint8_t*>(label_map(frame)) : nullptr, stream));
  return settings.draw_boxes && !frame.is_tracked
             ? outline_boxes(config_, frame, /*skips_overflow=*/false, stream)
             : Status();
}

}  // namespace

Status make_runs_pipeline(const Config& config, std::unique_ptr<Pipeline>* pipeline) {
  if (has_distances(config)) {  // of a root map, which the common stages have
    return make_common_pipeline(config, pipeline);
  }
  auto runs = std::make_unique<RunsPipeline>(config);
  CCL_RETURN_IF_ERROR(runs->allocate());
  *pipeline = std::move(runs);
  return {};
}

}  // namespace ccl::device
