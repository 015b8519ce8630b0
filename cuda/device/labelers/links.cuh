// SPDX-License-Identifier: LGPL-2.1-or-later
/// Device code that the labelers share: which pixels are linked, and the links across borders of tiles.
#pragma once

#include <cstdint>

#include "device/check.h"
#include "device/labelers/equivalence.cuh"
#include "device/labelers/labeler.h"
#include "device/launch.cuh"

namespace ccl::device {

/// The links in a 2×2 window of segments a b / c d that no other window has, except those that follow
/// from the straight links of this window and the next ones: a diagonal counts only when no third pixel
/// of the window has its segment.
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

/// The links of a window across a border of tiles, as labels of the frame: one, but for two segments that
/// cross.
struct BorderLinks {
  Equivalence link;
  Equivalence crossing;
};

/// Those of the window whose first pixel has raster index `a`. `straight` is its straight link, or none.
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
/// frame. Where the window to the left, in the same tiles, has the same four segments, its link stands for
/// this one's.
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

/// The same for the border right of column x; x + 1 must be in the frame. Corners are linked here and by
/// links_south(), which does no harm.
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

/// Unites what the links of a warp's threads make equivalent. All lanes must call it.
__device__ inline void unite_links(uint32_t* table, const BorderLinks& links) {
  unite_link(table, links.link);
  if (__any_sync(kAllLanes, links.crossing.a != 0) != 0) {
    unite_link(table, links.crossing);
  }
}

inline constexpr uint32_t kBorderThreads = 128;

/// The blocks of kBorderThreads that call unite_borders(): blockIdx.y counts the south borders, then
/// the east borders, and a thread stands at a pixel along one. None in y where one tile is the whole
/// frame.
inline dim3 border_blocks(const SegmentSource& frame, uint32_t tile_width, uint32_t tile_height) {
  const uint32_t n_south = blocks_for(frame.height, tile_height) - 1;
  const uint32_t n_east = blocks_for(frame.width, tile_width) - 1;
  const uint32_t longest = frame.width > frame.height ? frame.width : frame.height;
  return {blocks_for(longest, kBorderThreads), n_south + n_east};
}

/// Unites across all borders between tiles, this thread's share of them. Finds the links before it waits for
/// the previous kernel.
template <Connectivity kConnectivity>
__device__ inline void unite_borders(const SegmentSource& frame, uint32_t tile_width, uint32_t tile_height,
                                     uint32_t* table) {
  const uint32_t n_south = (frame.height - 1) / tile_height;
  const uint32_t along = blockIdx.x * kBorderThreads + threadIdx.x;
  BorderLinks links{};
  if (blockIdx.y < n_south) {
    if (along < frame.width) {
      links = links_south<kConnectivity>(frame, tile_width, along, (blockIdx.y + 1) * tile_height - 1);
    }
  } else if (along < frame.height) {
    const uint32_t border = blockIdx.y - n_south;
    links = links_east<kConnectivity>(frame, tile_height, (border + 1) * tile_width - 1, along);
  }
  wait_for_previous();
  unite_links(table, links);
}

}  // namespace ccl::device
