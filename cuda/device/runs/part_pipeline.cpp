// SPDX-License-Identifier: LGPL-2.1-or-later
/// Objects that touch, for `runs`: before a frame is labelled, parts become segments of different
/// values, and the rule for values labels them. Since components of binary foreground do not touch in
/// 8-connectivity, this needs no root map.
#include "device/runs/part_pipeline.h"

#include <utility>

#include "device/memory.h"
#include "device/stages/segment/unpack.h"
#include "device/stages/separate/separator.h"

namespace ccl::device {

namespace {

/// A pipeline for values, before which parts are made.
class PartPipeline final : public Pipeline {
 public:
  PartPipeline(const Config& config, std::unique_ptr<Pipeline> of_values)
      : config_(config), of_values_(std::move(of_values)) {}

  Status allocate();

  Status prepare(const Settings& settings, const FrameBuffers& frame) override {
    CCL_RETURN_IF_ERROR(separator_.prepare(settings, config_.width, config_.height, frame.guide));
    if (frame.bits != nullptr && unpacked_.data() == nullptr) {
      CCL_RETURN_IF_ERROR(unpacked_.allocate(pitch() * config_.height));
    }
    return of_values_->prepare(as_values(settings), as_values(frame));
  }
  Status enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                 StageMarks* marks) override;
  FrameLabels labels(const Settings& settings, const FrameBuffers& frame) const override {
    return of_values_->labels(as_values(settings), as_values(frame));
  }
  FrameLabels labels_of_overflow(const Settings& settings, const FrameBuffers& frame) const override {
    return of_values_->labels_of_overflow(as_values(settings), as_values(frame));
  }
  Status enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                      uint32_t* labels, cudaStream_t stream) override {
    return of_values_->enqueue_maps(as_values(settings), as_values(frame), root_map, labels, stream);
  }
  bool defers_overflow() const override { return of_values_->defers_overflow(); }
  Status enqueue_overflow(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream) override {
    return of_values_->enqueue_overflow(as_values(settings), as_values(frame), stream);
  }

 private:
  size_t pitch() const { return unpacked_pitch(config_.width); }
  Settings as_values(Settings settings) const;
  FrameBuffers as_values(FrameBuffers frame) const;

  Config config_;
  std::unique_ptr<Pipeline> of_values_;
  Separator separator_;
  DeviceArray<uint8_t> values_;    ///< of parts; rows of pitch() bytes
  DeviceArray<uint8_t> unpacked_;  ///< likewise, the frame's bit image as bytes, once a frame had one
};

Status PartPipeline::allocate() {
  return values_.allocate(pitch() * config_.height);
}

Settings PartPipeline::as_values(Settings settings) const {
  settings.separation = {};
  settings.rule = {.foreground = Foreground::kValues, .record_value = kBinarySegment};
  return settings;
}

FrameBuffers PartPipeline::as_values(FrameBuffers frame) const {
  frame.input = values_.data();
  frame.input_pitch = pitch();
  frame.bits = nullptr;
  return frame;
}

Status PartPipeline::enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                             StageMarks* marks) {
  SegmentSource source{.pixels = frame.input,
                       .pitch = frame.input_pitch,
                       .width = config_.width,
                       .height = config_.height,
                       .rule = settings.rule};
  if (frame.bits != nullptr) {
    CCL_RETURN_IF_ERROR(unpack_bits(frame.bits, config_.width, config_.height, unpacked_.data(), stream));
    source.pixels = unpacked_.data();
    source.pitch = pitch();
    source.rule = kBitRule;
  }
  CCL_RETURN_IF_ERROR(separator_.run(settings, Mask{source}, pitch(), values_.data(), frame.guide, stream));
  return of_values_->enqueue(as_values(settings), as_values(frame), stream, marks);
}

}  // namespace

Status make_part_pipeline(const Config& config, std::unique_ptr<Pipeline> of_values,
                          std::unique_ptr<Pipeline>* pipeline) {
  auto parts = std::make_unique<PartPipeline>(config, std::move(of_values));
  CCL_RETURN_IF_ERROR(parts->allocate());
  *pipeline = std::move(parts);
  return {};
}

}  // namespace ccl::device
