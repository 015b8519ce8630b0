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
#include "device/memory.h"
#include "device/source_frame.h"
#include "device/stages/segment/background.h"
#include "device/stages/segment/components.h"
#include "device/stages/segment/otsu.h"

namespace ccl::device {

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

 private:
  DeviceArray<uint32_t> foreground_;
  DeviceArray<uint32_t> strong_;
  DeviceArray<uint32_t> regions_;
  bool has_strong_ = false;
  bool has_regions_ = false;
  uint64_t regions_id_ = 0;  ///< of the mask that was uploaded; 0: none
};

/// One per engine. It outlives a change of the configuration, unless the frame's size changes: the background
/// model goes on. All calls, construction and destruction included, need the context to be current.
class Segmenter {
 public:
  /// Takes no memory for any rule yet.
  Status configure(uint32_t width, uint32_t height);

  bool has_size(uint32_t width, uint32_t height) const { return width == width_ && height == height_; }

  /// Enqueues the writing of the bit images of a frame for which makes_bits() is true, and of what `counts`
  /// reports of them. Frames must come in their order; on the GPU each waits for the one before it, whatever
  /// their streams. The first frame of a rule takes the memory for it.
  Status enqueue(const FrameJob& job, const SourceFrame& source, const FrameBits& bits, FrameCounts* counts,
                 const Stream& stream);

  /// Enqueues, after enqueue() of a frame with Foreground::kMotion, the writing of what the model believes:
  /// planes of luma, U and V, each of width × height pixels, dense. The next frame waits for it.
  Status read_background(uint8_t* planes, const Stream& stream);

 private:
  Status prepare(const FrameJob& job, const SourceFrame& source);
  Status enqueue_rule(const FrameJob& job, const SourceFrame& source, uint32_t* strong, uint32_t* found,
                      FrameCounts* counts, cudaStream_t stream);

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  Stream stream_;  ///< for memory that is initialized once
  Event ended_;    ///< of the last frame
  bool has_ended_ = false;
  DeviceArray<uint32_t> found_;  ///< the foreground before morphology
  std::unique_ptr<segment::Otsu> otsu_;
  MotionClock clock_;
  segment::Background background_;
  std::unique_ptr<BitComponents> components_;
};

}  // namespace ccl::device
