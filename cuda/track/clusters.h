// SPDX-License-Identifier: LGPL-2.1-or-later
/// Clusters: tracks and components that are candidates for each other, directly or through others. Different
/// clusters are assigned independently.
#pragma once

#include "track/candidates.h"

namespace ccl::track {

template <typename Team>
constexpr uint32_t find_root(const Team& team, uint32_t* parents, uint32_t node) {
  for (uint32_t next = team.load(parents + node); next != node; next = team.load(parents + node)) {
    node = next;
  }
  return node;
}

/// Unites two clusters while other threads do the same. The root is the smallest node, for every order of
/// threads: a root's entry is only replaced by a smaller one, and what it pointed to is united next.
template <typename Team>
constexpr void unite(const Team& team, uint32_t* parents, uint32_t a, uint32_t b) {
  for (;;) {
    a = find_root(team, parents, a);
    b = find_root(team, parents, b);
    if (a == b) {
      return;
    }
    const uint32_t high = a > b ? a : b;
    const uint32_t low = a > b ? b : a;
    const uint32_t old = team.min(parents + high, low);
    if (old == high) {
      return;
    }
    a = old;
    b = low;
  }
}

/// Finds the candidates of the tracks that are left, and unites each track with its candidates. Nodes are
/// tracks, then components.
template <typename Team>
constexpr void unite_candidates(const Team& team, const Matching& m, const Grid& grid) {
  const TrackTables& tables = m.tables;
  for (uint32_t k = group_rank(team); k < tables.header->n_left_tracks; k += n_groups(team)) {
    const uint32_t i = tables.left_tracks[k];
    const uint32_t n = find_candidates(team, m, grid, i);
    for (uint32_t j = lane_of(team); j < n; j += Team::kLanes) {  // each lane reads what it has written
      unite(team, tables.cluster, i, m.n_tracks + tables.candidates_of(i)[j].part);
    }
  }
}

/// Lists all nodes of each cluster at its root.
template <typename Team>
constexpr void collect_clusters(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  const auto collect = [&](uint32_t node, uint32_t* counts) {
    const uint32_t root = find_root(team, tables.cluster, node);
    tables.next_in_cluster[node] = team.exchange(tables.first_in_cluster + root, node);
    team.add(counts + root, 1);
  };
  for (uint32_t k = team.rank(); k < tables.header->n_left_tracks; k += team.size()) {
    collect(tables.left_tracks[k], tables.n_tracks_in_cluster);
  }
  for (uint32_t k = team.rank(); k < tables.header->n_left_parts; k += team.size()) {
    collect(m.n_tracks + tables.left_parts[k], tables.n_parts_in_cluster);
  }
}

}  // namespace ccl::track
