// SPDX-License-Identifier: LGPL-2.1-or-later
/// The track stage of a slot.
#include "device/stage.h"

namespace ccl::device {

namespace {

class TrackStage final : public Stage {
 public:
  TrackStage(SlotFrame* slot, Tracker* tracker) : Stage(slot), tracker_(*tracker) {}

  Status configure() override {
    CCL_RETURN_IF_ERROR(delivery_.configure(slot_.config.max_tracks));
    slot_.tracks = {delivery_.tracks(), &tracker_.header()->n_tracks};
    slot_.buffers.is_tracked = true;
    return {};
  }
  Status prepare() override {
    step_ = tracker_.next_step(slot_.job);
    slot_.buffers.guide = tracker_.guide_for(slot_.settings, step_);
    return {};
  }
  /// See Graph::set_last_argument().
  Status reserve(Graph* graph) override {
    graph->reset();
    return {};
  }
  Status enqueue() override {
    const TrackedFrame frame{
        .labels = slot_.labels(),
        .luma = {slot_.buffers.input, slot_.buffers.input_pitch, slot_.config.width, slot_.config.height},
        .buffers = slot_.buffers,
        .settings = slot_.settings,
        .tracks = delivery_.tracks(),
        .defers_overflow = slot_.pipeline->defers_overflow(),
    };
    CCL_RETURN_IF_ERROR(tracker_.enqueue(slot_.config, frame, step_, stream(), &slot_.timeline));
    return delivery_.enqueue(tracker_.header(), stream());
  }
  Status begin(Graph* graph) override {
    CCL_RETURN_IF_ERROR(tracker_.begin(slot_.stream));
    return tracker_.set_step(step_, slot_.buffers, graph);
  }
  /// What is drawn depends on the tracker's memory, too.
  Status complete() override { return tracker_.end(slot_.stream); }
  Status choose_records() override {
    return clear_ids(slot_.buffers.records, slot_.config.max_components, stream());
  }
  void finish(FrameResult* result) override { result->tracks = delivery_.delivered(); }

 private:
  Tracker& tracker_;
  TrackDelivery delivery_;
  track::TrackStep step_;  ///< of the frame in flight
};

}  // namespace

std::unique_ptr<Stage> make_track_stage(SlotFrame* slot, const EngineStages& engine) {
  return engine.tracker != nullptr ? std::make_unique<TrackStage>(slot, engine.tracker) : nullptr;
}

}  // namespace ccl::device
