// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame as labelers and stages on the CPU see it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ccl::host {

/// A frame after its ForegroundRule: one segment per pixel, 0 for background. Two pixels connect iff they
/// are adjacent and their segments are equal and not 0, which covers both foreground rules.
///
/// Around the frame lies a border of at least one zero byte on every side, so that a foreground pixel may
/// be compared with any of its eight neighbours: those outside never match.
struct SegmentSource {
  const uint8_t* pixels;  ///< of the frame's first pixel, inside the border
  size_t stride;          ///< bytes from one row's start to the next one's, at least width + 2
  uint32_t width;
  uint32_t height;

  const uint8_t* row(uint32_t y) const { return pixels + y * stride; }
};

}  // namespace ccl::host
