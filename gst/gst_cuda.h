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

/// The CUstream on which the memory may still be written, null if it is done. Until 1.24 all memory is
/// written before it is pushed.
inline void* pending_stream(GstCudaMemory* memory) {
#if GST_CHECK_VERSION(1, 24, 0)
  if (GST_MEMORY_FLAG_IS_SET(memory, GST_CUDA_MEMORY_TRANSFER_NEED_SYNC)) {
    if (GstCudaStream* stream = gst_cuda_memory_get_stream(memory)) {
      return gst_cuda_stream_get_handle(stream);
    }
    gst_cuda_memory_sync(memory);
  }
#else
  static_cast<void>(memory);
#endif
  return nullptr;
}

}  // namespace cudaccl
