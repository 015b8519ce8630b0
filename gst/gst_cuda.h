// SPDX-License-Identifier: LGPL-2.1-or-later
/// GStreamer's CUDA library, 1.22 and newer: all that differs between its versions is here.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

namespace cudaccl {

/// The CUstream that all use of the memory is ordered by, null if its last user was done before it was let
/// go, as all are until 1.24.
inline void* stream_of(GstCudaMemory* memory) {
#if GST_CHECK_VERSION(1, 24, 0)
  // Whatever NEED_SYNC says: it is cleared by whoever begins to wait.
  GstCudaStream* stream = gst_cuda_memory_get_stream(memory);
  return stream != nullptr ? gst_cuda_stream_get_handle(stream) : nullptr;
#else
  static_cast<void>(memory);
  return nullptr;
#endif
}

}  // namespace cudaccl
