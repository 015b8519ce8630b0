// SPDX-License-Identifier: LGPL-2.1-or-later
/// The images of the segment stage in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/segment.h"

namespace ccl::device::segment {

inline constexpr uint32_t kVectorPixels = 16;
inline constexpr uint32_t kVectorWords = 4;

/// Rows of bytes in device memory.
struct Plane {
  const uint8_t* pixels;
  size_t pitch;  ///< bytes
  uint32_t width;
  uint32_t height;

  bool operator==(const Plane&) const = default;
};

/// Whether every row starts where 16-byte loads may.
inline bool is_aligned(const Plane& plane) {
  return (reinterpret_cast<uintptr_t>(plane.pixels) | plane.pitch) % kVectorPixels == 0;
}

/// The vectors of a row of a bit image, its padding included.
inline uint32_t vectors_of_bit_row(uint32_t width) {
  return bit_row_words(width) * 32 / kVectorPixels;
}

}  // namespace ccl::device::segment
