// SPDX-License-Identifier: LGPL-2.1-or-later
/// A picture that says to which object each pixel belongs.
#pragma once

#include <gst/video/video.h>

#include <cstdint>
#include <span>
#include <vector>

#include "ccl/component.h"
#include "ccl/status.h"
#include "memory/owned.h"

namespace cudaccl {

/// The canonical label of each pixel, dense, before filtering.
struct LabelImage {
  const uint32_t* labels = nullptr;
  uint32_t width = 0;
  uint32_t height = 0;
};

/// Makes the masks of frames. Takes memory with the first ones, until their readers give the buffers back as
/// fast as frames need them. A mask that a reader keeps is valid for as long as the reader wants.
class InstanceMask {
 public:
  InstanceMask() = default;
  ~InstanceMask() { clear(); }
  InstanceMask(const InstanceMask&) = delete;
  InstanceMask& operator=(const InstanceMask&) = delete;

  /// How many objects a mask can show if a frame has at most `max_objects`: one pixel value each, and 0.
  static size_t limit(size_t max_objects);

  /// A picture with a GstVideoMeta and without padding: the pixels of objects[i] are
  /// i + 1, all others 0. It is GRAY8 if `max_objects` is at most 256, else GRAY16 in native byte order.
  /// Objects from limit() on are 0. kOutOfMemory.
  ccl::Status make(const LabelImage& image, std::span<const CclComponent> objects, size_t max_objects,
                   Owned<GstBuffer>* mask);

  /// Gives the memory back, as soon as no reader has it.
  void clear();

 private:
  ccl::Status prepare(guint width, guint height, GstVideoFormat format);

  GstBufferPool* pool_ = nullptr;  ///< null: no frame has needed it yet
  guint width_ = 0;                ///< of the pool's pictures
  guint height_ = 0;
  GstVideoFormat format_ = GST_VIDEO_FORMAT_UNKNOWN;
  std::vector<uint16_t> values_;  ///< by label
};

}  // namespace cudaccl
