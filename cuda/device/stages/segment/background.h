// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background model of a stream in GPU memory. See ccl/segment/motion.h.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/counts.h"
#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/segment/mixture.h"
#include "device/stages/segment/model.h"
#include "device/stages/segment/sigma_delta.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

class Background {
 public:
  /// Takes no memory yet. `stream` is used to clear memory.
  void configure(uint32_t width, uint32_t height, cudaStream_t stream);

  /// Takes the memory of the model if it is another one than before, or if the frame's chroma has another
  /// shape. Then the model begins again. Freeing the old memory waits for the frames in flight.
  Status prepare(BackgroundModel model, const Chroma& chroma);
  /// Whether prepare() would take memory.
  bool needs_memory(BackgroundModel model, const Chroma& chroma) const;

  /// Enqueues the frame: its foreground before morphology to `bits`; FrameCounts::relearning; and the
  /// learning. Unless has_no_foreground() is null, the bits count only where it points to 0. Frames must be
  /// enqueued in their order, and each after the one before it.
  Status enqueue(const Plane& frame, const Chroma& chroma, const MotionStep& step, uint32_t* bits,
                 FrameCounts* counts, cudaStream_t stream);

  /// The kernel of enqueue() that reads what differs between the steps of frames whose thresholds are equal.
  StepKernel step_kernel() const;

  /// In device memory: not 0 if the frame has no foreground, because the model begins or warms up. Null if
  /// the model clears the bits itself.
  const uint32_t* has_no_foreground() const;

  /// Enqueues the writing of what the model believes: luma, and U and V of each pixel (128 without chroma),
  /// dense.
  Status read(uint8_t* luma, uint8_t* u, uint8_t* v, cudaStream_t stream) const;

 private:
  struct Shape {
    bool has_chroma = false;
    uint8_t shift_x = 0;
    uint8_t shift_y = 0;
    bool operator==(const Shape&) const = default;
  };
  static Shape shape_of(const Chroma& chroma);

  Status allocate_sigma_delta();
  Status allocate_mixture();
  Decision decision(FrameCounts* counts) const;

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  cudaStream_t stream_ = nullptr;
  bool is_ready_ = false;
  BackgroundModel model_ = BackgroundModel::kSigmaDelta;
  Shape shape_;

  struct State;
  DeviceArray<uint8_t> state_;   ///< one State
  DeviceArray<uint8_t> planes_;  ///< all planes of the model
  SigmaDeltaPlanes luma_{};
  SigmaDeltaChromaPlanes chroma_{};
  MixturePlanes mixture_{};
};

}  // namespace ccl::device::segment
