// SPDX-License-Identifier: LGPL-2.1-or-later
/// Second step of the run-based pipeline: components that meet at the borders of tiles become one.
///
/// A union-find over slots in device memory, which links roots to the one with the earlier first pixel.
/// Whoever becomes a child takes itself out of the count of its row and strip, so that what is left when
/// all are done are the frame's components, each counted where it begins.
#include "device/runs.h"
#include "device/runs_bits.cuh"
#include "device/runs_forest.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

/// A tile's south border, and in warps of their own its east border.
constexpr uint32_t kThreads = kTileWidth + kMaxRows;

/// A component was linked to an earlier one: it is no longer the frame's.
__device__ void retire(const Tiles& tiles, Parent self, uint32_t run) {
  const uint32_t tile = slot_of(self) / tiles.max_slots;
  const uint32_t y = first_pixel_of(self) / tiles.frame.width;
  atomicAnd(tiles.is_first + tiles.run_words(tile) + run / kWordBits, ~(1u << run % kWordBits));
  // Counts are bytes; subtracting from the word that holds one borrows nothing, because none goes below 0.
  const uint32_t count = tile * tiles.rows + tiles.row_in_tile(y);
  atomicSub(reinterpret_cast<uint32_t*>(tiles.row_counts) + count / 4, 1u << count % 4 * 8);
  atomicSub(tiles.strip_counts + tile / tiles.columns, 1);
}

