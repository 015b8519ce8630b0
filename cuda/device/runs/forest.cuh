// SPDX-License-Identifier: LGPL-2.1-or-later
/// The forest of nodes that joins components across tiles: the parent of a node is itself or an earlier node.
#pragma once

#include "device/runs/tile.cuh"

namespace ccl::device::runs {

/// A parent that other threads may be lowering.
__device__ inline Parent load(const Parent* parent) {
  return *static_cast<const volatile Parent*>(parent);
}
__device__ inline void store(Parent* parent, Parent value) {
  *static_cast<volatile Parent*>(parent) = value;
}

/// Publishes a label, which is never 0, to the threads that wait for it.
__device__ inline void publish_label(uint32_t* to, uint32_t label) {
  *static_cast<volatile uint32_t*>(to) = label;
}
__device__ inline uint32_t wait_for_label(const uint32_t* from) {
  uint32_t label = *static_cast<const volatile uint32_t*>(from);
  while (label == 0) {
    __nanosleep(20);
    label = *static_cast<const volatile uint32_t*>(from);
  }
  return label;
}

/// Path halving: the parent of a node that is no root may be replaced by any of its ancestors.
__device__ inline void shorten(Parent* parents, uint32_t node, Parent parent, Parent grandparent) {
  if (node_of(parent) != node && grandparent != parent) {
    store(parents + node, grandparent);
  }
}

/// The parent of the node's root, which is the root itself. While other threads unite trees, it may be a
/// former root.
__device__ inline Parent find_root(Parent* parents, uint32_t node) {
  Parent parent = load(parents + node);
  while (node_of(parent) != node) {
    const Parent grandparent = load(parents + node_of(parent));
    shorten(parents, node, parent, grandparent);
    node = node_of(parent);
    parent = grandparent;
  }
  return parent;
}

/// Moves each node of the tile one step towards its root and shortens its path. Called again and again while
/// the block waits for others, so that find_node_roots() has little left to do.
template <typename Tile>
__device__ void climb(const Tiles& tiles, const Place& place, Tile& tile) {
  for (uint32_t i = threadIdx.x; i < tile.n_nodes; i += blockDim.x) {
    const uint32_t node = place.index * tiles.max_nodes + i;
    const uint32_t ancestor = tile.tables.node_root[i];
    const Parent parent = load(tiles.parent + ancestor);
    tile.tables.node_root[i] = node_of(parent);
    if (ancestor != node && node_of(parent) != ancestor) {
      store(tiles.parent + node, parent);
    }
  }
}

/// Finds the root of each node of the tile, from the ancestor that climb() reached. A component whose root
/// node is another one does not begin here. This is thread `thread` of `n_threads`.
template <typename Tile>
__device__ void find_node_roots(const Tiles& tiles, const Place& place, uint32_t thread, uint32_t n_threads,
                                Tile& tile) {
  auto& tables = tile.tables;
  for (uint32_t i = thread; i < tile.n_nodes; i += n_threads) {
    tables.node_root[i] = node_of(find_root(tiles.parent, tables.node_root[i]));
    if (tables.node_root[i] != place.index * tiles.max_nodes + i) {
      const uint32_t run = tables.node_run[i];
      atomicAnd(tables.is_first + run / kWordBits, ~(1u << run % kWordBits));
    }
  }
}

}  // namespace ccl::device::runs
