// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CUDA context that the element shares with its neighbours and the application.
#pragma once

#include <gst/gst.h>

#include <memory>
#include <mutex>

#include "ccl/engine.h"

struct _GstCudaContext;

namespace cudaccl {

/// Holds the GstCudaContext that the element was given, or one that wraps its engine's context. If no context
/// is shared, all elements of a process use the device's primary context, so that its memory is taken once.
/// Without GStreamer's CUDA library (-Dgst-cuda) no context is ever held. Any thread may use it.
class CudaContext {
 public:
  CudaContext() = default;
  ~CudaContext() { release(); }
  CudaContext(const CudaContext&) = delete;
  CudaContext& operator=(const CudaContext&) = delete;

  /// Looks for a context on this device (−1: any) unless one is held: first one that the element was given
  /// before, then the neighbours', then the application's, which a NEED_CONTEXT message asks for.
  void find(GstElement* element, int device_id);

  /// Holds the engine's context unless one is held, and offers it to the pipeline in a HAVE_CONTEXT message.
  void share(GstElement* element, const std::shared_ptr<ccl::Device>& device);

  /// Holds the context of a buffer's CUDA memory from now on, if it is on this device (−1: any). True if that
  /// changes the CUcontext.
  bool adopt(GstBuffer* buffer, int device_id);

  void release();

  /// The CUcontext with a reference on its GstCudaContext; null if none is held for this device (−1: any).
  std::shared_ptr<void> handle(int device_id) const;

  /// For GstElement::set_context: takes the context if it is on this device (−1: any).
  void set_context(GstElement* element, GstContext* context, int device_id);

  /// Answers a CONTEXT query with the context. False if the query is for another type, or no context is held.
  bool answer(GstElement* element, GstQuery* query) const;

  /// A pool of CUDA memory in the context, owned by the caller; null if none is held.
  GstBufferPool* new_pool() const;

  /// Whether the pool's buffers are CUDA memory in the context.
  bool has_pool(GstBufferPool* pool) const;

 private:
  mutable std::mutex lock_;
  [[maybe_unused]] _GstCudaContext* context_ = nullptr;  ///< not used by no_gst_cuda.cpp
};

}  // namespace cudaccl
