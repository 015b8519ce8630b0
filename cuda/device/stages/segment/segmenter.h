// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first stage of the GPU engine, for frames that are labelled from a bit image (ccl/segment.h).
#pragma once

#include <cuda_runtime_api.h>

#include <memory>

#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "ccl/status.h"
#include "device/graph.h"
#include "device/memory.h"
#include "device/source_frame.h"
#include "device/stages/segment/background.h"
#include "device/stages/segment/components.h"
#include "device/stages/segment/otsu.h"

namespace ccl::device {

/// What the segment stage of a frame depends on, the memory of its slot apart. Frames with equal plans
/// enqueue the same work.
struct SegmentPlan {
  bool has_bits = false;
  ForegroundRule rule;
  Connectivity connectivity = Connectivity::k8;
  Segmentation segmentation;
  bool has_regions = false;
  bool searches_ghosts = false;  ///< with the mixture: see its thresholds
  SourceFrame source;
  uint64_t n_allocations = 0;  ///< of the segmenter: after another one, its memory may lie elsewhere

  bool operator==(const SegmentPlan&) const = default;
};

/// The bit images of a frame in flight: memory of a slot.
class FrameBits {
 public:
  /// Allocates what the frame needs in addition, and uploads its regions if they are other ones than before.
  /// `stream` is the slot's.
  Status prepare(const FrameJob& job, const Config& config, const Stream& stream);

  /// Bit images: the foreground; with hysteresis the strong pixels, else null; the regions, or null.
  uint32_t* foreground() const { return foreground_.data(); }
  uint32_t* strong() const { return has_strong_ ? strong_.data() : nullptr; }
  const uint32_t* regions() const { return has_regions_ ? regions_.data() : nullptr; }

  /// The frame's step, if its rule is Foreground::kMotion.
  const MotionStep& step() const { return step_; }
  void set_step(const MotionStep& step) { step_ = step; }

 private:
  DeviceArray<uint32_t> foreground_;
  DeviceArray<uint32_t> strong_;
  DeviceArray<uint32_t> regions_;
  MotionStep step_;
  bool has_strong_ = false;
  bool has_regions_ = false;
  uint64_t regions_id_ = 0;  ///< of the mask that was uploaded; 0: none
};

/// One per engine. It outlives a change of the configuration, unless the frame's size changes: the background
/// model goes on. All calls, construction and destruction included, need the context to be current.
///
/// For each frame for which makes_bits() is true: prepare(), begin(), then enqueue(), or set_step() and a
/// graph with what enqueue() enqueued, then end(). Frames come in their order; on the GPU each waits for the
/// one before it, whatever their streams.
class Segmenter {
 public:
  /// Takes no memory for any rule yet.
  Status configure(uint32_t width, uint32_t height);

  bool has_size(uint32_t width, uint32_t height) const { return width == width_ && height == height_; }

  /// Takes the memory that the frame needs in addition, and makes its plan and its step.
  Status prepare(const FrameJob& job, const SourceFrame& source, FrameBits* bits, SegmentPlan* plan);

  /// Makes `stream` wait for the previous frame.
  Status begin(const Stream& stream);

  /// Makes the next launch of a graph with what enqueue() enqueued use the step of these bits.
  Status set_step(const SegmentPlan& plan, const FrameBits& bits, Graph* graph) const;

  /// Enqueues the writing of the bit images, and of what `counts` reports of them.
  Status enqueue(const SegmentPlan& plan, const FrameBits& bits, FrameCounts* counts, cudaStream_t stream);

  /// Enqueues, after enqueue() of a frame with Foreground::kMotion, the writing of what the model believes:
  /// planes of luma, U and V, each of width × height pixels, dense.
  Status read_background(uint8_t* planes, cudaStream_t stream) const;

  Status end(const Stream& stream);

 private:
  Status allocate(const FrameJob& job, const SourceFrame& source);
  Status enqueue_rule(const SegmentPlan& plan, const FrameBits& bits, uint32_t* found, FrameCounts* counts,
                      cudaStream_t stream);

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  Stream stream_;                       ///< for memory that is initialized once
  Event ended_;                         ///< of the last frame
  cudaStream_t last_stream_ = nullptr;  ///< of the last frame
  uint64_t n_allocations_ = 0;
  DeviceArray<uint32_t> found_;  ///< the foreground before morphology
  std::unique_ptr<segment::Otsu> otsu_;
  MotionClock clock_;
  segment::Background background_;
  std::unique_ptr<BitComponents> components_;
};

}  // namespace ccl::device
