// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA context that neighbours, the application and this element share.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "ccl/engine.h"

struct _GstCudaContext;

namespace cudaccl {

/// Holds the GstCudaContext that was handed to the element, or that it made of its engine's. Where nobody
/// shares one, all elements of a process work in the device's primary context, and take its memory once.
/// Holds nothing in a build without GStreamer's CUDA library (-Dgst-cuda). Any thread may use it.
class CudaContext {
 public:
  CudaContext() = default;
  ~CudaContext() { release(); }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  /// Looks for a context on this device (−1: any) unless one is held: one that was handed to the element in
  /// an earlier life, then the neighbours', then what the application gives when a NEED_CONTEXT message asks.
  void find(GstElement* element, int device_id);

  /// Holds the engine's context unless one is held, and offers it to the pipeline by a HAVE_CONTEXT message.
  void share(GstElement* element, const std::shared_ptr<ccl::Device>& device);

  /// Holds the context of a buffer's CUDA memory instead, if the buffer has such memory and of this device
  /// (−1: any). True if it is another context than before.
  bool adopt(GstBuffer* buffer, int device_id);

  void release();

  /// The CUcontext with a reference on its GstCudaContext; null if none is held for this device (−1: any).
  std::shared_ptr<void> handle(int device_id) const;

  /// For GstElement::set_context: takes a context that suits the device.
  void set_context(GstElement* element, GstContext* context, int device_id);

  /// Answers a CONTEXT query for our context. False if it asks for something else, or there is none.
  bool answer(GstElement* element, GstQuery* query) const;

  /// A pool of CUDA memory in the context, the caller's; null if none is held.
  GstBufferPool* new_pool() const;

  /// Whether `pool` gives CUDA memory in the context.
  bool has_pool(GstBufferPool* pool) const;

 private:
  mutable std::mutex lock_;
  _GstCudaContext* context_ = nullptr;
};

}  // namespace cudaccl
