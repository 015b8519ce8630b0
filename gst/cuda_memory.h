// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffers in the GPU's memory.
#pragma once

#include <gst/gst.h>

struct _GstCudaContext;

namespace cudaccl {

/// The caps feature of such buffers.
inline constexpr const char* kCudaMemoryFeature = "memory:CUDAMemory";

/// Whether all of the caps ask for CUDA memory.
bool is_cuda_caps(const GstCaps* caps);

/// The context of a buffer's memory, borrowed; null if it is not CUDA memory.
_GstCudaContext* cuda_context_of(GstBuffer* buffer);

/// Whether the buffer's memory can be used in this CUcontext.
bool is_memory_of(GstBuffer* buffer, void* context);

/// Maps CUDA memory as it is: the address is one of the GPU's.
extern const GstMapFlags kMapCuda;

/// The CUstream that all use of the buffer's CUDA memory is ordered by, null if nobody uses it.
void* stream_of(GstBuffer* buffer);

}  // namespace cudaccl
