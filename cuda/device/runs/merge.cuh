// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 3: components that meet at the borders of tiles become one.
///
/// This is a union-find over nodes in device memory. As in Rem's algorithm (Dijkstra 1976), a root is linked
/// to any node of the other tree whose first pixel is earlier. A node that becomes a child is subtracted from
/// the counts of its row and its tile. Once all tiles are merged, the counts are those of the frame's
/// components, each counted where it begins.
#pragma once

#include "device/runs/forest.cuh"
#include "device/runs/tile.cuh"
#include "device/runs/tiles.h"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// Subtracts a component that was linked to an earlier one from the counts of the frame's components.
__device__ inline void uncount(const Tiles& tiles, Parent self) {
  const uint32_t tile = node_of(self) / tiles.max_nodes;
  const uint32_t y = first_pixel_of(self) / tiles.frame.width;
  // Counts are bytes. Subtracting from the word around a byte does not borrow, because no count goes below
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
    if (node_of(later_parent) == later) {
      const Parent old = atomicMin(tiles.parent + later, earlier_parent);
      if (old == later_parent) {
        uncount(tiles, old);
        return;
      }
      a = node_of(old);
      b = node_of(earlier_parent);
      parent_a = load(tiles.parent + a);
      parent_b = load(tiles.parent + b);
      continue;
    }
    // Both move up one step, so that their loads overlap.
    const Parent grandparent_a = load(tiles.parent + node_of(parent_a));
    const Parent grandparent_b = load(tiles.parent + node_of(parent_b));
    shorten(tiles.parent, a, parent_a, grandparent_a);
    shorten(tiles.parent, b, parent_b, grandparent_b);
    a = node_of(parent_a);
    b = node_of(parent_b);
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
/// a, b, l lie on this side of the border, and c, d, m on the other side.
struct Window {
  uint32_t l, m, a, b, c, d;
};

/// The links that this window must make; other windows make the rest, or they follow from straight links.
struct Links {
  bool straight;       ///< a–c, unless l–m is the same link
  bool diagonal;       ///< a–d, 8-connectivity only
  bool anti_diagonal;  ///< b–c, 8-connectivity only
};

/// `w` has the segments of a window: 0 outside the frame, and for l before the first pixel of the border.
__device__ inline Links links_of(Connectivity connectivity, const Window& w) {
  const bool has_diagonals = connectivity == Connectivity::k8;
  return {.straight = w.a != 0 && w.a == w.c && !(w.l == w.a && w.m == w.a),
          .diagonal = has_diagonals && w.a != 0 && w.a == w.d && w.a != w.b && w.a != w.c,
          .anti_diagonal = has_diagonals && w.b != 0 && w.b == w.c && w.b != w.a && w.b != w.d};
}

/// Unites a and b of each linked lane. All lanes of the warp must call it. Often several lanes have the same
/// link; one of them makes it.
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

/// One of the two borders of a tile with later tiles: south or east.
struct Border {
  bool is_south;
  const uint16_t* here;    ///< per pixel along the border, of all tiles: its node on this side
  const uint16_t* beyond;  ///< and on the other side
  uint32_t n_pixels;
  uint32_t first, n;                 ///< the pixels of this tile
  uint32_t next_along, next_across;  ///< steps from a tile to the next one

  __device__ uint32_t node(const uint16_t* side, uint32_t i) const {
    return i < n_pixels ? side[i] : kNoNode;
  }
  /// The nodes around the tile's pixel `i`.
  __device__ Window window(uint32_t i) const {
    const uint32_t at = first + i;
    // The border between two columns of tiles starts in each strip: its first pixel has none before it.
    const uint32_t before = i == 0 && !is_south ? n_pixels : at - 1;
    return {node(here, before), node(beyond, before), node(here, at),
            node(here, at + 1), node(beyond, at),     node(beyond, at + 1)};
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

/// The segments of the window at the tile's pixel `i`. In a binary frame a pixel is foreground if it has a
/// node; values are read from the frame.
template <typename Tile>
__device__ Window segments_of(const Tiles& tiles, const Place& place, const Border& border, uint32_t i,
                              const Window& nodes) {
  if constexpr (Tile::kKind == RunKind::kValue) {
    const auto segment = [&](uint32_t node, int along, int across) -> uint32_t {
      const uint32_t x = border.is_south ? i + along : Tile::kWidth - 1 + across;
      const uint32_t y = border.is_south ? tiles.rows - 1 + across : i + along;
      return node != kNoNode ? tiles.frame.segment(place.x + x, place.y + y) : 0;
    };
    return {segment(nodes.l, -1, 0), segment(nodes.m, -1, 1), segment(nodes.a, 0, 0),
            segment(nodes.b, 1, 0),  segment(nodes.c, 0, 1),  segment(nodes.d, 1, 1)};
  } else {
    return {nodes.l != kNoNode, nodes.m != kNoNode, nodes.a != kNoNode,
            nodes.b != kNoNode, nodes.c != kNoNode, nodes.d != kNoNode};
  }
}

/// Makes the links of pixel `i` across a border: straight or diagonal from the pixel itself or, if
/// `is_anti_diagonal`, from the next pixel to the one beyond this pixel. All lanes of the warp must call it.
template <typename Tile>
__device__ void unite_across(const Tiles& tiles, Connectivity connectivity, const Place& place,
                             const Border& border, uint32_t i, bool is_anti_diagonal) {
  const Window nodes = border.window(i);
  const Links links = links_of(connectivity, segments_of<Tile>(tiles, place, border, i, nodes));
  const bool is_diagonal = !is_anti_diagonal && links.diagonal;
  const bool is_linked = is_anti_diagonal ? links.anti_diagonal : links.straight || links.diagonal;
  const uint32_t next = i + 1 < border.n ? place.index : place.index + border.next_along;
  const uint32_t here = is_anti_diagonal ? next : place.index;
  const uint32_t beyond = border.next_across + (is_diagonal ? next : place.index);
  unite_lanes(tiles, is_linked, here * tiles.max_nodes + (is_anti_diagonal ? nodes.b : nodes.a),
              beyond * tiles.max_nodes + (is_diagonal ? nodes.d : nodes.c));
}

/// Joins the block's tile with the tiles below and to the right. Each border pixel has a thread, and another
/// one for its anti-diagonal; a warp works on one border.
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
