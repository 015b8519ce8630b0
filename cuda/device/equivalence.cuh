// SPDX-License-Identifier: LGPL-2.1-or-later
/// Device code that the labelers share: the table of label equivalences, and which pixels are linked.
///
/// Labels are 1 + a raster index, in a tile or in the frame, so that the image of labels is its own
/// equivalence table: label e's entry is table[e − 1]. An entry is never larger than its label, belongs to
/// the same component, and is only ever lowered; a root is a label that equals its entry. Any entry that
/// was ever there therefore leads to the root, which is why these functions need no order among threads,
/// only that a word is read and written whole.
#pragma once

#include <cstdint>

#include "device/labeler.h"

namespace ccl::device {

/// An entry that other threads may be lowering: volatile, so that each turn of a loop reads it anew.
__device__ inline uint32_t load(const uint32_t* entry) {
  return *static_cast<const volatile uint32_t*>(entry);
}

/// The root of a label, or a label it had in the past when others are uniting.
__device__ inline uint32_t find(const uint32_t* table, uint32_t label) {
  for (uint32_t next = load(table + label - 1); next != label; next = load(table + label - 1)) {
    label = next;
  }
  return label;
}

/// Unites the trees of labels a and b while other threads do so too. Whatever label another thread put into
/// the larger one's entry is either kept there or united next, so no equivalence is lost; the larger of
/// both shrinks with every turn, so it ends. It reads by atomicMin alone: nothing else may see an entry
/// half way, in shared memory as in global memory.
__device__ inline void unite(uint32_t* table, uint32_t a, uint32_t b) {
  while (a != b) {
    const uint32_t larger = max(a, b);
    const uint32_t smaller = min(a, b);
    const uint32_t old = atomicMin(table + larger - 1, smaller);
    if (old == larger) {
      return;  // it was a root
    }
    a = old;
    b = smaller;
  }
}

/// Points a pixel's entry at its root while other threads do so too.
__device__ inline void compress(uint32_t* table, uint32_t pixel) {
  const uint32_t label = load(table + pixel);
  if (label == 0) {
    return;
  }
  if (const uint32_t root = find(table, label); root != label) {
    *static_cast<volatile uint32_t*>(table + pixel) = root;
  }
}

/// The links in a 2×2 window of segments a b / c d that no other window has, except those that follow from
/// the straight links of this window and the next ones: a diagonal counts only when no third pixel of the
/// window has its segment.
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

/// Calls merge(p, q) with the raster indices of linked pixels on both sides of the border below row y, for
/// the window whose first pixel is (x, y); y + 1 must be in the frame. Where the window to the left, in the
/// same tiles, has the same four segments, its link stands for this one's.
template <Connectivity kConnectivity, typename Merge>
__device__ inline void merge_south(const SegmentSource& frame, uint32_t tile_width, uint32_t x, uint32_t y,
                                   Merge merge) {
  const uint8_t a = frame.segment(x, y);
  const uint8_t c = frame.segment(x, y + 1);
  const Window window = make_window<kConnectivity>(a, frame.segment_or_background(x + 1, y), c,
                                                   frame.segment_or_background(x + 1, y + 1));
  const uint32_t pixel = y * frame.width + x;
  const uint32_t below = pixel + frame.width;
  if (window.down &&
      !(x % tile_width != 0 && frame.segment(x - 1, y) == a && frame.segment(x - 1, y + 1) == a)) {
    merge(pixel, below);
  }
  if (window.diagonal) {
    merge(pixel, below + 1);
  }
  if (window.anti_diagonal) {
    merge(pixel + 1, below);
  }
}

/// The same for the border right of column x; x + 1 must be in the frame. Corners are linked here and by
/// merge_south(), which does no harm.
template <Connectivity kConnectivity, typename Merge>
__device__ inline void merge_east(const SegmentSource& frame, uint32_t tile_height, uint32_t x, uint32_t y,
                                  Merge merge) {
  const uint8_t a = frame.segment(x, y);
  const uint8_t b = frame.segment(x + 1, y);
  const Window window = make_window<kConnectivity>(a, b, frame.segment_or_background(x, y + 1),
                                                   frame.segment_or_background(x + 1, y + 1));
  const uint32_t pixel = y * frame.width + x;
  const uint32_t below = pixel + frame.width;
  if (window.right &&
      !(y % tile_height != 0 && frame.segment(x, y - 1) == a && frame.segment(x + 1, y - 1) == a)) {
    merge(pixel, pixel + 1);
  }
  if (window.diagonal) {
    merge(pixel, below + 1);
  }
  if (window.anti_diagonal) {
    merge(pixel + 1, below);
  }
}

}  // namespace ccl::device
