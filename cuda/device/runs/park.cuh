// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tiles that leave shared memory: if there are more tiles than resident blocks, a block parks each of its
/// tiles in device memory while it processes another one.
#pragma once

#include "device/runs/label.cuh"
#include "device/runs/publish.cuh"
#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// How many vectors of a tile are worth keeping once its components are found: everything up to its last run.
template <typename Tile>
constexpr uint32_t vectors_of(uint32_t n_runs) {
  return (offsetof(Tile, run) + n_runs * sizeof(TileRun) + sizeof(uint4) - 1) / sizeof(uint4);
}

template <typename Tile>
__device__ void park(const Tiles& tiles, uint32_t index, const Tile& tile) {
  __syncthreads();
  uint4* to = tiles.parked + size_t{index} * tiles.parked_vectors;
  const uint32_t n = vectors_of<Tile>(tile.n_runs);
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    to[i] = reinterpret_cast<const uint4*>(&tile)[i];
  }
  __syncthreads();
}

/// Loads what park() stored.
template <typename Tile>
__device__ void fetch(const Tiles& tiles, uint32_t index, Tile& tile) {
  __syncthreads();
  const uint4* from = tiles.parked + size_t{index} * tiles.parked_vectors;
  const uint32_t n = vectors_of<Tile>(from[0].x);  // the first word of a tile is n_runs
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) {
    reinterpret_cast<uint4*>(&tile)[i] = from[i];
  }
  __syncthreads();
}

/// Restores a parked tile to its state after publish_tile().
template <typename Tile>
__device__ void restore(const Tiles& tiles, const Place& place, Tile& tile) {
  fetch(tiles, place.index, tile);
  number_roots(tile);
  __syncthreads();
  list_nodes(tiles, place, tile, [](uint32_t, uint32_t) {});
  __syncthreads();
}

}  // namespace ccl::device::runs
