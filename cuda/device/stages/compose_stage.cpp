// SPDX-License-Identifier: LGPL-2.1-or-later
/// The last step of some outputs (compose.h) as a stage of a slot.
#include "device/stage.h"
#include "device/stages/compose.h"
#include "device/stages/paint.h"

namespace ccl::device {

namespace {

class ComposeStage final : public Stage {
 public:
  using Stage::Stage;

  Status prepare() override {
    slot_.buffers.is_composed = is_composed(slot_.config.output, slot_.shown, slot_.settings);
    if (slot_.buffers.is_composed) {
      slot_.settings = settings_of_values(slot_.config.output, slot_.settings);
    }
    return {};
  }

  Status complete() override {
    if (!slot_.buffers.is_composed) {
      return {};
    }
    slot_.is_extended = true;
    const Settings& settings = slot_.job.settings;
    CCL_RETURN_IF_ERROR(compose({slot_.config.output, slot_.config.layout, slot_.shown, settings},
                                reinterpret_cast<uint32_t*>(slot_.buffers.output), stream()));
    return settings.draw_boxes
               ? outline_boxes(slot_.config, slot_.buffers, slot_.pipeline->defers_overflow(), stream())
               : Status();
  }
};

/// Masks with other values than those that pipelines paint, and with planes of chroma.
class MaskStage final : public Stage {
 public:
  using Stage::Stage;

  Status complete() override {
    const Settings& settings = slot_.job.settings;
    if (settings.mask_on == 255 && settings.mask_off == 0 && slot_.job.output.chroma[0] == nullptr) {
      return {};
    }
    slot_.is_extended = true;
    const size_t n_pixels = size_t{slot_.config.width} * slot_.config.height;
    CCL_RETURN_IF_ERROR(recolor_mask(settings, n_pixels, slot_.buffers.output, stream()));
    return slot_.transfers.fill_chroma(slot_.job.output);
  }
};

}  // namespace

std::unique_ptr<Stage> make_compose_stage(SlotFrame* slot, const EngineStages&) {
  if (slot->config.output == Output::kMask) {
    return std::make_unique<MaskStage>(slot);
  }
  return std::make_unique<ComposeStage>(slot);
}

}  // namespace ccl::device
