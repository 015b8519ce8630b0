// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which of its candidates each track gets.
///
/// A cluster of few tracks and components is solved exactly: the sum of costs is the least possible, where a
/// track without a component costs TrackTables::unmatched_cost. One thread does it, by shortest augmenting
/// paths (the Hungarian method as of Jonker and Volgenant 1987, without their initial steps).
///
/// A larger cluster, as in the first frames of a crowd, is solved by offers (Gale and Shapley 1962): each
/// track offers its cost to its best candidate, a component keeps the cheapest offer, and a track that is
/// refused, at once or later, goes to the next candidate. The result does not depend on the order of offers,
/// and is that of a choice by ascending cost.
#pragma once

#include "track/clusters.h"

namespace ccl::track {

/// Tracks, and components, of a cluster that is solved exactly.
inline constexpr uint32_t kExactNodes = 16;

/// A cluster: tracks and components ascending. Costs stay in the tables: a device takes memory for the local
/// variables of all threads that it could run, so a matrix of costs would take hundreds of megabytes.
struct Cluster {
  uint32_t n_tracks = 0;
  uint32_t n_parts = 0;
  uint32_t tracks[kExactNodes] = {};
  uint32_t parts[kExactNodes] = {};
  uint32_t unmatched[kExactNodes] = {};
};

constexpr void insert_ascending(uint32_t* list, uint32_t* n, uint32_t value) {
  uint32_t k = (*n)++;
  for (; k > 0 && list[k - 1] > value; --k) {
    list[k] = list[k - 1];
  }
  list[k] = value;
}

constexpr void read_cluster(const Matching& m, uint32_t root, Cluster* cluster) {
  const TrackTables& tables = m.tables;
  for (uint32_t node = tables.first_in_cluster[root]; node != kNone; node = tables.next_in_cluster[node]) {
    if (node < m.n_tracks) {
      insert_ascending(cluster->tracks, &cluster->n_tracks, node);
    } else {
      insert_ascending(cluster->parts, &cluster->n_parts, node - m.n_tracks);
    }
  }
  for (uint32_t a = 0; a < cluster->n_tracks; ++a) {
    cluster->unmatched[a] = tables.unmatched_cost[cluster->tracks[a]];
  }
}

/// What the cluster's track `a` costs in its component `b`; kForbidden if that is no candidate.
constexpr uint32_t cost_of(const TrackTables& tables, const Cluster& cluster, uint32_t a, uint32_t b) {
  const uint32_t i = cluster.tracks[a];
  const Candidate* candidates = tables.candidates_of(i);
  for (uint32_t k = 0; k < tables.n_candidates[i]; ++k) {
    if (candidates[k].part == cluster.parts[b]) {
      return candidates[k].cost;
    }
  }
  return kForbidden;
}

/// Rows are tracks. Columns are components, then as many places for tracks without one. Column 0 is the
/// method's own. The cluster is a member because nvcc takes memory only once for one variable of both teams
/// of a device, but not always for each of two.
struct Assignment {
  static constexpr uint32_t kColumns = 2 * kExactNodes + 1;

  Cluster cluster;
  int32_t row_price[kExactNodes + 1] = {};
  int32_t column_price[kColumns] = {};
  uint32_t row_of[kColumns] = {};  ///< from 1; 0: none
  uint32_t way[kColumns] = {};

  constexpr int32_t cost(const TrackTables& tables, uint32_t row, uint32_t column) const {
    const uint32_t a = row - 1;
    const uint32_t b = column - 1;
    return static_cast<int32_t>(b < cluster.n_parts ? cost_of(tables, cluster, a, b) : cluster.unmatched[a]);
  }

  /// Finds the cheapest path from a new row to a free column.
  constexpr uint32_t find_path(const TrackTables& tables, uint32_t row) {
    const uint32_t n_columns = cluster.n_parts + cluster.n_tracks;
    int32_t least[kColumns] = {};
    bool is_used[kColumns] = {};
    for (uint32_t j = 0; j <= n_columns; ++j) {
      least[j] = INT32_MAX;
    }
    uint32_t column = 0;
    row_of[0] = row;
    do {
      is_used[column] = true;
      const uint32_t from = row_of[column];
      int32_t delta = INT32_MAX;
      uint32_t next = 0;
      for (uint32_t j = 1; j <= n_columns; ++j) {
        if (is_used[j]) {
          continue;
        }
        const int32_t reduced = cost(tables, from, j) - row_price[from] - column_price[j];
        if (reduced < least[j]) {
          least[j] = reduced;
          way[j] = column;
        }
        if (least[j] < delta) {
          delta = least[j];
          next = j;
        }
      }
      for (uint32_t j = 0; j <= n_columns; ++j) {
        if (is_used[j]) {
          row_price[row_of[j]] += delta;
          column_price[j] -= delta;
        } else {
          least[j] -= delta;
        }
      }
      column = next;
    } while (row_of[column] != 0);
    return column;
  }

