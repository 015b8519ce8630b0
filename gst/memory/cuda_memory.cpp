// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/cuda_memory.h"

#include "memory/gst_cuda.h"

namespace cudaccl {

namespace {

/// The buffer's memory if it is one block of CUDA memory.
GstCudaMemory* cuda_memory_of(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) != 1) {
    return nullptr;
  }
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory) : nullptr;
}

}  // namespace

const GstMapFlags kMapCuda = static_cast<GstMapFlags>(GST_MAP_CUDA);

bool has_cuda_memory() {
  return true;
}

GstCudaContext* cuda_context_of(GstBuffer* buffer) {
  const GstCudaMemory* memory = cuda_memory_of(buffer);
  return memory != nullptr ? memory->context : nullptr;
}

bool is_memory_of(GstBuffer* buffer, void* context) {
  GstCudaContext* theirs = cuda_context_of(buffer);
  return context != nullptr && theirs != nullptr && gst_cuda_context_get_handle(theirs) == context;
}

void* stream_of(GstBuffer* buffer) {
  GstCudaMemory* memory = cuda_memory_of(buffer);
  return memory != nullptr ? stream_of(memory) : nullptr;
}

}  // namespace cudaccl
