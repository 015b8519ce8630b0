// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a tile tells the others once its components are found: the slots along its borders, and how
/// many components begin in each of its rows.
#pragma once

#include "device/runs_tile.cuh"

namespace ccl::device::runs {

/// Fills the slots: each is a tree of its own as yet.
template <bool kValues>
__device__ void publish_slots(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  for (uint32_t word = threadIdx.x; word * kWordBits < tile.n_runs; word += blockDim.x) {
    uint32_t i = tile.tables.slot_base[word];
    for (uint32_t rest = tile.is_shared[word]; rest != 0; rest &= rest - 1, ++i) {
      const uint32_t root = word * kWordBits + __ffs(static_cast<int>(rest)) - 1;
      const uint32_t slot = place.index * tiles.max_slots + i;
      const TileRun run = tile.run[root];
      const uint32_t first_pixel = (place.y + run.row()) * tiles.frame.width + place.x + run.first();
      tiles.parent[slot] = make_parent(first_pixel, slot);
      tiles.slot_run[slot] = static_cast<uint16_t>(root);
      tiles.slot_sums[slot] = SlotSums{0, Sums{}};
    }
  }
}

template <bool kValues>
__device__ void publish_borders(const Tiles& tiles, const Place& place, const Tile<kValues>& tile) {
  for_each_border_pixel(tiles, place, [&](uint32_t row, uint32_t column, uint16_t* slot) {
    if (!tile.is_foreground(row, column)) {
      *slot = kNoSlot;
    } else {
      const uint32_t root = tile.run[tile.runs_up_to(row, column) - 1].root();
      *slot = static_cast<uint16_t>(tile.slot_of_root(root));
    }
  });
}

/// All that others look at before components are merged, or count in when they are.
template <bool kValues>
__device__ void publish_tile(const Tiles& tiles, const Place& place, Tile<kValues>& tile) {
  publish_slots(tiles, place, tile);
  publish_borders(tiles, place, tile);
  for (uint32_t word = threadIdx.x; word * kWordBits < tile.n_runs; word += blockDim.x) {
    tiles.is_first[tiles.run_words(place.index) + word] = tile.is_root[word];
  }
  for (uint32_t row = threadIdx.x; row < tiles.rows; row += blockDim.x) {
    const uint32_t begin = tile.base[row * kRowWords];
    const uint32_t end = row + 1 < tiles.rows ? tile.base[(row + 1) * kRowWords] : tile.n_runs;
    tiles.row_counts[place.index * tiles.rows + row] =
        static_cast<uint8_t>(tile.components_before(end) - tile.components_before(begin));
  }
  if (threadIdx.x == 0) {
    atomicAdd(tiles.strip_counts + place.strip, tile.n_components);
  }
}

}  // namespace ccl::device::runs
