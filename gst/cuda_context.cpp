// SPDX-License-Identifier: LGPL-2.1-or-later
#include "cuda_context.h"

#ifdef HAVE_GST_CUDA
#define GST_USE_UNSTABLE_API
#include <gst/cuda/gstcudautils.h>
#endif

namespace cudaccl {

void CudaContext::release() {
  const std::lock_guard guard(lock_);
  gst_clear_object(&context_);
}

#ifdef HAVE_GST_CUDA

static int device_of(GstCudaContext* context) {
  guint device_id = 0;
  g_object_get(context, "cuda-device-id", &device_id, nullptr);
  return static_cast<int>(device_id);
}

void* CudaContext::handle(int device_id) const {
  const std::lock_guard guard(lock_);
  const bool suits = context_ != nullptr && (device_id < 0 || device_of(context_) == device_id);
  return suits ? gst_cuda_context_get_handle(context_) : nullptr;
}

void CudaContext::set_context(GstElement* element, GstContext* context, int device_id) {
  const std::lock_guard guard(lock_);
  gst_cuda_handle_set_context(element, context, device_id, &context_);
}

void CudaContext::recall(GstElement* element, int device_id) {
  if (GstContext* context = gst_element_get_context(element, GST_CUDA_CONTEXT_TYPE)) {
    set_context(element, context, device_id);
    gst_context_unref(context);
  }
}

bool CudaContext::answer(GstElement* element, GstQuery* query) const {
  const std::lock_guard guard(lock_);
  return context_ != nullptr && gst_cuda_handle_context_query(element, query, context_);
}

#else

void* CudaContext::handle(int) const {
  return nullptr;
}

void CudaContext::set_context(GstElement*, GstContext*, int) {}

void CudaContext::recall(GstElement*, int) {}

bool CudaContext::answer(GstElement*, GstQuery*) const {
  return false;
}

#endif

}  // namespace cudaccl
