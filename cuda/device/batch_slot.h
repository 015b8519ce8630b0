// SPDX-License-Identifier: LGPL-2.1-or-later
/// A batch in flight, whose frames share a launch (runs/batch.h).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ccl/engine.h"
#include "device/delivery.h"
#include "device/memory.h"
#include "device/runs/batch_pipeline.h"

namespace ccl::device {

/// All calls, construction and destruction included, need the context to be current.
class BatchSlot {
 public:
  BatchSlot() = default;
  BatchSlot(const BatchSlot&) = delete;
  BatchSlot& operator=(const BatchSlot&) = delete;
  /// Waits for all work that was enqueued.
  ~BatchSlot() { wait(); }

  /// Whether frames of the configuration can share a launch: `runs` labels them in one pass, and they need
  /// nothing of each other.
  static bool is_for(const Config& config);

  /// Allocates all memory, for batches of Config::batch frames; once only.
  Status configure(const Config& config);

  /// Whether the frames can share a launch: they lie on the GPU, have the same settings, need only the stage
  /// of labels, and their results are where the kernel can write them. Others take a slot each. Takes the
  /// memory that is needed. Not while is_in_use().
  Status prepare(std::span<const FrameJob> jobs, bool* can_share);

  /// Enqueues frames that can share a launch, as prepare() has just found out.
  Status start(std::span<const FrameJob> jobs);

  /// Frames that were started, and are not popped.
  bool is_in_use() const { return n_popped_ < jobs_.size(); }
  /// Waits for the next frame, and fills `result`, whose records stay until the next start(). If the table
  /// overflows, `result` has no records, and the caller processes the frame, job(), again.
  Status pop(FrameResult* result, bool* overflows);
  const FrameJob& job() const { return jobs_[n_popped_ - 1]; }

  /// Discards all frames.
  void flush();

 private:
  void wait() const;
  Status follow(std::span<const FrameJob> jobs) const;

  Config config_;
  BatchPipeline pipeline_;
  Delivery delivery_;
  Stream stream_;
  Event started_, done_, foreign_;
  std::vector<FrameJob> jobs_;
  std::vector<runs::Batch::Frame> frames_;
  size_t n_popped_ = 0;
  float us_of_frame_ = 0;
};

}  // namespace ccl::device
