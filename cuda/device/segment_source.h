// SPDX-License-Identifier: LGPL-2.1-or-later
/// The view of a frame that labelers and stages on the GPU read.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/rule.h"

namespace ccl::device {

/// A frame in device memory, read through its ForegroundRule: one segment per pixel, 0 for background. Two
/// pixels connect if and only if they are adjacent and their segments are equal and not 0; this covers both
/// foreground rules. The caller owns the pixels.
struct SegmentSource {
  const uint8_t* pixels;  ///< device memory
  size_t pitch;           ///< bytes between the starts of two rows, at least width
  uint32_t width;
  uint32_t height;
  ForegroundRule rule;

  constexpr uint8_t segment(uint32_t x, uint32_t y) const { return rule.segment(pixels[y * pitch + x]); }
  /// The same; background outside the frame.
  constexpr uint8_t segment_or_background(uint32_t x, uint32_t y) const {
    return x < width && y < height ? segment(x, y) : 0;
  }
};

}  // namespace ccl::device
