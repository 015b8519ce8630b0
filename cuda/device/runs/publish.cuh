// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a tile tells the others once its components are found: the slots along its borders, and how
/// many components begin in each of its rows.
#pragma once

#include "device/runs/sums.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// Notes the root of each slot, which is a tree of its own as yet, and calls visit(slot, root).
template <typename Tile, typename Visit>
__device__ void list_slots(const Tiles& tiles, const Place& place, Tile& tile, Visit visit) {
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    if (tile.is_root_shared(run)) {
      const uint32_t i = tile.slot_of_root(run);
      const uint32_t slot = place.index * tiles.max_slots + i;
      tile.tables.slot_run[i] = static_cast<uint16_t>(run);
      tile.tables.slot_root[i] = slot;
      visit(slot, run);
    }
  }
}

template <typename Tile>
__device__ void publish_slots(const Tiles& tiles, const Place& place, Tile& tile) {
  list_slots(tiles, place, tile, [&](uint32_t slot, uint32_t root) {
    const TileRun run = tile.run[root];
    const uint32_t first_pixel =
        (place.y + run.row()) * tiles.frame.width + place.x + tile.first_pixel_column(run);
    tiles.parent[slot] = make_parent(first_pixel, slot);
  });
}

/// What others count in and wait for once components are merged.
template <uint32_t kWords, typename Tile>
__device__ void clear_slots(const Tiles& tiles, const Place& place, const Tile& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_slots; i += blockDim.x) {
    const uint32_t slot = place.index * tiles.max_slots + i;
    tiles.slot_label[slot] = 0;
    for (uint32_t word = 0; word < kWords; ++word) {
      *tiles.slot_sum(word, slot) = word == TileSums::kXMin ? tiles.frame.width : 0;
    }
  }
}

template <typename Tile>
__device__ void publish_borders(const Tiles& tiles, const Place& place, const Tile& tile,
                                const BorderRoots<Tile>& roots) {
  uint32_t n = 0;
  for_each_border_pixel<Tile>(tiles, place, [&](uint32_t, uint32_t, uint16_t* slot) {
    const uint32_t root = roots[n++];
    *slot = root != kNoRoot ? static_cast<uint16_t>(tile.slot_of_root(root)) : kNoSlot;
  });
}

/// All that others look at before components are merged, or when they merge them.
template <typename Tile>
__device__ void publish_tile(const Tiles& tiles, const Place& place, Tile& tile,
                             const BorderRoots<Tile>& border_roots) {
  publish_slots(tiles, place, tile);
  publish_borders(tiles, place, tile, border_roots);
  // The last threads have the fewest runs.
  for (uint32_t row = blockDim.x - 1 - threadIdx.x; row < tiles.rows; row += blockDim.x) {
    const uint32_t begin = tile.first_run(row);
    const uint32_t end = row + 1 < tiles.rows ? tile.first_run(row + 1) : tile.n_runs;
    static_assert(kWide / 2 <= 255 && kNarrow <= 255, "a row's components, of binary tiles and of values");
    tiles.row_counts[place.index * tiles.rows + row] =
        static_cast<uint8_t>(tile.components_before(end) - tile.components_before(begin));
  }
  if (threadIdx.x == 0) {
    tiles.tile_counts[place.index] = tile.n_components;
  }
}

}  // namespace ccl::device::runs
