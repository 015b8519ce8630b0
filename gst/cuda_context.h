// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA context that this element shares with its neighbours through GStreamer's CUDA library.
#pragma once

#include <gst/gst.h>

#include <mutex>

struct _GstCudaContext;

namespace cudaccl {

/// Holds a GstCudaContext, or nothing in a build without GStreamer's CUDA library (-Dgst-cuda) and on a
/// machine without a driver.
class CudaContext {
 public:
  CudaContext() = default;
  ~CudaContext() { release(); }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  /// Takes the context of a neighbour or of the application, or makes one; −1 is any device.
  void acquire(GstElement* element, int device_id);
  void release();

  /// The CUcontext, null if there is none.
  void* handle() const;

  /// For GstElement::set_context: takes a context that suits the device.
  void set_context(GstElement* element, GstContext* context, int device_id);

  /// Answers a CONTEXT query for our context. False if it asks for something else, or there is none.
  bool answer(GstElement* element, GstQuery* query) const;

 private:
  // Recursive: an application may set a context while acquire() asks it for one, in the same thread.
  mutable std::recursive_mutex lock_;
  _GstCudaContext* context_ = nullptr;
};

}  // namespace cudaccl
