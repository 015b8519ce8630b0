// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffers in the GPU's memory.
#pragma once

#include <gst/gst.h>

struct _GstCudaContext;

namespace cudaccl {

/// False in a build without GStreamer's CUDA library: no buffer is CUDA memory then.
bool has_cuda_memory();

/// The context of a buffer's memory, borrowed; null if it is not CUDA memory.
_GstCudaContext* cuda_context_of(GstBuffer* buffer);

/// Whether the buffer is CUDA memory that can be used in this CUcontext.
bool is_memory_of(GstBuffer* buffer, void* context);

/// Maps CUDA memory without a copy: the address is one of the GPU's.
extern const GstMapFlags kMapCuda;

/// The CUstream that orders every use of the buffer's CUDA memory; null if no use is pending.
void* stream_of(GstBuffer* buffer);

}  // namespace cudaccl
