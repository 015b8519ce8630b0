// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffers for label maps.
#pragma once

#include <gst/video/video.h>

#include "ccl/status.h"
#include "element/backend.h"
#include "negotiation/negotiation.h"

namespace cudaccl {

/// Takes memory with the first frames, until their readers give the buffers back as fast as frames need them.
/// A buffer that a reader keeps is valid for as long as the reader wants. Only the streaming thread uses it,
/// or a state change while that thread does not run.
class LabelMapPool {
 public:
  LabelMapPool() = default;
  ~LabelMapPool() { clear(); }
  LabelMapPool(const LabelMapPool&) = delete;
  LabelMapPool& operator=(const LabelMapPool&) = delete;

  /// A buffer for the label map of a frame, with a GstVideoMeta; the caller owns it. A map lies where the
  /// output of its frame lies: in CUDA memory of the engine's context, or on the host, page-locked for a GPU.
  ccl::Status acquire(Backend* backend, const FrameCaps& caps, GstBuffer** buffer);

  /// The maps as pictures. GStreamer has no format of 32-bit integers, and RGBA has pixels of the same size.
  const GstVideoInfo& info() const { return info_; }

  /// Gives the memory back, as soon as no reader has it.
  void clear();

 private:
  ccl::Status prepare(Backend* backend, const FrameCaps& caps);
  bool serves(Backend* backend, const FrameCaps& caps) const;

  GstBufferPool* pool_ = nullptr;  ///< null: no frame has needed it yet
  GstVideoInfo info_{};
  bool is_cuda_ = false;
  GstAllocator* allocator_ = nullptr;  ///< of the pool, which has a reference; null: GStreamer's own
};

}  // namespace cudaccl
