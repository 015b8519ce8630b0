// SPDX-License-Identifier: LGPL-2.1-or-later
/// Step 2: a tile publishes, once its components are found, the nodes along its borders and how many
/// components begin in each of its rows.
#pragma once

#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// Writes the table of nodes, in which each node is the root of its own tree at first, and calls
/// visit(node, root).
template <typename Tile, typename Visit>
__device__ void list_nodes(const Tiles& tiles, const Place& place, Tile& tile, Visit visit) {
  for (uint32_t run = threadIdx.x; run < tile.n_runs; run += blockDim.x) {
    if (tile.is_root_shared(run)) {
      const uint32_t i = tile.node_of_root(run);
      const uint32_t node = place.index * tiles.max_nodes + i;
      tile.tables.node_run[i] = static_cast<uint16_t>(run);
      tile.tables.node_root[i] = node;
      visit(node, run);
    }
  }
}

template <typename Tile>
__device__ void publish_nodes(const Tiles& tiles, const Place& place, Tile& tile) {
  list_nodes(tiles, place, tile, [&](uint32_t node, uint32_t root) {
    const TileRun run = tile.run[root];
    const uint32_t first_pixel =
        (place.y + run.row()) * tiles.frame.width + place.x + tile.first_pixel_column(run);
    tiles.parent[node] = make_parent(first_pixel, node);
  });
}

template <typename Tile>
__device__ void publish_borders(const Tiles& tiles, const Place& place, const Tile& tile,
                                const BorderRoots<Tile>& roots) {
  uint32_t n = 0;
  for_each_border_pixel<Tile>(tiles, place, [&](uint32_t, uint32_t, uint16_t* node) {
    const uint32_t root = roots[n++];
    *node = root != kNoRoot ? static_cast<uint16_t>(tile.node_of_root(root)) : kNoNode;
  });
}

/// Writes everything that other blocks read to merge and to number components.
template <typename Tile>
__device__ void publish_tile(const Tiles& tiles, const Place& place, Tile& tile,
                             const BorderRoots<Tile>& border_roots) {
  publish_nodes(tiles, place, tile);
  publish_borders(tiles, place, tile, border_roots);
  // The last threads have the fewest runs to list.
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
