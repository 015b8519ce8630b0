// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kOtsu: see ccl/segment/otsu.h.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

class Otsu {
 public:
  /// Allocates and clears the memory that outlives a frame; `stream` is only used for that.
  Status configure(cudaStream_t stream);

  /// Enqueues the writing of a bit image, and of the level to `counts`. Each frame must be enqueued after the
  /// one before it.
  Status enqueue(const Plane& frame, bool invert, uint32_t* bits, FrameCounts* counts, cudaStream_t stream);

 private:
  struct State;
  DeviceArray<uint8_t> state_;  ///< one State
};

}  // namespace ccl::device::segment
