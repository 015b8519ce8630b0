// SPDX-License-Identifier: LGPL-2.1-or-later
/// Second step of the run-based pipeline: components that meet at the borders of tiles become one.
///
/// A union-find over slots in device memory, which links a root to any slot of the other tree whose first
/// pixel is earlier, as Rem's does (Dijkstra 1976).
/// Whoever becomes a child takes itself out of the count of its row and tile, so that what is left
/// when all are done are the frame's components, each counted where it begins.
#pragma once

#include "device/runs/forest.cuh"
#include "device/runs/tile.cuh"
#include "device/runs/tiles.h"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// A component was linked to an earlier one: it is no longer the frame's.
__device__ inline void retire(const Tiles& tiles, Parent self) {
  const uint32_t tile = slot_of(self) / tiles.max_slots;
  const uint32_t y = first_pixel_of(self) / tiles.frame.width;
  // FrameCounts are bytes; subtracting from the word that holds one borrows nothing, because none goes below
  // 0.
  const uint32_t count = tile * tiles.rows + tiles.row_in_tile(y);
  atomicSub(reinterpret_cast<uint32_t*>(tiles.row_counts) + count / 4, 1u << count % 4 * 8);
  atomicSub(tiles.tile_counts + tile, 1);
}

__device__ inline void unite(const Tiles& tiles, uint32_t a, uint32_t b) {
  Parent parent_a = load(tiles.parent + a);
  Parent parent_b = load(tiles.parent + b);
  while (parent_a != parent_b) {
    const uint32_t later = parent_a > parent_b ? a : b;
    const Parent later_parent = max(parent_a, parent_b);
    const Parent earlier_parent = min(parent_a, parent_b);
    if (slot_of(later_parent) == later) {
      const Parent old = atomicMin(tiles.parent + later, earlier_parent);
      if (old == later_parent) {
        retire(tiles, old);
        return;
      }
      a = slot_of(old);
      b = slot_of(earlier_parent);
      parent_a = load(tiles.parent + a);
      parent_b = load(tiles.parent + b);
      continue;
    }
    // Both climb, so that loads overlap.
    const Parent grandparent_a = load(tiles.parent + slot_of(parent_a));
    const Parent grandparent_b = load(tiles.parent + slot_of(parent_b));
    shorten(tiles.parent, a, parent_a, grandparent_a);
    shorten(tiles.parent, b, parent_b, grandparent_b);
    a = slot_of(parent_a);
    b = slot_of(parent_b);
    parent_a = grandparent_a;
    parent_b = grandparent_b;
  }
}

/// The 2×2 window of a border pixel a, with the pixels before it along the border:
///
///     south   l a b      east   l m
///             m c d             a c
///                               b d
///
/// where a, b, l lie on this side of the border, and c, d, m beyond it.
struct Window {
  uint32_t l, m, a, b, c, d;
};

/// Links that no other window has but those that follow from straight ones.
struct Links {
  bool straight;       ///< a–c, unless l–m says the same
  bool diagonal;       ///< a–d, 8-connectivity only
  bool anti_diagonal;  ///< b–c, 8-connectivity only
};

/// By the segments of a window; 0 outside the frame, and l before the border's first pixel.
__device__ inline Links links_of(Connectivity connectivity, const Window& w) {
  const bool has_diagonals = connectivity == Connectivity::k8;
  return {.straight = w.a != 0 && w.a == w.c && !(w.l == w.a && w.m == w.a),
          .diagonal = has_diagonals && w.a != 0 && w.a == w.d && w.a != w.b && w.a != w.c,
          .anti_diagonal = has_diagonals && w.b != 0 && w.b == w.c && w.b != w.a && w.b != w.d};
}

/// All lanes of the warp call it. Lanes often have one link in common, and one of them is enough.
__device__ inline void unite_lanes(const Tiles& tiles, bool is_linked, uint32_t a, uint32_t b) {
  const uint32_t lanes = __ballot_sync(kAllLanes, is_linked);
  if (!is_linked) {
    return;
  }
  const uint32_t same = __match_any_sync(lanes, static_cast<unsigned long long>(a) << 32 | b);
  if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
    unite(tiles, a, b);
  }
}

/// One of the two borders that a tile has with later ones, to the south and to the east.
struct Border {
  bool is_south;
  const uint16_t* here;    ///< per pixel along the border, of all tiles: its slot on this side
  const uint16_t* beyond;  ///< and on the other
  uint32_t n_pixels;
  uint32_t first, n;                 ///< of these the tile's own
  uint32_t next_along, next_across;  ///< steps from a tile to the next one

