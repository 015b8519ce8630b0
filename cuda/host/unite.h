// SPDX-License-Identifier: LGPL-2.1-or-later
/// The union-find of the CPU backend.
#pragma once

#include <cstdint>
#include <utility>

namespace ccl::host {

/// Joins the sets of two nodes by Rem's algorithm with splicing (Dijkstra 1976; the fastest one in the
/// comparison of Patwary, Blair, Manne 2010). Both paths are climbed at once: each step takes the node with
/// the larger parent, and makes the smaller parent its new parent. parent[node] ≤ node stays true, so the
/// smallest node of a set is its root, and one pass in ascending order finds every node's root.
inline void unite(uint32_t* parent, uint32_t a, uint32_t b) {
  uint32_t above_a = parent[a];
  uint32_t above_b = parent[b];
  while (above_a != above_b) {
    if (above_a < above_b) {
      std::swap(a, b);
      std::swap(above_a, above_b);
    }
    parent[a] = above_b;
    if (above_a == a) {
      return;
    }
    a = above_a;
    above_a = parent[a];
  }
}

}  // namespace ccl::host
