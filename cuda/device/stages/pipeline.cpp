// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipeline of labelers: label → separate → number → select → measure → paint, each stage a pass over
/// pixels or labels. Also makes the pipeline of any algorithm.
#include <utility>

#include "device/check.h"
#include "device/labelers/labeler.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/stages/measure.h"
#include "device/stages/number.h"
#include "device/stages/paint.h"
#include "device/stages/plane.h"
#include "device/stages/segment/unpack.h"
#include "device/stages/select.h"
#include "device/stages/separate/distance.h"
#include "device/stages/separate/separator.h"

namespace ccl::device {

namespace {

class StagedPipeline final : public Pipeline {
 public:
  StagedPipeline(const Config& config, std::unique_ptr<Labeler> labeler)
      : config_(config), labeler_(std::move(labeler)) {}

  Status allocate();

  Status prepare(const Settings& settings, const FrameBuffers& frame) override;
  Status enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                 StageMarks* marks) override;
  FrameLabels labels(const Settings&, const FrameBuffers&) const override {
    return {.labels = labels_.data(),
            .marks = marks_.data(),
            .record_index = record_index_.data(),
            .squares = squares_.data()};
  }
  FrameLabels labels_of_overflow(const Settings& settings, const FrameBuffers& frame) const override {
    return labels(settings, frame);
  }
  Status enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                      uint32_t* labels, cudaStream_t stream) override;
  bool defers_overflow() const override { return false; }
  Status enqueue_overflow(const Settings&, const FrameBuffers&, cudaStream_t) override { return {}; }

 private:
  uint32_t n_pixels() const { return config_.width * config_.height; }
  SegmentSource source(const Settings& settings, const FrameBuffers& frame) const;
  Status separate(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream);
  SegmentSource foreground(const Settings& settings, const FrameBuffers& frame) const;
  Status measure(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream);
  Status paint(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream);

  Config config_;
  std::unique_ptr<Labeler> labeler_;

  // Per pixel unless noted otherwise. A frame may have as many components as pixels.
  DeviceArray<uint32_t> root_map_;
  DeviceArray<uint8_t> workspace_;  ///< Labeler::workspace_bytes()
  DeviceArray<uint32_t> labels_;
  DeviceArray<uint32_t> marks_;         ///< per label
  DeviceArray<uint32_t> record_index_;  ///< per label
  DeviceArray<uint8_t> unpacked_;       ///< the frame's bit image as bytes, once a frame had one
  DeviceArray<uint8_t> colors_;         ///< likewise, of parts, once tracks could guide their cuts

  DeviceArray<uint32_t> squares_;  ///< with has_distances()

  DistanceTransform distance_;
  Separator separator_;
  Numbering numbering_;
  Selection selection_;
  Measurement measurement_;
  Painting painting_;
};

