// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipeline as a stage of a slot: labels, records, and what it paints.
#include <algorithm>

#include "device/stage.h"

namespace ccl::device {

namespace {

class LabelStage final : public Stage {
 public:
  using Stage::Stage;

  Status reserve(Graph*) override { return slot_.pipeline->prepare(slot_.settings, slot_.buffers); }
  Status enqueue() override {
    return slot_.pipeline->enqueue(slot_.settings, slot_.buffers, stream(), &slot_.timeline);
  }
  Status download() override {
    if (slot_.job.root_map == nullptr && slot_.job.labels == nullptr) {
      return {};
    }
    return slot_.pipeline->enqueue_maps(slot_.settings, slot_.buffers, slot_.job.root_map, slot_.job.labels,
                                        stream());
  }
  Status choose_records() override {
    return slot_.pipeline->enqueue_overflow(slot_.settings, slot_.buffers, stream());
  }
  void finish(FrameResult* result) override {
    complete_removed(&result->counts);
    result->labels_saturated =
        slot_.config.output == Output::kLabels && result->counts.n_labels > kMaxPaintedLabel;
  }

 private:
  void complete_removed(FrameCounts* counts) const;
};

/// Completes the counts of what the filter removes. Only a filter with several conditions has them counted;
/// of one limit of the area, the number follows. An inactive one removes nothing, and what the counts have is
/// an earlier frame's.
void LabelStage::complete_removed(FrameCounts* counts) const {
  const Filter& filter = slot_.job.settings.filter;
  const uint32_t n_pixels = slot_.config.width * slot_.config.height;
  const uint32_t condition = filter.only_area_condition(n_pixels);
  const bool has_hysteresis = slot_.buffers.strong_bits != nullptr;
  if (filter.is_active(n_pixels) && (condition == kPassed || has_hysteresis)) {
    return;
  }
  std::fill_n(counts->n_removed, size_t{kFilterConditions}, 0);
  if (condition != kPassed) {
    counts->n_removed[condition] = counts->n_labels - counts->n_components;
  }
}

}  // namespace

std::unique_ptr<Stage> make_label_stage(SlotFrame* slot, const EngineStages&) {
  return std::make_unique<LabelStage>(slot);
}

}  // namespace ccl::device
