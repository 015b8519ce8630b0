// SPDX-License-Identifier: LGPL-2.1-or-later
/// Buffers as images.
#pragma once

#include <gst/video/video.h>

#include "ccl/engine.h"

namespace cudaccl {

/// A video buffer mapped for reading or writing; unmapped with the object. Honours GstVideoMeta.
class MappedFrame {
 public:
  /// In Memory::kDevice the buffer's CUDA memory is mapped as it is; in Memory::kHost CUDA memory is copied
  /// to the host and back by GStreamer.
  MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, ccl::Memory memory);
  ~MappedFrame();
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  /// False when the buffer is too small for its format or its GstVideoMeta; do not touch it then.
  bool mapped() const;

  /// The first plane, from the crop rectangle's corner on if the buffer is cropped (see is_cropped()).
  ccl::InputImage luma() const;
  ccl::OutputImage pixels() const;

 private:
  void* stream() const;

  GstVideoFrame frame_{};
  GstVideoInfo info_;
  ccl::Memory memory_;
  bool mapped_;
};

/// True if the buffer holds more than the negotiated frame and a GstVideoCropMeta says where in it the
/// frame is. A crop rectangle of another size than the frame is for those after us to apply.
bool is_cropped(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace cudaccl
