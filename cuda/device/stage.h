// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a slot does with a frame, as a list of stages. A new stage is a file and a row of kStages.
#pragma once

#include <memory>

#include "ccl/engine.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/source_frame.h"
#include "device/stages/draw.h"
#include "device/stages/segment/segmenter.h"
#include "device/stages/track/tracker.h"
#include "device/timeline.h"
#include "device/transfers.h"

namespace ccl::device {

/// What the slots of an engine share. `tracker` is null if Config::max_tracks is 0.
struct EngineStages {
  Segmenter* segmenter;
  Tracker* tracker;
  TrackDrawing* track_drawing;
};

/// What the stages of a slot share: the frame in flight, and what works on it.
struct SlotFrame {
  Config config;
  FrameJob job;
  Settings settings;            ///< those of the job, as labelers read them
  FrameBuffers buffers{};       ///< where the kernels find the frame
  SegmentPlan plan;             ///< with settings and buffers, what a graph is captured for
  SourceFrame source{};         ///< the input
  SourceFrame shown{};          ///< the input, as the output shows it
  DeviceTracks tracks;          ///< of the frame
  bool is_extended = false;     ///< work behind the graph belongs to its last stage
  bool downloads_late = false;  ///< images are downloaded when the frame is popped

  Stream stream;  ///< of the kernels
  Timeline timeline;
  Transfers transfers;
  std::unique_ptr<Pipeline> pipeline;

  FrameLabels labels() const { return pipeline->labels(settings, buffers); }
};

/// Its calls for a frame are in the order of these functions, each for all stages in the order of the list.
/// Each stage decides in prepare() whether the frame needs it, from the job and the configuration.
class Stage {
 public:
  explicit Stage(SlotFrame* slot) : slot_(*slot) {}
  virtual ~Stage() = default;
  Stage(const Stage&) = delete;
  Stage& operator=(const Stage&) = delete;

  /// Takes memory that lasts as long as the slot; once.
  virtual Status configure() { return {}; }
  /// Completes what a graph is captured for, and takes the memory for it.
  virtual Status prepare() { return {}; }
  /// Before enqueue(), if the frame's work has no graph yet: takes what memory is not taken for each frame.
  virtual Status reserve(Graph*) { return {}; }
  /// Enqueues work that becomes part of the graph.
  virtual Status enqueue() { return {}; }
  /// Makes the launch of the graph continue the state of earlier frames.
  virtual Status begin(Graph*) { return {}; }
  /// Enqueues what follows the graph.
  virtual Status complete() { return {}; }
  /// Enqueues copies to the host, here or when the frame is popped.
  virtual Status download() { return {}; }
  /// For the rare frame with more components than the table holds, from a pipeline that leaves such frames to
  /// the host: enqueues what was left out.
  virtual Status choose_records() { return {}; }
  /// Fills in the result, which has the counts and the records.
  virtual void finish(FrameResult*) {}

 protected:
  cudaStream_t stream() const { return slot_.stream.get(); }

  SlotFrame& slot_;
};

/// Null if no frame of the configuration needs the stage.
using MakeStage = std::unique_ptr<Stage>(SlotFrame* slot, const EngineStages& engine);
MakeStage make_segment_stage;
MakeStage make_label_stage;
MakeStage make_compose_stage;
MakeStage make_draw_stage;
MakeStage make_track_stage;
MakeStage make_grey_stage;
MakeStage make_plane_stage;

/// In their order in the graph and behind it. Composing and drawing have no part of the graph. Tracking comes
/// behind them, because another frame may change the tracks as soon as it is complete.
inline constexpr MakeStage* kStages[] = {
    make_segment_stage, make_label_stage, make_compose_stage, make_draw_stage,
    make_track_stage,   make_grey_stage,  make_plane_stage,
};

}  // namespace ccl::device
