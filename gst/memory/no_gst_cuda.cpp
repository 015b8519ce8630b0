// SPDX-License-Identifier: LGPL-2.1-or-later
/// In place of cuda_context.cpp and cuda_memory.cpp in a build without GStreamer's CUDA library: no context
/// is shared, and no buffer is CUDA memory.
#include "memory/cuda_context.h"
#include "memory/cuda_memory.h"

namespace cudaccl {

void CudaContext::find(GstElement*, int) {}

void CudaContext::share(GstElement*, const std::shared_ptr<ccl::Device>&) {}

bool CudaContext::adopt(GstBuffer*, int) {
  return false;
}

void CudaContext::release() {}

std::shared_ptr<void> CudaContext::handle(int) const {
  return nullptr;
}

void CudaContext::set_context(GstElement*, GstContext*, int) {}

bool CudaContext::answer(GstElement*, GstQuery*) const {
  return false;
}

GstBufferPool* CudaContext::new_pool() const {
  return nullptr;
}

bool CudaContext::has_pool(GstBufferPool*) const {
  return false;
}

const GstMapFlags kMapCuda = static_cast<GstMapFlags>(0);

bool has_cuda_memory() {
  return false;
}

_GstCudaContext* cuda_context_of(GstBuffer*) {
  return nullptr;
}

bool is_memory_of(GstBuffer*, void*) {
  return false;
}

void* stream_of(GstBuffer*) {
  return nullptr;
}

}  // namespace cudaccl