  constexpr void solve(const TrackTables& tables) {
    for (uint32_t row = 1; row <= cluster.n_tracks; ++row) {
      uint32_t column = find_path(tables, row);
      while (column != 0) {
        const uint32_t previous = way[column];
        row_of[column] = row_of[previous];
        column = previous;
      }
    }
  }
};

template <typename Team>
constexpr void solve_exactly(const Team& team, const Matching& m, uint32_t root) {
  Assignment assignment;
  const Cluster& cluster = assignment.cluster;
  read_cluster(m, root, &assignment.cluster);
  assignment.solve(m.tables);
  for (uint32_t b = 0; b < cluster.n_parts; ++b) {
    const uint32_t row = assignment.row_of[b + 1];
    if (row != 0 && cost_of(m.tables, cluster, row - 1, b) < kForbidden) {
      match(team, m, cluster.tracks[row - 1], cluster.parts[b]);
    }
  }
}

/// One track and its candidates, none of which another track wants.
template <typename Team>
constexpr void take_best(const Team& team, const Matching& m, uint32_t i) {
  const Candidate& best = *m.tables.candidates_of(i);
  if (m.tables.n_candidates[i] > 0 && best.cost < m.tables.unmatched_cost[i]) {
    match(team, m, i, best.part);
  }
}

constexpr bool is_large(const Matching& m, uint32_t root) {
  return m.tables.n_tracks_in_cluster[root] > kExactNodes || m.tables.n_parts_in_cluster[root] > kExactNodes;
}

/// Larger is better; ties go to the smaller track. Never 0.
constexpr uint64_t offer_of(uint32_t cost, uint32_t track) {
  return ~(uint64_t{cost} << 32 | track);
}
constexpr uint32_t track_of(uint64_t offer) {
  return static_cast<uint32_t>(~offer);
}

/// A track of a large cluster makes offers, in the order of its candidates, until a component keeps one. If
/// the component had kept that of another track until then, the other one goes on in the same way.
template <typename Team>
constexpr void make_offers(const Team& team, const Matching& m, uint32_t i) {
  const TrackTables& tables = m.tables;
  uint32_t k = 0;
  while (k < tables.n_candidates[i]) {
    const Candidate candidate = tables.candidates_of(i)[k];
    if (candidate.cost >= tables.unmatched_cost[i]) {
      return;
    }
    const uint64_t offer = offer_of(candidate.cost, i);
    const uint64_t other = team.max(&tables.best[candidate.part], offer);
    if (other == 0) {
      return;
    }
    if (other < offer) {
      i = track_of(other);
      for (k = 0; tables.candidates_of(i)[k].part != candidate.part;) {
        ++k;
      }
    }
    ++k;
  }
}

/// Assigns all small clusters, and makes the offers of the large ones. A small one is done by the thread that
/// has its root, which is a track.
template <typename Team>
constexpr void assign_clusters(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  for (uint32_t k = team.rank(); k < tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = tables.left_tracks[k];
    const uint32_t root = find_root(team, tables.cluster, i);
    if (is_large(m, root)) {
      make_offers(team, m, i);
    } else if (root == i && tables.n_tracks_in_cluster[i] == 1) {
      take_best(team, m, i);
    } else if (root == i) {
      solve_exactly(team, m, i);
    }
  }
}

/// Matches the tracks of large clusters with the components that keep their offers. Those of small ones made
/// none.
template <typename Team>
constexpr void take_offers(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  for (uint32_t k = team.rank(); k < tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = tables.left_tracks[k];
    const Candidate* candidates = tables.candidates_of(i);
    for (uint32_t j = 0; j < tables.n_candidates[i]; ++j) {
      if (tables.best[candidates[j].part] == offer_of(candidates[j].cost, i)) {
        match(team, m, i, candidates[j].part);
        break;
      }
    }
  }
}

}  // namespace ccl::track