Status StagedPipeline::allocate() {
  CCL_RETURN_IF_ERROR(root_map_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(workspace_.allocate(labeler_->workspace_bytes(config_.width, config_.height)));
  CCL_RETURN_IF_ERROR(labels_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(marks_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(record_index_.allocate(n_pixels()));
  CCL_RETURN_IF_ERROR(numbering_.configure(n_pixels()));
  CCL_RETURN_IF_ERROR(selection_.configure(n_pixels(), config_.max_components));
  CCL_RETURN_IF_ERROR(measurement_.configure(config_.max_components));
  if (has_distances(config_)) {
    CCL_RETURN_IF_ERROR(squares_.allocate(n_pixels()));
    CCL_RETURN_IF_ERROR(distance_.configure(config_.width, config_.height));
  }
  return painting_.configure(config_);
}

Status StagedPipeline::prepare(const Settings& settings, const FrameBuffers& frame) {
  if (settings.filter.needs() != 0) {
    CCL_RETURN_IF_ERROR(measurement_.prepare_all(settings, config_.width, config_.height));
  }
  if (settings.separation.is_active()) {
    CCL_RETURN_IF_ERROR(separator_.prepare(settings, config_.width, config_.height, frame.guide));
  }
  if (frame.guide != nullptr && colors_.data() == nullptr) {
    CCL_RETURN_IF_ERROR(colors_.allocate(unpacked_pitch(config_.width) * config_.height));
  }
  if (frame.bits == nullptr || unpacked_.data() != nullptr) {
    return {};
  }
  return unpacked_.allocate(unpacked_pitch(config_.width) * config_.height);
}

/// The input.
SegmentSource StagedPipeline::source(const Settings& settings, const FrameBuffers& frame) const {
  return {.pixels = frame.input,
          .pitch = frame.input_pitch,
          .width = config_.width,
          .height = config_.height,
          .rule = settings.rule};
}

/// The input, or in its place the unpacked bit image.
SegmentSource StagedPipeline::foreground(const Settings& settings, const FrameBuffers& frame) const {
  SegmentSource foreground = source(settings, frame);
  if (frame.bits != nullptr) {
    foreground.pixels = unpacked_.data();
    foreground.pitch = unpacked_pitch(config_.width);
    foreground.rule = kBitRule;
  }
  return foreground;
}

/// Makes the root map of components that of their parts. Parts that tracks may have guided are labelled as
/// values.
Status StagedPipeline::separate(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) {
  if (frame.guide == nullptr) {
    return separator_.run(settings, root_map_.data(), stream);
  }
  const SegmentSource parts{.pixels = colors_.data(),
                            .pitch = unpacked_pitch(config_.width),
                            .width = config_.width,
                            .height = config_.height,
                            .rule = {.foreground = Foreground::kValues}};
  CCL_RETURN_IF_ERROR(separator_.run(settings, RootMap{root_map_.data(), config_.width}, parts.pitch,
                                     colors_.data(), frame.guide, stream));
  return labeler_->label(parts, settings.connectivity, root_map_.data(), workspace_.data(),
                         &frame.counts->n_iterations, stream);
}

Status StagedPipeline::enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                               StageMarks* marks) {
  const auto mark = [&](StageMarks::Stage stage) {
    return marks != nullptr ? marks->mark(stage, stream) : Status();
  };
  if (frame.bits != nullptr) {
    CCL_RETURN_IF_ERROR(unpack_bits(frame.bits, config_.width, config_.height, unpacked_.data(), stream));
  }
  CCL_RETURN_IF_ERROR(labeler_->label(foreground(settings, frame), settings.connectivity, root_map_.data(),
                                      workspace_.data(), &frame.counts->n_iterations, stream));
  if (has_distances(config_)) {
    CCL_RETURN_IF_ERROR(distance_.measure(RootMap{root_map_.data(), config_.width},
                                          settings.separation.aspect, squares_.data(), stream));
  }
  if (settings.separation.is_active()) {
    CCL_RETURN_IF_ERROR(separate(settings, frame, stream));
  }
  CCL_RETURN_IF_ERROR(mark(StageMarks::kLabel));
  CCL_RETURN_IF_ERROR(numbering_.run(root_map_.data(), labels_.data(), &frame.counts->n_labels, stream));
  CCL_RETURN_IF_ERROR(mark(StageMarks::kNumber));
  CCL_RETURN_IF_ERROR(measure(settings, frame, stream));
  CCL_RETURN_IF_ERROR(mark(StageMarks::kMeasure));
  if (has_distances(config_.output)) {
    CCL_RETURN_IF_ERROR(
        write_distances(labels(settings, frame), n_pixels(), config_.output, frame.output, stream));
  }
  if (frame.is_tracked) {
    return {};
  }
  CCL_RETURN_IF_ERROR(paint(settings, frame, stream));
  return mark(StageMarks::kPaint);
}

/// Selects, and measures the selected components; or all components before, if the filter reads their sums.
Status StagedPipeline::measure(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) {
  const MeasureInput input{.frame = foreground(settings, frame),
                           .labels = labels_.data(),
                           .marks = marks_.data(),
                           .record_index = record_index_.data(),
                           .counts = frame.counts,
                           .has_parts = settings.separation.is_active()};
  const bool measures_all = settings.filter.needs() != 0;
  if (measures_all) {
    CCL_RETURN_IF_ERROR(measurement_.measure_all(settings, input, record_index_.data(), stream));
  }
  const MarkJob job{.labels = labels_.data(),
                    .width = config_.width,
                    .height = config_.height,
                    .strong = frame.strong_bits,
                    .sums = measures_all ? measurement_.all_sums(settings) : nullptr,
                    .counts = frame.counts,
                    .marks = marks_.data(),
                    .record_index = record_index_.data()};
  CCL_RETURN_IF_ERROR(selection_.mark_and_select(settings.filter, job, stream));
  return measures_all ? measurement_.make_records_of_all(settings, input, frame.records, stream)
                      : measurement_.measure_records(settings, input, frame.records, stream);
}

Status StagedPipeline::paint(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) {
  const PaintInput input{.frame = source(settings, frame),
                         .labels = labels_.data(),
                         .marks = marks_.data(),
                         .counts = frame.counts};
  CCL_RETURN_IF_ERROR(painting_.run(settings, input, frame, stream));
  return settings.draw_boxes ? outline_boxes(config_, frame, /*skips_overflow=*/false, stream) : Status();
}

Status StagedPipeline::enqueue_maps(const Settings&, const FrameBuffers&, uint32_t* root_map,
                                    uint32_t* labels, cudaStream_t stream) {
  const size_t bytes = size_t{n_pixels()} * sizeof(uint32_t);
  if (root_map != nullptr) {
    CCL_RETURN_IF_ERROR(
        check(cudaMemcpyAsync(root_map, root_map_.data(), bytes, cudaMemcpyDeviceToHost, stream),
              "cudaMemcpyAsync of the root map"));
  }
  if (labels != nullptr) {
    CCL_RETURN_IF_ERROR(check(cudaMemcpyAsync(labels, labels_.data(), bytes, cudaMemcpyDeviceToHost, stream),
                              "cudaMemcpyAsync of the labels"));
  }
  return {};
}

Status make_staged_pipeline(const Config& config, std::unique_ptr<Labeler> labeler,
                            std::unique_ptr<Pipeline>* pipeline) {
  auto staged = std::make_unique<StagedPipeline>(config, std::move(labeler));
  CCL_RETURN_IF_ERROR(staged->allocate());
  *pipeline = std::move(staged);
  return {};
}

}  // namespace

Status make_pipeline(const Config& config, const AlgorithmInfo& algorithm,
                     std::unique_ptr<Pipeline>* pipeline) {
  return algorithm.device.make_pipeline != nullptr
             ? algorithm.device.make_pipeline(config, pipeline)
             : make_staged_pipeline(config, algorithm.device.make_labeler(), pipeline);
}

}  // namespace ccl::device
