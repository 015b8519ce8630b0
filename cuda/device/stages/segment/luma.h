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
  /// Enqueues the writing of 8-bit luma of width × height pixels, and makes it frame->luma; it is valid until
  /// the next call. With `needs_chroma` an RGB frame gets chroma.
  Status enqueue(uint32_t width, uint32_t height, bool needs_chroma, SourceFrame* frame, cudaStream_t stream);

 private:
  DeviceArray<uint8_t> luma_;
  DeviceArray<uint8_t> chroma_;  ///< a plane of U, then one of V
};

}  // namespace ccl::device::segment
