// SPDX-License-Identifier: LGPL-2.1-or-later
/// GStreamer's CUDA library, 1.22 and newer. This is the only file that knows differences between versions.
#pragma once

#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudabufferpool.h>
#include <gst/cuda/gstcudacontext.h>
#include <gst/cuda/gstcudaloader.h>
#include <gst/cuda/gstcudamemory.h>
#include <gst/cuda/gstcudautils.h>

namespace cudaccl {

/// The CUstream that orders every use of the memory; null if no use is pending. Before 1.24 no use ever is:
/// each element synchronizes before it pushes a buffer.
inline void* stream_of(GstCudaMemory* memory) {
#if GST_CHECK_VERSION(1, 24, 0)
  // GST_CUDA_MEMORY_TRANSFER_NEED_SYNC is no help: the first element that waits clears it for all.
  GstCudaStream* stream = gst_cuda_memory_get_stream(memory);
  return stream != nullptr ? gst_cuda_stream_get_handle(stream) : nullptr;
#else
  static_cast<void>(memory);
  return nullptr;
#endif
}

}  // namespace cudaccl
