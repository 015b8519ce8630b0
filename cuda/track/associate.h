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

namespace ccl::track {

/// Begins a frame. Called by one thread.
constexpr void begin_frame(const TrackStep& step, TrackHeader* header) {
  if (step.resets != 0) {
    header->n_tracks = 0;
    header->n_components = 0;
  }
  header->now_us += step.duration_us;
  header->n_left_tracks = 0;
  header->n_left_parts = 0;
  header->n_offers = 0;
}

/// Matches tracks and components. Before: tracks are predicted, overlaps are listed.
template <typename Team>
constexpr void match_all(const Team& team, const Matching& m, const PartLists& current) {
  const TrackHeader& header = *m.tables.header;
  match_steady(team, m);
  team.sync();
  list_left_parts(team, m);
  team.sync();
  if (header.n_left_tracks > 0 && m.n_parts > 0) {
    unite_candidates(team, m);
    team.sync();
    collect_clusters(team, m);
    team.sync();
    assign_small_clusters(team, m);
    team.sync();
    assign_large_clusters(team, m);
    team.sync();
    find_hosts(team, m);
    team.sync();
    join_hosts(team, m);
    team.sync();
  }
  if (header.n_left_parts > 0) {
    share_out_fragments(team, m, current);
    team.sync();
  }
}

/// Moves all tracks to the next frame, and gives the frame's components their ids. Called by all threads of a
/// team with equal arguments; what it wrote is seen by all when it returns. The tracks, ascending by id, are
/// in frame.tracks, TrackHeader::n_tracks of them.
template <typename Team>
constexpr void associate(const Team& team, const TrackStep& step, const TrackFrame& frame,
                         const TrackTables& tables) {
  TrackHeader* header = tables.header;
  if (team.rank() == 0) {
    begin_frame(step, header);
  }
  team.sync();
  const uint32_t from = header->parity;
  const uint32_t to = from ^ 1;
  const PartLists& current = tables.lists[to];
  TrackState* tracks = tables.tracks[to];
  const Matching m{.step = step,
                   .frame = frame,
                   .tables = tables,
                   .tracks = tables.tracks[from],
                   .n_tracks = header->n_tracks,
                   .previous = tables.lists[from],
                   .n_previous = frame.is_matched != 0 ? header->n_components : 0,
                   .n_parts = frame.is_matched != 0 ? frame.n_components : 0,
                   .now_us = header->now_us};
  open_parts(team, m, current);
  if (m.n_previous == 0) {
    forget_components(team, m);
  }
  predict(team, m);
  team.sync();
  link_overlaps(team, m);
  team.sync();
  match_all(team, m, current);

  const uint32_t n_kept = number_tracks(team, m);
  const uint32_t n_begun = begin_tracks(team, m, current, n_kept, tracks);
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    if (tables.new_index[i] != kNone) {
      move_track(team, m, current, i, tracks + tables.new_index[i]);
    }
  }
  team.sync();
  for (uint32_t c = team.rank(); c < m.n_parts; c += team.size()) {
    update_tracks_of(m, current, c, tracks);
    if (current.owner[c] != kNone) {
      current.owner[c] = tables.new_index[current.owner[c]];
    }
  }
  team.sync();
  for (uint32_t c = team.rank(); c < m.n_parts; c += team.size()) {
    write_record(m, current, c, tracks);
  }
  for (uint32_t i = team.rank(); i < n_kept + n_begun; i += team.size()) {
    frame.tracks[i] = public_track(tracks[i], frame);
  }
  if (team.rank() == 0) {
    header->n_tracks = n_kept + n_begun;
    header->n_ids += n_begun;
    header->n_components = m.n_parts;
    header->parity = to;
  }
  team.sync();
}

}  // namespace ccl::track
