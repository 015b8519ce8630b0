// SPDX-License-Identifier: LGPL-2.1-or-later
/// The blocks of pixels that share a label in block_equivalence.cu, and the links between them.
#pragma once

#include <cstdint>

#include "ccl/rule.h"
#include "device/segment_source.h"

namespace ccl::device {

/// The contents of a block and of its neighbours, in the form that the block's class defines; 0: no
/// foreground, or outside the tile.
struct Neighbourhood {
  uint32_t own;
  uint32_t left;
  uint32_t right;
  uint32_t up_left;
  uint32_t up;
  uint32_t up_right;
};

/// Which of the neighbours earlier in raster order a block is linked to. A diagonal link is left out if the
/// window of pixels that it crosses has a third foreground pixel: straight links join its ends then.
struct BlockLinks {
  bool left;
  bool up_left;
  bool up;
  bool up_right;
};

/// 2×2 pixels of binary foreground, 8-connected. Its contents are one bit per pixel, in raster order.
struct SquareBlock {
  static constexpr uint32_t kSize = 2;

  static constexpr uint32_t kA = 1, kB = 2, kC = 4, kD = 8;  // a b / c d
  static constexpr uint32_t kTop = kA | kB, kBottom = kC | kD, kLeft = kA | kC, kRight = kB | kD;

  /// A row of the block, as bits kA and kB.
  __device__ static uint32_t row(const SegmentSource& frame, uint32_t x, uint32_t y) {
    if (x >= frame.width || y >= frame.height) {
      return 0;
    }
    const uint8_t* first = frame.pixels + y * frame.pitch + x;
    const bool has_second = x + 1 < frame.width;
    uint32_t two = 0;
    if (has_second && reinterpret_cast<uintptr_t>(first) % sizeof(uint16_t) == 0) {
      two = *reinterpret_cast<const uint16_t*>(first);
    } else {
      two = first[0] | (has_second ? first[1] << 8 : 0);
    }
    const bool a = frame.rule.segment(two & 0xff) != 0;
    const bool b = has_second && frame.rule.segment(two >> 8) != 0;
    return (a ? kA : 0) | (b ? kB : 0);
  }

  __device__ static uint32_t contents(const SegmentSource& frame, uint32_t x, uint32_t y) {
    return row(frame, x, y) | row(frame, x, y + 1) * kC;
  }

  /// The column and the row of the first foreground pixel.
  __device__ static uint32_t first_x(uint32_t own) {
    const uint32_t first_row = (own & kTop) != 0 ? own : own / kC;
    return (first_row & kA) == 0 ? 1 : 0;
  }
  __device__ static uint32_t first_y(uint32_t own) { return (own & kTop) == 0 ? 1 : 0; }

  __device__ static bool is_beside(uint32_t left, uint32_t right) {
    return (left & kRight) != 0 && (right & kLeft) != 0;
  }
  __device__ static bool is_above(uint32_t upper, uint32_t lower) {
    return (upper & kBottom) != 0 && (lower & kTop) != 0;
  }

  __device__ static BlockLinks links_of(const Neighbourhood& n) {
    const auto set = [](uint32_t block, uint32_t pixels) { return (block & pixels) != 0; };
    return {
        .left = is_beside(n.left, n.own),
        .up_left = set(n.own, kA) && set(n.up_left, kD) && !set(n.up, kC) && !set(n.left, kB),
        .up = is_above(n.up, n.own),
        .up_right = set(n.own, kB) && set(n.up_right, kC) && !set(n.up, kD) && !set(n.right, kA),
    };
  }
};

/// One pixel, for 4-connectivity and for many values. Its contents are its segment.
template <Connectivity kPixelConnectivity>
struct PixelBlock {
  static constexpr uint32_t kSize = 1;
  static constexpr Connectivity kConnectivity = kPixelConnectivity;

  __device__ static uint32_t contents(const SegmentSource& frame, uint32_t x, uint32_t y) {
    return frame.segment_or_background(x, y);
  }

  __device__ static uint32_t first_x(uint32_t) { return 0; }
  __device__ static uint32_t first_y(uint32_t) { return 0; }

  __device__ static bool is_beside(uint32_t left, uint32_t right) { return left != 0 && left == right; }
  __device__ static bool is_above(uint32_t upper, uint32_t lower) { return is_beside(upper, lower); }

  __device__ static BlockLinks links_of(const Neighbourhood& n) {
    constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
    const bool left = is_beside(n.left, n.own);
    const bool up = is_above(n.up, n.own);
    return {
        .left = left,
        .up_left = kDiagonals && is_above(n.up_left, n.own) && !up && !left,
        .up = up,
        .up_right = kDiagonals && is_above(n.up_right, n.own) && !up && n.own != n.right,
    };
  }
};

}  // namespace ccl::device
