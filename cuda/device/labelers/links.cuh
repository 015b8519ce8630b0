// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which pixels are linked: along a row of a tile, in a 2×2 window, and across the borders of tiles.
#pragma once

#include <cstdint>

#include "ccl/rule.h"
#include "device/check.h"
#include "device/labelers/equivalence.cuh"
#include "device/segment_source.h"
#include "device/warp.cuh"

namespace ccl::device {

/// The label in the tile of the first pixel of a run of equal segments; 0 for background. The tile is as wide
/// as a warp, and each lane passes the segment and the index in the tile of its pixel in one row. All lanes
/// must call this function.
__device__ inline uint32_t run_label(uint32_t segment, uint32_t pixel) {
  const uint32_t lane = pixel % kWarpSize;
  const uint32_t left = __shfl_up_sync(kAllLanes, segment, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || left != segment);
  const uint32_t first_lane = last_lane_of(starts & bits_up_to(lane));
  return segment != 0 ? pixel - lane + first_lane + 1 : 0;
}

/// The links in a 2×2 window of segments a b / c d. Every link between two pixels is in some window. A
/// diagonal counts only if no third pixel of the window has its segment; else straight links join its ends.
struct Window {
  bool right;          ///< a–b
  bool down;           ///< a–c
  bool diagonal;       ///< a–d, 8-connectivity only
  bool anti_diagonal;  ///< b–c, 8-connectivity only
};

template <Connectivity kConnectivity>
__device__ inline Window make_window(uint8_t a, uint8_t b, uint8_t c, uint8_t d) {
  constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
  return {.right = a != 0 && a == b,
          .down = a != 0 && a == c,
          .diagonal = kDiagonals && a != 0 && a == d && a != b && a != c,
          .anti_diagonal = kDiagonals && b != 0 && b == c && b != a && b != d};
}

/// The links of a window across a border of tiles, as labels of the frame. There are two only where two
/// diagonals of different segments cross.
struct BorderLinks {
  Equivalence link;
  Equivalence crossing;
};

/// The links of the window whose first pixel has raster index `a`. `straight` is the window's straight link
/// across the border, or none.
__device__ inline BorderLinks border_links(const Window& window, Equivalence straight, uint32_t a,
                                           uint32_t width) {
  const Equivalence diagonal{a + 1, a + width + 2};
  const Equivalence anti_diagonal{a + 2, a + width + 1};
  if (window.diagonal) {
    return {diagonal, window.anti_diagonal ? anti_diagonal : Equivalence{}};
  }
  return {window.anti_diagonal ? anti_diagonal : straight, {}};
}

/// The links across the border below row y of the window whose first pixel is (x, y); y + 1 must be in the
/// frame. If the window to the left is in the same tiles and has the same four segments, its straight link is
/// sufficient and this window's is left out.
template <Connectivity kConnectivity>
__device__ inline BorderLinks links_south(const SegmentSource& frame, uint32_t tile_width, uint32_t x,
                                          uint32_t y) {
  const uint8_t a = frame.segment(x, y);
  const uint8_t c = frame.segment(x, y + 1);
  const Window window = make_window<kConnectivity>(a, frame.segment_or_background(x + 1, y), c,
                                                   frame.segment_or_background(x + 1, y + 1));
  const uint32_t pixel = y * frame.width + x;
  const bool is_first = window.down && !(x % tile_width != 0 && frame.segment(x - 1, y) == a &&
                                         frame.segment(x - 1, y + 1) == a);
  return border_links(window, is_first ? Equivalence{pixel + 1, pixel + frame.width + 1} : Equivalence{},
                      pixel, frame.width);
}

/// The same for the border right of column x; x + 1 must be in the frame. The windows at corners of tiles are
/// linked by both functions, which is redundant but correct.
template <Connectivity kConnectivity>
__device__ inline BorderLinks links_east(const SegmentSource& frame, uint32_t tile_height, uint32_t x,
                                         uint32_t y) {
  const uint8_t a = frame.segment(x, y);
  const uint8_t b = frame.segment(x + 1, y);
  const Window window = make_window<kConnectivity>(a, b, frame.segment_or_background(x, y + 1),
                                                   frame.segment_or_background(x + 1, y + 1));
  const uint32_t pixel = y * frame.width + x;
  const bool is_first = window.right && !(y % tile_height != 0 && frame.segment(x, y - 1) == a &&
                                          frame.segment(x + 1, y - 1) == a);
  return border_links(window, is_first ? Equivalence{pixel + 1, pixel + 2} : Equivalence{}, pixel,
                      frame.width);
}

/// Unites the links of one window for each lane of a warp. All lanes must call this function.
__device__ inline void unite_links(uint32_t* table, const BorderLinks& links) {
  unite_once_per_warp(table, links.link);
  if (__any_sync(kAllLanes, links.crossing.a != 0) != 0) {
    unite_once_per_warp(table, links.crossing);
  }
}

/// The threads of a block that works along a border. A thread handles one pixel on the border's near side.
inline constexpr uint32_t kBorderThreads = 128;

/// The grid for `n_borders` borders in both directions: blockIdx.y is the border, blockIdx.x the position
/// along it. Borders shorter than the frame's longer side leave blocks without work.
inline dim3 border_blocks(const SegmentSource& frame, uint32_t n_borders) {
  const uint32_t longest = frame.width > frame.height ? frame.width : frame.height;
  return {blocks_for(longest, kBorderThreads), n_borders};
}

}  // namespace ccl::device