  __device__ uint32_t slot(const uint16_t* side, uint32_t i) const {
    return i < n_pixels ? side[i] : kNoSlot;
  }
  /// The slots around the tile's pixel `i`.
  __device__ Window window(uint32_t i) const {
    const uint32_t at = first + i;
    // Each border between tile columns has a first link.
    const uint32_t before = i == 0 && !is_south ? n_pixels : at - 1;
    return {slot(here, before), slot(beyond, before), slot(here, at),
            slot(here, at + 1), slot(beyond, at),     slot(beyond, at + 1)};
  }
};

template <typename Tile>
__device__ Border border_of(const Tiles& tiles, const Place& place, bool is_south) {
  const uint32_t width = tiles.columns * Tile::kWidth;
  const uint32_t height = tiles.strips * tiles.rows;
  if (is_south) {
    return {true,
            tiles.bottom + size_t{place.strip} * width,
            tiles.top + size_t{place.strip + 1} * width,
            place.strip + 1 < tiles.strips ? width : 0,
            place.x,
            Tile::kWidth,
            1,
            tiles.columns};
  }
  return {false,
          tiles.right + size_t{place.column} * height,
          tiles.left + size_t{place.column + 1} * height,
          place.column + 1 < tiles.columns ? height : 0,
          place.y,
          tiles.rows,
          tiles.columns,
          1};
}

/// The segments of a window around the tile's pixel `i`. In a binary frame slots tell them; those of values
/// are read from the frame.
template <typename Tile>
__device__ Window segments_of(const Tiles& tiles, const Place& place, const Border& border, uint32_t i,
                              const Window& slots) {
  if constexpr (Tile::kKind == RunKind::kValue) {
    const auto segment = [&](uint32_t slot, int along, int across) -> uint32_t {
      const uint32_t x = border.is_south ? i + along : Tile::kWidth - 1 + across;
      const uint32_t y = border.is_south ? tiles.rows - 1 + across : i + along;
      return slot != kNoSlot ? tiles.frame.segment(place.x + x, place.y + y) : 0;
    };
    return {segment(slots.l, -1, 0), segment(slots.m, -1, 1), segment(slots.a, 0, 0),
            segment(slots.b, 1, 0),  segment(slots.c, 0, 1),  segment(slots.d, 1, 1)};
  } else {
    return {slots.l != kNoSlot, slots.m != kNoSlot, slots.a != kNoSlot,
            slots.b != kNoSlot, slots.c != kNoSlot, slots.d != kNoSlot};
  }
}

/// Links across a border what pixel `i` of the tile has there: itself and what is beyond it, or, if
/// `is_anti_diagonal`, the next pixel and what is beyond this one. All lanes of the warp call it.
template <typename Tile>
__device__ void unite_across(const Tiles& tiles, Connectivity connectivity, const Place& place,
                             const Border& border, uint32_t i, bool is_anti_diagonal) {
  const Window slots = border.window(i);
  const Links links = links_of(connectivity, segments_of<Tile>(tiles, place, border, i, slots));
  const bool is_diagonal = !is_anti_diagonal && links.diagonal;
  const bool is_linked = is_anti_diagonal ? links.anti_diagonal : links.straight || links.diagonal;
  const uint32_t next = i + 1 < border.n ? place.index : place.index + border.next_along;
  const uint32_t here = is_anti_diagonal ? next : place.index;
  const uint32_t beyond = border.next_across + (is_diagonal ? next : place.index);
  unite_lanes(tiles, is_linked, here * tiles.max_slots + (is_anti_diagonal ? slots.b : slots.a),
              beyond * tiles.max_slots + (is_diagonal ? slots.d : slots.c));
}

/// Joins the block's tile with the tiles below and to the right: a thread to a pixel of the borders, and
/// another to its anti-diagonal; whole warps to each border.
template <typename Tile>
__device__ void merge_borders(const Tiles& tiles, Connectivity connectivity, const Place& place) {
  const uint32_t n = Tile::kWidth + tiles.rows;
  for (uint32_t i = threadIdx.x; i < (connectivity == Connectivity::k8 ? 2 * n : n); i += blockDim.x) {
    const bool is_anti_diagonal = i >= n;
    const uint32_t pixel = is_anti_diagonal ? i - n : i;
    const bool is_south = pixel < Tile::kWidth;
    unite_across<Tile>(tiles, connectivity, place, border_of<Tile>(tiles, place, is_south),
                       is_south ? pixel : pixel - Tile::kWidth, is_anti_diagonal);
  }
}

}  // namespace ccl::device::runs
