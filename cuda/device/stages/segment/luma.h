// SPDX-License-Identifier: LGPL-2.1-or-later
/// The planes that the stages of the GPU read, of a frame whose luma is not a plane of bytes
/// (ccl/segment/luma.h).
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/status.h"
#include "device/memory.h"
#include "device/source_frame.h"

namespace ccl::device::segment {

/// One per slot. Takes the memory of a plane with the first frame that needs it.
class LumaPlanes {
 public:
  /// Makes a plane of 8-bit luma of width × height pixels frame->luma, and with `needs_chroma` planes of
  /// chroma frame->chroma if the frame is RGB. They are valid until the next call.
  Status place(uint32_t width, uint32_t height, bool needs_chroma, SourceFrame* frame);
  /// Enqueues the writing of these planes. `frame` is what place() has changed.
  Status enqueue(const SourceFrame& frame, cudaStream_t stream) const;

 private:
  DeviceArray<uint8_t> luma_;
  DeviceArray<uint8_t> chroma_;  ///< a plane of U, then one of V
};

}  // namespace ccl::device::segment
