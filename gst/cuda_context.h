// SPDX-License-Identifier: LGPL-2.1-or-later
/// A CUDA context that neighbours or the application share with this element.
#pragma once

#include <gst/gst.h>

#include <mutex>

struct _GstCudaContext;

namespace cudaccl {

/// Holds the GstCudaContext that was handed to the element, if any. The element makes none: where nobody
/// shares one, all elements of a process work in the device's primary context, and take its memory once.
/// Holds nothing in a build without GStreamer's CUDA library (-Dgst-cuda).
class CudaContext {
 public:
  CudaContext() = default;
  ~CudaContext() { release(); }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  /// Takes the context that was handed to the element in an earlier life, before release().
  void recall(GstElement* element, int device_id);
  void release();

  /// The CUcontext, null if there is none on this device; −1 is any.
  void* handle(int device_id) const;

  /// For GstElement::set_context: takes a context that suits the device.
  void set_context(GstElement* element, GstContext* context, int device_id);

  /// Answers a CONTEXT query for our context. False if it asks for something else, or there is none.
  bool answer(GstElement* element, GstQuery* query) const;

 private:
  mutable std::mutex lock_;
  _GstCudaContext* context_ = nullptr;
};

}  // namespace cudaccl
