// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_memory.h"

#ifdef HAVE_GST_CUDA
#include "gst_cuda.h"
#endif

namespace cudaccl {

bool is_cuda_caps(const GstCaps* caps) {
  for (guint i = 0; i < gst_caps_get_size(caps); ++i) {
    if (!gst_caps_features_contains(gst_caps_get_features(caps, i), kCudaMemoryFeature)) {
      return false;
    }
  }
  return true;
}

#ifdef HAVE_GST_CUDA

const GstMapFlags kMapCuda = static_cast<GstMapFlags>(GST_MAP_CUDA);

/// The buffer's memory if it is one block of CUDA memory.
static GstCudaMemory* cuda_memory_of(GstBuffer* buffer) {
  if (gst_buffer_n_memory(buffer) != 1) {
    return nullptr;
  }
  GstMemory* memory = gst_buffer_peek_memory(buffer, 0);
  return gst_is_cuda_memory(memory) ? GST_CUDA_MEMORY_CAST(memory) : nullptr;
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

#else

const GstMapFlags kMapCuda = static_cast<GstMapFlags>(0);

_GstCudaContext* cuda_context_of(GstBuffer*) {
  return nullptr;
}

bool is_memory_of(GstBuffer*, void*) {
  return false;
}

void* stream_of(GstBuffer*) {
  return nullptr;
}

#endif

}  // namespace cudaccl
