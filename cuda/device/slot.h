// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame in flight, from push() to pop().
#pragma once

#include <memory>
#include <vector>

#include "ccl/engine.h"
#include "device/delivery.h"
#include "device/graph_cache.h"
#include "device/stage.h"

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
  /// `copies` is null if the slot's stream copies, too.
  Status configure(const Config& config, std::unique_ptr<Pipeline> pipeline, const CopyStreams* copies,
                   const EngineStages& engine);

  /// Enqueues a frame. Even after a failure the job's memory may be in use until wait().
  Status start(const FrameJob& job);

  /// Waits for the frame and fills `result`, whose records stay in this slot until the next start().
  /// `is_alone`: no other frame is in flight.
  Status finish(bool is_alone, FrameResult* result);

  /// Waits for all work that was enqueued.
  void wait() { frame_.transfers.wait(); }

 private:
  template <typename... Arguments>
  Status each(Status (Stage::*verb)(Arguments...), Arguments... arguments);
  Status place();
  Status process();
  Status capture(Graph* graph, uint32_t* marks);
  Status deliver();
  Status choose_records();

  SlotFrame frame_;
  std::vector<std::unique_ptr<Stage>> stages_;
  Delivery delivery_;
  GraphCache graphs_;
  Foreground foreground_ = Foreground::kBinary;  ///< of the last frame
};

}  // namespace ccl::device
