// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame in flight, from push() to pop().
#pragma once

#include <memory>

#include "ccl/engine.h"
#include "device/delivery.h"
#include "device/graph_cache.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/planes.h"
#include "device/source_frame.h"
#include "device/stages/draw.h"
#include "device/stages/grey.h"
#include "device/stages/segment/luma.h"
#include "device/stages/segment/segmenter.h"
#include "device/stages/track/tracker.h"
#include "device/timeline.h"
#include "device/transfers.h"

namespace ccl::device {

/// All work on a frame between its transfers is one graph launch. Each slot has a stream and a pipeline of
/// its own, so that frames in different slots overlap; within a slot the stream orders the stages. All calls,
/// construction and destruction included, need the context to be current.
class Slot {
 public:
  Slot() = default;
  Slot(const Slot&) = delete;
  Slot& operator=(const Slot&) = delete;
  /// Waits for all work that was enqueued.
  ~Slot();

  /// Allocates all memory except what Pipeline::prepare() and Transfers::place() allocate later; once only.
  /// `copies` is null if the slot's stream copies, too. The others are the engine's; `tracker` is null if
  /// Config::max_tracks is 0.
  Status configure(const Config& config, std::unique_ptr<Pipeline> pipeline, const CopyStreams* copies,
                   Segmenter* segmenter, Tracker* tracker, TrackDrawing* track_drawing);

  /// Enqueues a frame. Even after a failure the job's memory may be in use until wait().
  Status start(const FrameJob& job);

  /// Waits for the frame and fills `result`, whose records stay in this slot until the next start().
  Status finish(FrameResult* result);

  /// Waits for all work that was enqueued.
  void wait();

 private:
  Status prepare_segment();
  Status prepare_bits();
  bool keeps_all_labels() const;
  bool shows_model() const;
  Status place_background();
  Status process();
  Status launch(Graph* graph);
  Status capture(Graph* graph, uint32_t* marks);
  Status enqueue_segment();
  Status enqueue_track();
  GreyJob grey_job() const;
  Status enqueue_grey();
  Status complete_output();
  Status compose_output();
  Status prepare_drawing();
  Status draw_over(const FrameCounts* skipped);
  Status write_planes();
  bool downloads_late() const { return transfers_.downloads_late() || planes_.downloads_late(); }
  Status deliver_images();
  Status choose_records();

  Config config_;
  FrameJob job_;                                 ///< the frame in flight
  Settings settings_;                            ///< its settings, as labelers read them
  FrameBuffers frame_{};                         ///< where the kernels find it
  SegmentPlan plan_;                             ///< its segment stage
  SourceFrame source_{};                         ///< its input, as the output shows it
  SourcePixels grey_source_;                     ///< its input, as its grey statistics read it
  Foreground foreground_ = Foreground::kBinary;  ///< of the last frame

  Stream stream_;  ///< of the kernels
  Segmenter* segmenter_ = nullptr;
  Tracker* tracker_ = nullptr;
  track::TrackStep track_step_;  ///< of the frame in flight
  segment::LumaPlanes luma_planes_;
  DeviceArray<uint8_t> background_;  ///< planes of luma, U and V, once a frame showed the background model
  FrameBits bits_;
  DeviceTracks tracks_;          ///< of the frame
  bool draws_tracks_ = false;    ///< over the frame
  bool draws_outlines_ = false;  ///< likewise
  TrackDrawing* track_drawing_ = nullptr;
  uint32_t track_table_ = 0;  ///< of the frame, see TrackDrawing
  DeviceOutlines outlines_;
  Timeline timeline_;
  Transfers transfers_;
  Planes planes_;
  Delivery delivery_;
  GreyMeasurement grey_;
  TrackDelivery track_delivery_;
  std::unique_ptr<Pipeline> pipeline_;
  GraphCache graphs_;
};

}  // namespace ccl::device
