// SPDX-License-Identifier: LGPL-2.1-or-later
/// Video buffers as the engine's images.
#pragma once

#include <gst/video/video.h>

#include "ccl/engine.h"

namespace cudaccl {

/// A video buffer mapped for reading or writing; unmapped with the object. Honours GstVideoMeta.
class MappedFrame {
 public:
  /// Memory::kDevice maps the buffer's CUDA memory in place. With Memory::kHost GStreamer copies CUDA memory
  /// to the host and back.
  MappedFrame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags, ccl::Memory memory);
  ~MappedFrame();
  MappedFrame(const MappedFrame&) = delete;
  MappedFrame& operator=(const MappedFrame&) = delete;

  /// False if the buffer is too small for its format or its GstVideoMeta, the latter is of another frame, or
  /// is_crop_outside(). Then it must not be used.
  bool mapped() const;

  /// The first plane; of a cropped buffer (see is_cropped()) from the corner of the crop rectangle.
  /// Its layout is described where it is not a plane of 8-bit luma.
  ccl::InputImage luma() const;
  /// Whether the frame has chroma that chroma() can describe: 8 bits, one value for at most 2×2 pixels.
  bool has_chroma() const;
  /// Its chroma, with the same crop. A rectangle that begins at an odd pixel moves subsampled chroma by less
  /// than one of its values. No chroma if has_chroma() is false, or if the buffer is too small for it: see
  /// is_chroma_mapped().
  ccl::Chroma chroma() const;
  /// False if the buffer is too small for its chroma, or if the rows of U and V are not equally long.
  bool is_chroma_mapped() const;
  /// With the chroma planes of Output::kMask, where the format has them.
  ccl::OutputImage pixels() const;

 private:
  bool holds(guint component) const;
  const uint8_t* first_value(guint component) const;
  bool is_plain_luma() const;
  ccl::SourcePixels source() const;
  void* stream() const;

  GstVideoFrame frame_{};
  GstVideoInfo info_;
  ccl::Memory memory_;
  bool mapped_;
};

/// Whether the buffer may hold more than the negotiated frame, and a GstVideoCropMeta gives the frame's
/// place. A crop rectangle of another size is left to downstream.
bool is_cropped(GstBuffer* buffer, const GstVideoInfo& info);

/// Whether that place is not in the buffer's picture.
bool is_crop_outside(GstBuffer* buffer, const GstVideoInfo& info);

}  // namespace cudaccl
