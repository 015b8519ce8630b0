// SPDX-License-Identifier: LGPL-2.1-or-later
/// Second step of the run-based pipeline: components that meet at the borders of tiles become one.
///
/// A union-find over slots in device memory, which links roots to the one with the earlier first pixel.
/// Whoever becomes a child takes itself out of the count of its row and strip, so that what is left when
/// all are done are the frame's components, each counted where it begins.
#include "device/equivalence.cuh"
#include "device/runs.h"
#include "device/runs_forest.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

/// Enough for a tile's south border and, in later warps, its east border.
constexpr uint32_t kThreads = kTileWidth + kMaxRows;

/// A component was linked to an earlier one: it is no longer the frame's.
__device__ void retire(const Tiles& tiles, Parent self) {
  const uint32_t slot = slot_of(self);
  const uint32_t tile = slot / tiles.max_slots;
  const uint32_t run = tiles.slot_run[slot];
  const uint32_t y = first_pixel_of(self) / tiles.frame.width;
  atomicAnd(tiles.is_first + tiles.run_words(tile) + run / kWordBits, ~(1u << run % kWordBits));
  // Counts are bytes; subtracting from the word that holds one borrows nothing, because none goes below 0.
  const uint32_t count = tile * tiles.rows + y % tiles.rows;
  atomicSub(reinterpret_cast<uint32_t*>(tiles.row_counts) + count / 4, 1u << count % 4 * 8);
  atomicSub(tiles.strip_counts + tile / tiles.columns, 1);
}

__device__ void unite(const Tiles& tiles, uint32_t a, uint32_t b) {
  for (;;) {
    const Parent root_a = find_root(tiles.parent, a);
    const Parent root_b = find_root(tiles.parent, b);
    if (root_a == root_b) {
      return;
    }
    const Parent later = max(root_a, root_b);
    const Parent earlier = min(root_a, root_b);
    const Parent old = atomicMin(tiles.parent + slot_of(later), earlier);
    if (old == later) {
      retire(tiles, later);
      return;
    }
    a = slot_of(old);
    b = slot_of(earlier);
  }
}

template <Connectivity kConnectivity>
__global__ void __launch_bounds__(kThreads) merge(Tiles tiles) {
  wait_for_kernel_before();
  let_next_kernel_start();
  const uint32_t x0 = blockIdx.x * kTileWidth;
  const uint32_t y0 = blockIdx.y * tiles.rows;
  const uint32_t width = tiles.frame.width;
  const uint32_t height = tiles.frame.height;
  if (threadIdx.x < kTileWidth) {
    const uint32_t x = x0 + threadIdx.x;
    const uint32_t y = y0 + tiles.rows - 1;
    const auto slot = [&](uint32_t pixel) {
      const uint32_t row = pixel / width;
      const uint32_t column = pixel - row * width;
      const uint16_t* slots = row == y ? tiles.bottom : tiles.top;
      const size_t strip = row / tiles.rows;
      return tiles.tile_at(column, row) * tiles.max_slots +
             slots[strip * tiles.columns * kTileWidth + column];
    };
    if (x < width && y + 1 < height) {
      merge_south<kConnectivity>(tiles.frame, kTileWidth, x, y,
                                 [&](uint32_t p, uint32_t q) { unite(tiles, slot(p), slot(q)); });
    }
  } else if (threadIdx.x < kTileWidth + tiles.rows) {
    const uint32_t x = x0 + kTileWidth - 1;
    const uint32_t y = y0 + threadIdx.x - kTileWidth;
    const auto slot = [&](uint32_t pixel) {
      const uint32_t row = pixel / width;
      const uint32_t column = pixel - row * width;
      const uint16_t* slots = column == x ? tiles.right : tiles.left;
      const size_t tile_column = column / kTileWidth;
      return tiles.tile_at(column, row) * tiles.max_slots +
             slots[tile_column * tiles.strips * tiles.rows + row];
    };
    if (x + 1 < width && y < height) {
      merge_east<kConnectivity>(tiles.frame, tiles.rows, x, y,
                                [&](uint32_t p, uint32_t q) { unite(tiles, slot(p), slot(q)); });
    }
  }
}

}  // namespace

Status merge_borders(const Tiles& tiles, Connectivity connectivity, const Launch& launch) {
  Launch early = launch;
  early.threads = kThreads;
  return early("merge", connectivity == Connectivity::k8 ? merge<Connectivity::k8> : merge<Connectivity::k4>,
               tiles);
}

}  // namespace ccl::device::runs
