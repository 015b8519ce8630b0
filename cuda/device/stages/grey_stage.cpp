// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics as a stage of a slot.
#include "device/stage.h"
#include "device/stages/grey.h"

namespace ccl::device {

namespace {

class GreyStage final : public Stage {
 public:
  using Stage::Stage;

  Status prepare() override {
    slot_.buffers.needs_labels |= is_wanted();
    source_ = grey_source(slot_.source.pixels,
                          {.pixels = slot_.buffers.input, .stride = slot_.buffers.input_pitch});
    return {};
  }
  Status reserve(Graph*) override {
    return is_wanted() ? grey_.prepare(slot_.config.max_components, slot_.stream) : Status();
  }
  Status enqueue() override {
    if (!is_wanted()) {
      return {};
    }
    CCL_RETURN_IF_ERROR(grey_.enqueue(job(slot_.labels(), slot_.pipeline->defers_overflow()), stream()));
    const bool is_painted = (slot_.timeline.marks() >> StageMarks::kPaint & 1) != 0;
    return slot_.timeline.mark(is_painted ? StageMarks::kPaint : StageMarks::kMeasure, stream());
  }
  Status choose_records() override {
    if (!is_wanted()) {
      return {};
    }
    const FrameLabels labels = slot_.pipeline->labels_of_overflow(slot_.settings, slot_.buffers);
    return grey_.enqueue(job(labels, /*defers_overflow=*/false), stream());
  }
  void finish(FrameResult* result) override {
    if (is_wanted()) {
      result->grey = grey_.delivered(result->components.size());
    }
  }

 private:
  bool is_wanted() const { return has_grey(slot_.job.settings); }
  GreyJob job(const FrameLabels& labels, bool defers_overflow) const {
    return {.width = slot_.config.width,
            .height = slot_.config.height,
            .source = source_,
            .frame = labels,
            .counts = slot_.buffers.counts,
            .records = slot_.buffers.records,
            .defers_overflow = defers_overflow};
  }

  SourcePixels source_;  ///< the input, as the statistics read it
  GreyMeasurement grey_;
};

}  // namespace

std::unique_ptr<Stage> make_grey_stage(SlotFrame* slot, const EngineStages&) {
  return std::make_unique<GreyStage>(slot);
}

}  // namespace ccl::device
