// SPDX-License-Identifier: LGPL-2.1-or-later
/// The rules of the track stage: which component shows which track. docs/tracking.md has them in words.
///
/// The steps, each in a header of its own:
/// 1. matching.h: predict all places; list the significant overlaps.
/// 2. steady.h: match what one overlap explains.
/// 3. candidates.h, clusters.h, assign.h: match what is left at the least cost.
/// 4. share.h: merges and fragments.
/// 5. motion.h, finish.h: move tracks, end some, begin others.
#pragma once

#include "track/finish.h"
#include "track/grid.h"

namespace ccl::track {

/// Matches tracks and components. Before: tracks are predicted, overlaps are listed.
template <typename Team>
constexpr void match_all(const Team& team, const Matching& m, const PartLists& current) {
  const TrackHeader& header = *m.tables.header;
  if (m.frame.origins != nullptr) {
    match_members(team, m);
    team.sync();
  }
  match_steady(team, m);
  team.sync();
  list_left_parts(team, m);
  team.sync();
  if (header.n_left_parts > 0) {
    note_oldest(team, m);
    team.sync();
    note_confirmed(team, m);
    team.sync();
  }
  Grid grid;
  if (header.n_left_tracks > 0 && m.n_parts > 0) {
    grid = sorted_parts(team, m);
    unite_candidates(team, m, grid);
    team.sync();
    collect_clusters(team, m);
    team.sync();
    assign_clusters(team, m);
    team.sync();
    take_offers(team, m);
    team.sync();
    find_hosts(team, m, grid);
    team.sync();
    join_hosts(team, m);
    team.sync();
  }
  if (header.n_left_parts > 0) {
    share_out_fragments(team, m, current, grid);
    team.sync();
  }
}

/// A frame before it is matched, when the header still describes the frame before it.
constexpr Matching next_matching(const TrackStep& step, const TrackFrame& frame, const TrackTables& tables) {
  const TrackHeader& header = *tables.header;
  const bool resets = step.resets != 0;
  const bool is_matched = frame.is_matched != 0;
  return {.step = step,
          .frame = frame,
          .tables = tables,
          .tracks = tables.tracks_of(header.parity),
          .n_tracks = resets ? 0 : header.n_tracks,
          .previous = tables.lists_of(header.parity),
          .n_previous = resets || !is_matched ? 0 : header.n_components,
          .n_parts = is_matched ? frame.n_components : 0,
          .now_us = header.now_us + step.duration_us,
          .elapsed_ns = header.elapsed_ns + step.elapsed_ns};
}

/// A frame that decide() has matched.
constexpr Matching last_matching(const TrackStep& step, const TrackFrame& frame, const TrackTables& tables) {
  const TrackHeader& header = *tables.header;
  return {.step = step,
          .frame = frame,
          .tables = tables,
          .tracks = tables.tracks_of(header.parity ^ 1),
          .n_tracks = header.n_before,
          .previous = tables.lists_of(header.parity ^ 1),
          .n_previous = 0,
          .n_parts = header.n_components,
          .now_us = header.now_us,
          .elapsed_ns = header.elapsed_ns};
}

/* A frame takes three parts, each of which is called by all threads of a team with equal arguments. What a
   part wrote is seen by the next one after a sync(). A device runs them by different teams. */

/// The first part predicts. It needs no overlaps, and may take a frame for matched that is not.
template <typename Team>
constexpr void prepare(const Team& team, const Matching& m) {
  open_parts(team, m, m.tables.lists_of(m.tables.header->parity ^ 1));
  predict(team, m);
}

/// The second part decides which component shows which track, which tracks end, and which begin.
template <typename Team>
constexpr void decide(const Team& team, const Matching& m) {
  TrackHeader* header = m.tables.header;
  const uint32_t to = header->parity ^ 1;
  const PartLists current = m.tables.lists_of(to);
  if (m.n_previous == 0) {
    forget_components(team, m);
    team.sync();
  }
  link_overlaps(team, m);
  team.sync();
  match_all(team, m, current);
  const uint32_t n_kept = number_tracks(team, m);
  const uint32_t n_begun = begin_tracks(team, m, current, n_kept);
  list_seen_tracks(team, m, current);
  team.sync();
  if (team.rank() == 0) {
    *header = {.n_tracks = n_kept + n_begun,
               .n_ids = header->n_ids + n_begun,
               .n_components = m.n_parts,
               .parity = to,
               .now_us = m.now_us,
               .elapsed_ns = m.elapsed_ns,
               .n_before = m.n_tracks,
               .n_left_tracks = 0,
               .n_left_parts = 0};
  }
}

/// The third part writes tracks and records. It calls done(c, id) for each component whose record is
/// complete. Its threads do not wait for each other.
template <typename Team, typename Done>
constexpr void settle(const Team& team, const Matching& m, const Done& done) {
  const uint32_t to = m.tables.header->parity;
  TrackState* tracks = m.tables.tracks_of(to);
  const PartLists current = m.tables.lists_of(to);
  for (uint32_t c = team.rank(); c < m.n_parts; c += team.size()) {
    settle_component(m, current, c, tracks, done);
  }
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    settle_unseen(m, i, tracks);
  }
}

/// Moves all tracks to the next frame, and gives the frame's components their ids. Called by all threads of a
/// team with equal arguments; what it wrote is seen by all when it returns. The tracks, ascending by id, are
/// in frame.tracks, TrackHeader::n_tracks of them.
template <typename Team>
constexpr void associate(const Team& team, const TrackStep& step, const TrackFrame& frame,
                         const TrackTables& tables) {
  const Matching m = next_matching(step, frame, tables);
  prepare(team, m);
  team.sync();
  decide(team, m);
  team.sync();
  settle(team, last_matching(step, frame, tables), [](uint32_t, uint32_t) {});
  team.sync();
}

}  // namespace ccl::track
