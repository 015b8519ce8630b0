// SPDX-License-Identifier: LGPL-2.1-or-later
/// Warnings about buffers that cannot hold their frame.
#pragma once

#include <gst/video/video.h>

#include <array>
#include <cstdint>

namespace cudaccl {

/// One warning for the first frame of each cause, and for the 10th, 100th, … one, because a broken source
/// breaks every frame. Only the streaming thread uses it.
class CorruptFrames {
 public:
  /// The element must outlive this.
  explicit CorruptFrames(GstElement* element) : element_(element) {}

  /// Forgets the counts, for frames of new caps.
  void reset() { counts_ = {}; }
  /// Warns about a buffer that cannot be read as a frame of `info`.
  void warn(GstBuffer* buffer, const GstVideoInfo& info);

 private:
  enum Cause { kSizeByCaps, kCrop, kFrameOfMeta, kPlanesOfMeta, kStrideOfMeta, kSizeByMeta, kOther, kCauses };

  static Cause find_cause(GstBuffer* buffer, const GstVideoInfo& info);

  GstElement* const element_;
  std::array<uint64_t, kCauses> counts_{};
};

}  // namespace cudaccl
