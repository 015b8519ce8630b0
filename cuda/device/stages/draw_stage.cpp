// SPDX-License-Identifier: LGPL-2.1-or-later
/// Drawing over the frame (draw.h) as a stage of a slot.
#include "device/stage.h"
#include "device/stages/paint.h"

namespace ccl::device {

namespace {

class DrawStage final : public Stage {
 public:
  DrawStage(SlotFrame* slot, TrackDrawing* tracks) : Stage(slot), tracks_(*tracks) {}

  Status complete() override;
  Status choose_records() override;

 private:
  const Settings& settings() const { return slot_.job.settings; }
  Status prepare_tracks();
  Status draw(const FrameCounts* skipped);

  TrackDrawing& tracks_;
  DeviceOutlines outlines_;
  bool draws_outlines_ = false;  ///< over the frame
  bool draws_tracks_ = false;    ///< likewise
  uint32_t table_ = 0;           ///< of the frame, see TrackDrawing
};

Status DrawStage::complete() {
  draws_outlines_ = settings().draw_regions && slot_.job.outlines != nullptr;
  if (draws_outlines_) {
    CCL_RETURN_IF_ERROR(outlines_.prepare(slot_.job, stream()));
  }
  CCL_RETURN_IF_ERROR(prepare_tracks());
  const bool has_late_boxes = settings().draw_boxes && slot_.pipeline->defers_overflow();
  return draw(has_late_boxes ? slot_.buffers.counts : nullptr);
}

Status DrawStage::prepare_tracks() {
  draws_tracks_ = tracks_.is_active(settings(), slot_.tracks);
  if (!draws_tracks_) {
    tracks_.skip();
    return {};
  }
  return tracks_.update(settings(), slot_.tracks, slot_.stream, &table_);
}

/// Draws over boxes. If `skipped` is not null, frames whose boxes are not drawn yet are left out.
Status DrawStage::draw(const FrameCounts* skipped) {
  auto* pixels = reinterpret_cast<uint32_t*>(slot_.buffers.output);
  slot_.is_extended = slot_.is_extended || draws_outlines_ || draws_tracks_;
  if (draws_outlines_) {
    CCL_RETURN_IF_ERROR(draw_outlines(slot_.config, outlines_, skipped, pixels, stream()));
  }
  return draws_tracks_ ? tracks_.draw(settings(), table_, skipped, pixels, stream()) : Status();
}

/// The boxes of such a frame lie below what is drawn.
Status DrawStage::choose_records() {
  if (!settings().draw_boxes) {
    return {};
  }
  if (slot_.buffers.is_composed || slot_.buffers.is_tracked) {
    CCL_RETURN_IF_ERROR(outline_boxes(slot_.config, slot_.buffers, /*skips_overflow=*/false, stream()));
  }
  return draw(nullptr);
}

}  // namespace

std::unique_ptr<Stage> make_draw_stage(SlotFrame* slot, const EngineStages& engine) {
  return has_colors(slot->config.output) ? std::make_unique<DrawStage>(slot, engine.track_drawing) : nullptr;
}

}  // namespace ccl::device
