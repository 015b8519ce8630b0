// SPDX-License-Identifier: LGPL-2.1-or-later
#include "memory/cuda_context.h"

#include "memory/cuda_memory.h"
#include "memory/gst_cuda.h"

namespace cudaccl {

namespace {

bool is_on_device(GstCudaContext* context, int device_id) {
  guint context_device = 0;
  g_object_get(context, "cuda-device-id", &context_device, nullptr);
  return device_id < 0 || static_cast<int>(context_device) == device_id;
}

/// The context of the element on the other side of the pad; null if it has none. Owned by the caller.
GstContext* ask_neighbour(GstElement* element, const char* pad_name) {
  GstPad* pad = gst_element_get_static_pad(element, pad_name);
  GstQuery* query = gst_query_new_context(GST_CUDA_CONTEXT_TYPE);
  GstContext* context = nullptr;
  if (gst_pad_peer_query(pad, query)) {
    gst_query_parse_context(query, &context);
  }
  if (context != nullptr) {
    gst_context_ref(context);
  }
  gst_query_unref(query);
  gst_object_unref(pad);
  return context;
}

}  // namespace

void CudaContext::find(GstElement* element, int device_id) {
  // Without a driver there is no context, and GStreamer's calls abort.
  if (!gst_cuda_load_library()) {
    return;
  }
  if (GstContext* context = gst_element_get_context(element, GST_CUDA_CONTEXT_TYPE)) {
    set_context(element, context, device_id);
    gst_context_unref(context);
  }
  for (const char* pad : {"src", "sink"}) {
    if (handle(device_id) != nullptr) {
      return;
    }
    if (GstContext* context = ask_neighbour(element, pad)) {
      gst_element_set_context(element, context);
      gst_context_unref(context);
    }
  }
  if (handle(device_id) == nullptr) {
    // An application that has a context sets it with gst_element_set_context() before this returns.
    gst_element_post_message(element,
                             gst_message_new_need_context(GST_OBJECT(element), GST_CUDA_CONTEXT_TYPE));
  }
}

void CudaContext::release() {
  const std::lock_guard guard(lock_);
  gst_clear_object(&context_);
}

void CudaContext::share(GstElement* element, const std::shared_ptr<ccl::Device>& device) {
  CUdevice handle = 0;
  if (this->handle(-1) != nullptr || !gst_cuda_load_library() ||
      CuDeviceGet(&handle, device->id()) != CUDA_SUCCESS) {
    return;
  }
  GstCudaContext* wrapped = gst_cuda_context_new_wrapped(static_cast<CUcontext>(device->context()), handle);
  if (wrapped == nullptr) {
    return;
  }
  // The wrapper keeps the device and its context alive.
  g_object_set_qdata_full(G_OBJECT(wrapped), g_quark_from_static_string("cudaccl-device"),
                          new std::shared_ptr<ccl::Device>(device),
                          [](gpointer kept) { delete static_cast<std::shared_ptr<ccl::Device>*>(kept); });
  {
    const std::lock_guard guard(lock_);
    if (context_ != nullptr) {  // another thread was faster
      gst_object_unref(wrapped);
      return;
    }
    context_ = static_cast<GstCudaContext*>(gst_object_ref(wrapped));
  }
  GstContext* context = gst_context_new_cuda_context(wrapped);
  gst_object_unref(wrapped);
  gst_element_set_context(element, context);
  gst_element_post_message(element, gst_message_new_have_context(GST_OBJECT(element), context));
}

bool CudaContext::adopt(GstBuffer* buffer, int device_id) {
  GstCudaContext* theirs = cuda_context_of(buffer);
  const std::lock_guard guard(lock_);
  if (theirs == nullptr || theirs == context_ || !is_on_device(theirs, device_id)) {
    return false;
  }
  const bool is_other =
      context_ == nullptr || gst_cuda_context_get_handle(context_) != gst_cuda_context_get_handle(theirs);
  gst_object_replace(reinterpret_cast<GstObject**>(&context_), GST_OBJECT(theirs));
  return is_other;
}

std::shared_ptr<void> CudaContext::handle(int device_id) const {
  const std::lock_guard guard(lock_);
  if (context_ == nullptr || !is_on_device(context_, device_id)) {
    return nullptr;
  }
  gst_object_ref(context_);
  return {gst_cuda_context_get_handle(context_), [kept = context_](void*) { gst_object_unref(kept); }};
}

void CudaContext::set_context(GstElement* element, GstContext* context, int device_id) {
  const std::lock_guard guard(lock_);
  gst_cuda_handle_set_context(element, context, device_id, &context_);
}

bool CudaContext::answer(GstElement* element, GstQuery* query) const {
  const std::lock_guard guard(lock_);
  return context_ != nullptr && gst_cuda_handle_context_query(element, query, context_);
}

GstBufferPool* CudaContext::new_pool() const {
  const std::lock_guard guard(lock_);
  gst_cuda_memory_init_once();  // pools need it, and perhaps no other element has called it
  return context_ != nullptr ? gst_cuda_buffer_pool_new(context_) : nullptr;
}

bool CudaContext::has_pool(GstBufferPool* pool) const {
  const std::lock_guard guard(lock_);
  return context_ != nullptr && GST_IS_CUDA_BUFFER_POOL(pool) &&
         gst_cuda_context_get_handle(GST_CUDA_BUFFER_POOL(pool)->context) ==
             gst_cuda_context_get_handle(context_);
}

}  // namespace cudaccl