__device__ void unite(const Tiles& tiles, uint32_t a, uint32_t b) {
  // Loads overlap where none waits for another.
  Parent parent_a = load(tiles.parent + a);
  Parent parent_b = load(tiles.parent + b);
  for (;;) {
    const Parent root_a = find_root(tiles.parent, a, parent_a);
    const Parent root_b = find_root(tiles.parent, b, parent_b);
    if (root_a == root_b) {
      return;
    }
    const Parent later = max(root_a, root_b);
    const Parent earlier = min(root_a, root_b);
    const uint32_t run = tiles.slot_run[slot_of(later)];
    const Parent old = atomicMin(tiles.parent + slot_of(later), earlier);
    if (old == later) {
      retire(tiles, later, run);
      return;
    }
    a = slot_of(old);
    b = slot_of(earlier);
    parent_a = load(tiles.parent + a);
    parent_b = load(tiles.parent + b);
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
  uint32_t l, m, a, b, c, d;  ///< segments; 0 outside the frame, and l before the border's first pixel
};

/// Links that no other window has but those that follow from straight ones.
struct Links {
  bool straight;       ///< a–c, unless l–m says the same
  bool diagonal;       ///< a–d, 8-connectivity only
  bool anti_diagonal;  ///< b–c, 8-connectivity only
};

template <Connectivity kConnectivity>
__device__ Links links_of(const Window& w) {
  constexpr bool kDiagonals = kConnectivity == Connectivity::k8;
  return {.straight = w.a != 0 && w.a == w.c && !(w.l == w.a && w.m == w.a),
          .diagonal = kDiagonals && w.a != 0 && w.a == w.d && w.a != w.b && w.a != w.c,
          .anti_diagonal = kDiagonals && w.b != 0 && w.b == w.c && w.b != w.a && w.b != w.d};
}

/// Segments of a binary frame come from its bits, those of others from the frame.
template <bool kValues>
__device__ uint32_t segment(const Tiles& tiles, uint32_t x, uint32_t y) {
  return kValues ? tiles.frame.segment_or_background(x, y) : frame_bit(tiles, x, y);
}

/// The slot of a pixel at a border between strips, or between tile columns.
__device__ uint32_t slot_at_strip(const Tiles& tiles, const uint16_t* slots, uint32_t x, uint32_t y) {
  const uint32_t strip = tiles.strip_of(y);
  return tiles.tile_at(x, y) * tiles.max_slots + slots[size_t{strip} * tiles.columns * kTileWidth + x];
}
__device__ uint32_t slot_at_column(const Tiles& tiles, const uint16_t* slots, uint32_t x, uint32_t y) {
  const uint32_t column = x / kTileWidth;
  return tiles.tile_at(x, y) * tiles.max_slots + slots[size_t{column} * tiles.strips * tiles.rows + y];
}

/// All lanes of the warp call it. Lanes often have one link in common, and one of them is enough.
__device__ void unite_lanes(const Tiles& tiles, bool is_linked, uint32_t a, uint32_t b) {
  const uint32_t lanes = __ballot_sync(kAllLanes, is_linked);
  if (!is_linked) {
    return;
  }
  const uint32_t same = __match_any_sync(lanes, static_cast<unsigned long long>(a) << 32 | b);
  if (threadIdx.x % kWarpSize == static_cast<uint32_t>(__ffs(static_cast<int>(same)) - 1)) {
    unite(tiles, a, b);
  }
}

/// Links (x, y) in the last row of a tile with what is below.
template <Connectivity kConnectivity, bool kValues>
__device__ void merge_south(const Tiles& tiles, uint32_t x, uint32_t y) {
  const auto at = [&](uint32_t u, uint32_t v) { return segment<kValues>(tiles, u, v); };
  const Links links = links_of<kConnectivity>({.l = threadIdx.x > 0 ? at(x - 1, y) : 0,
                                               .m = at(x - 1, y + 1),
                                               .a = at(x, y),
                                               .b = at(x + 1, y),
                                               .c = at(x, y + 1),
                                               .d = at(x + 1, y + 1)});
  const bool is_first = links.straight || links.diagonal;
  const uint32_t x_below = links.diagonal ? x + 1 : x;
  unite_lanes(tiles, is_first, is_first ? slot_at_strip(tiles, tiles.bottom, x, y) : 0,
              is_first ? slot_at_strip(tiles, tiles.top, x_below, y + 1) : 0);
  if constexpr (kConnectivity == Connectivity::k8) {
    const bool is_second = links.anti_diagonal;
    unite_lanes(tiles, is_second, is_second ? slot_at_strip(tiles, tiles.bottom, x + 1, y) : 0,
                is_second ? slot_at_strip(tiles, tiles.top, x, y + 1) : 0);
  }
}

/// Links (x, y) in the last column of a tile with what is to the right.
template <Connectivity kConnectivity, bool kValues>
__device__ void merge_east(const Tiles& tiles, uint32_t x, uint32_t y) {
  const auto at = [&](uint32_t u, uint32_t v) { return segment<kValues>(tiles, u, v); };
  const Links links = links_of<kConnectivity>({.l = threadIdx.x > kTileWidth ? at(x, y - 1) : 0,
                                               .m = at(x + 1, y - 1),
                                               .a = at(x, y),
                                               .b = at(x, y + 1),
                                               .c = at(x + 1, y),
                                               .d = at(x + 1, y + 1)});
  const bool is_first = links.straight || links.diagonal;
  const uint32_t y_beyond = links.diagonal ? y + 1 : y;
  unite_lanes(tiles, is_first, is_first ? slot_at_column(tiles, tiles.right, x, y) : 0,
              is_first ? slot_at_column(tiles, tiles.left, x + 1, y_beyond) : 0);
  if constexpr (kConnectivity == Connectivity::k8) {
    const bool is_second = links.anti_diagonal;
    unite_lanes(tiles, is_second, is_second ? slot_at_column(tiles, tiles.right, x, y + 1) : 0,
                is_second ? slot_at_column(tiles, tiles.left, x + 1, y) : 0);
  }
}

template <Connectivity kConnectivity, bool kValues>
__global__ void __launch_bounds__(kThreads) merge(Tiles tiles) {
  wait_for_kernel_before();
  let_next_kernel_start();
  const uint32_t x0 = blockIdx.x * kTileWidth;
  const uint32_t y0 = blockIdx.y * tiles.rows;
  if (threadIdx.x < kTileWidth) {
    if (blockIdx.y + 1 < tiles.strips) {
      merge_south<kConnectivity, kValues>(tiles, x0 + threadIdx.x, y0 + tiles.rows - 1);
    }
  } else if (blockIdx.x + 1 < tiles.columns) {
    merge_east<kConnectivity, kValues>(tiles, x0 + kTileWidth - 1, y0 + threadIdx.x - kTileWidth);
  }
}

}  // namespace

Status merge_borders(const Tiles& tiles, Connectivity connectivity, const EarlyLaunch& launch) {
  const bool has_values = tiles.frame.rule.foreground == Foreground::kValues;
  const auto kernel = connectivity == Connectivity::k8
                          ? (has_values ? merge<Connectivity::k8, true> : merge<Connectivity::k8, false>)
                          : (has_values ? merge<Connectivity::k4, true> : merge<Connectivity::k4, false>);
  EarlyLaunch whole = launch;
  whole.threads = kTileWidth + tiles.rows;
  return whole("merge", kernel, tiles);
}

}  // namespace ccl::device::runs
