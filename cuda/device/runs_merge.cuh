// SPDX-License-Identifier: LGPL-2.1-or-later
/// Second step of the run-based pipeline: components that meet at the borders of tiles become one.
///
/// A union-find over slots in device memory, which links a root to any slot of the other tree whose first
/// pixel is earlier, as Rem's does (Dijkstra 1976).
/// Whoever becomes a child takes itself out of the count of its row and tile, so that what is left
/// when all are done are the frame's components, each counted where it begins.
#pragma once

#include "device/runs.h"
#include "device/runs_forest.cuh"
#include "device/runs_tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// A component was linked to an earlier one: it is no longer the frame's.
__device__ inline void retire(const Tiles& tiles, Parent self) {
  const uint32_t tile = slot_of(self) / tiles.max_slots;
  const uint32_t y = first_pixel_of(self) / tiles.frame.width;
  // Counts are bytes; subtracting from the word that holds one borrows nothing, because none goes below 0.
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

/// The 2×2 window of a border pixel a, with the pixels before it along the border of the same two tiles:
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

/// Links the pixels of a window across a border, `slots` being theirs, or kNoSlot: b and c, or a and what is
/// beyond it. `here` and `beyond` tell a pixel's tile on this side and on the other, by its step along the
/// border.
template <typename TileHere, typename TileBeyond>
__device__ void unite_window(const Tiles& tiles, const Links& links, bool is_anti_diagonal,
                             const Window& slots, TileHere here, TileBeyond beyond) {
  const bool is_diagonal = !is_anti_diagonal && links.diagonal;
  const bool is_linked = is_anti_diagonal ? links.anti_diagonal : links.straight || links.diagonal;
  unite_lanes(tiles, is_linked,
              here(is_anti_diagonal) * tiles.max_slots + (is_anti_diagonal ? slots.b : slots.a),
              beyond(is_diagonal) * tiles.max_slots + (is_diagonal ? slots.d : slots.c));
}

/// The segments of a window. In a binary frame slots tell them; those of values are read from the frame.
template <typename Tile, typename At>
__device__ Window segments_of(const Tiles& tiles, const Window& slots, At at) {
  if constexpr (Tile::kKind == RunKind::kValue) {
    const auto segment = [&](uint32_t slot, int along, int across) -> uint32_t {
      const auto [x, y] = at(along, across);
      return slot != kNoSlot ? tiles.frame.segment(x, y) : 0;
    };
    return {segment(slots.l, -1, 0), segment(slots.m, -1, 1), segment(slots.a, 0, 0),
            segment(slots.b, 1, 0),  segment(slots.c, 0, 1),  segment(slots.d, 1, 1)};
  } else {
    return {slots.l != kNoSlot, slots.m != kNoSlot, slots.a != kNoSlot,
            slots.b != kNoSlot, slots.c != kNoSlot, slots.d != kNoSlot};
  }
}

/// A border's pixels, and the slots on both its sides.
struct Border {
  const uint16_t* here;
  const uint16_t* beyond;
  uint32_t count;  ///< of pixels

  __device__ uint32_t slot(const uint16_t* side, uint32_t i) const { return i < count ? side[i] : kNoSlot; }
  __device__ Window window(uint32_t at) const {
    return {slot(here, at - 1), slot(beyond, at - 1), slot(here, at),
            slot(here, at + 1), slot(beyond, at),     slot(beyond, at + 1)};
  }
};

struct Pixel {
  uint32_t x, y;
};

/// Links pixel `i` of a tile's last row with what is below.
template <typename Tile>
__device__ void merge_south(const Tiles& tiles, Connectivity connectivity, const Place& place,
                            bool is_anti_diagonal, uint32_t i) {
  const uint32_t width = tiles.columns * Tile::kWidth;
  const Border border{tiles.bottom + size_t{place.strip} * width, tiles.top + size_t{place.strip + 1} * width,
                      width};
  const Window slots = border.window(place.x + i);
  const Window segments = segments_of<Tile>(tiles, slots, [&](int along, int across) -> Pixel {
    return {place.x + i + along, place.y + tiles.rows - 1 + across};
  });
  const uint32_t column = place.x + i;
  unite_window(
      tiles, links_of(connectivity, segments), is_anti_diagonal, slots,
      [&](uint32_t along) { return place.strip * tiles.columns + (column + along) / Tile::kWidth; },
      [&](uint32_t along) { return (place.strip + 1) * tiles.columns + (column + along) / Tile::kWidth; });
}

/// Links pixel `i` of a tile's last column with what is to the right.
template <typename Tile>
__device__ void merge_east(const Tiles& tiles, Connectivity connectivity, const Place& place,
                           bool is_anti_diagonal, uint32_t i) {
  const uint32_t height = tiles.strips * tiles.rows;
  const Border border{tiles.right + size_t{place.column} * height,
                      tiles.left + size_t{place.column + 1} * height, height};
  Window slots = border.window(place.y + i);
  if (i == 0) {
    slots.l = kNoSlot;  // each border between tile columns has a first link
  }
  const Window segments = segments_of<Tile>(tiles, slots, [&](int along, int across) -> Pixel {
    return {place.x + Tile::kWidth - 1 + across, place.y + i + along};
  });
  const uint32_t row = place.y + i;
  unite_window(
      tiles, links_of(connectivity, segments), is_anti_diagonal, slots,
      [&](uint32_t along) { return tiles.strip_of(row + along) * tiles.columns + place.column; },
      [&](uint32_t along) { return tiles.strip_of(row + along) * tiles.columns + place.column + 1; });
}

/// Joins the block's tile with the tiles below and to the right: a thread to a pixel of the borders, and
/// another to its anti-diagonal; whole warps to each border.
template <typename Tile>
__device__ void merge_borders(const Tiles& tiles, Connectivity connectivity, const Place& place) {
  const uint32_t n = Tile::kWidth + tiles.rows;
  for (uint32_t i = threadIdx.x; i < (connectivity == Connectivity::k8 ? 2 * n : n); i += blockDim.x) {
    const bool is_anti_diagonal = i >= n;
    const uint32_t pixel = is_anti_diagonal ? i - n : i;
    if (pixel < Tile::kWidth) {
      if (place.strip + 1 < tiles.strips) {
        merge_south<Tile>(tiles, connectivity, place, is_anti_diagonal, pixel);
      }
    } else if (place.column + 1 < tiles.columns) {
      merge_east<Tile>(tiles, connectivity, place, is_anti_diagonal, pixel - Tile::kWidth);
    }
  }
}

}  // namespace ccl::device::runs
