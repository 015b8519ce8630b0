// SPDX-License-Identifier: LGPL-2.1-or-later
/// The segment stage of a slot: a plane of luma, if the input is none, and bit images, if the rule needs
/// them.
#include <utility>

#include "device/stage.h"
#include "device/stages/segment/luma.h"

namespace ccl::device {

namespace {

class SegmentStage final : public Stage {
 public:
  SegmentStage(SlotFrame* slot, Segmenter* segmenter) : Stage(slot), segmenter_(*segmenter) {}

  Status prepare() override;
  /// See Graph::set_last_argument().
  Status reserve(Graph* graph) override {
    if (slot_.plan.rule.foreground == Foreground::kMotion) {
      graph->reset();
    }
    return {};
  }
  Status enqueue() override;
  Status begin(Graph* graph) override {
    if (slot_.plan.has_bits) {
      CCL_RETURN_IF_ERROR(segmenter_.begin(slot_.stream));
      CCL_RETURN_IF_ERROR(segmenter_.set_step(slot_.plan, bits_, graph));
    }
    return {};
  }
  Status complete() override { return slot_.plan.has_bits ? segmenter_.end(slot_.stream) : Status(); }
  void finish(FrameResult* result) override;

 private:
  bool is_motion() const { return slot_.job.settings.rule.foreground == Foreground::kMotion; }
  bool shows_model() const { return slot_.config.output == Output::kBackground && is_motion(); }
  Status prepare_bits();
  Status place_background();

  Segmenter& segmenter_;
  segment::LumaPlanes luma_planes_;
  DeviceArray<uint8_t> background_;  ///< planes of luma, U and V, once a frame showed the background model
  FrameBits bits_;
};

Status SegmentStage::prepare() {
  const Config& config = slot_.config;
  if (slot_.source.has_pixels()) {
    CCL_RETURN_IF_ERROR(luma_planes_.place(config.width, config.height, is_motion(), &slot_.source));
    slot_.buffers.input = slot_.source.luma.pixels;
    slot_.buffers.input_pitch = slot_.source.luma.pitch;
    slot_.plan.source = slot_.source;
  }
  slot_.shown = slot_.source;
  const bool has_bits =
      makes_bits(slot_.job.settings.rule, slot_.job.segmentation, slot_.job.regions != nullptr);
  return has_bits ? prepare_bits() : Status();
}

Status SegmentStage::prepare_bits() {
  CCL_RETURN_IF_ERROR(bits_.prepare(slot_.job, slot_.config, slot_.stream));
  CCL_RETURN_IF_ERROR(segmenter_.prepare(slot_.job, slot_.source, &bits_, &slot_.plan));
  slot_.settings.rule = kBitRule;
  slot_.buffers.bits = bits_.foreground();
  slot_.buffers.strong_bits = bits_.strong();
  return shows_model() ? place_background() : Status();
}

/// Shows what the model believes in the place of the source. Values of chroma are those of the first pixel of
/// each chroma pixel.
Status SegmentStage::place_background() {
  const Config& config = slot_.config;
  const size_t n_pixels = size_t{config.width} * config.height;
  if (background_.data() == nullptr) {
    CCL_RETURN_IF_ERROR(background_.allocate(3 * n_pixels));
  }
  const Chroma chroma = std::exchange(slot_.shown.chroma, {});
  if (chroma.u != nullptr) {
    slot_.shown.chroma = {.u = background_.data() + n_pixels,
                          .v = background_.data() + 2 * n_pixels,
                          .stride = size_t{config.width} << chroma.shift_y,
                          .step = static_cast<uint8_t>(1u << chroma.shift_x),
                          .shift_x = chroma.shift_x,
                          .shift_y = chroma.shift_y};
  }
  slot_.shown.luma = {background_.data(), config.width, config.width, config.height};
  slot_.shown.pixels = {};
  return {};
}

Status SegmentStage::enqueue() {
  if (slot_.plan.source.has_pixels()) {
    CCL_RETURN_IF_ERROR(luma_planes_.enqueue(slot_.plan.source, stream()));
  }
  if (slot_.plan.has_bits) {
    CCL_RETURN_IF_ERROR(segmenter_.enqueue(slot_.plan, bits_, slot_.buffers.counts, stream()));
    if (shows_model()) {
      CCL_RETURN_IF_ERROR(segmenter_.read_background(background_.data(), stream()));
    }
  }
  return slot_.plan != SegmentPlan{} ? slot_.timeline.mark(StageMarks::kSegment, stream()) : Status();
}

/// Counts that the frame's rule does not write are those of an earlier frame.
void SegmentStage::finish(FrameResult* result) {
  if (slot_.job.settings.rule.foreground != Foreground::kOtsu) {
    result->counts.level = 0;
  }
  if (!is_motion()) {
    result->counts.relearning = 0;
  }
}

}  // namespace

std::unique_ptr<Stage> make_segment_stage(SlotFrame* slot, const EngineStages& engine) {
  return std::make_unique<SegmentStage>(slot, engine.segmenter);
}

}  // namespace ccl::device
