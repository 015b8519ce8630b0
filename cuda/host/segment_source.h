// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame as the labelers and stages of the CPU read it.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ccl::host {

/// A frame after its ForegroundRule: one segment per pixel, 0 for background. Two pixels connect if and only
/// if they are adjacent and their segments are equal and not 0. This covers both rules that labelers apply.
///
/// A border of at least one zero byte surrounds the frame, so that a foreground pixel may be compared with
/// all of its eight neighbours: a neighbour outside the frame never matches.
struct SegmentSource {
  const uint8_t* pixels;  ///< the frame's first pixel, inside the border
  size_t stride;          ///< bytes from one row's start to the next one's, at least width + 2
  uint32_t width;
  uint32_t height;

  const uint8_t* row(uint32_t y) const { return pixels + y * stride; }
};

}  // namespace ccl::host
