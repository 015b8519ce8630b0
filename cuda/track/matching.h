// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the steps of associate() share, and its first steps: prediction, and overlaps as lists.
#pragma once

#include "track/step.h"
#include "track/tables.h"
#include "track/team.h"

namespace ccl::track {

/// A track is established when it was seen in so many frames: then its velocity was measured twice.
inline constexpr uint32_t kEstablishedFrames = 3;

/// An overlap is significant if it is at least this part of the smaller component. Less is a touch of two
/// objects that pass each other.
inline constexpr uint64_t kSignificantPart = 8;

inline constexpr int64_t kUsPerSecond = 1'000'000;

/// A track is proven when it was seen alone, away from the frame's border, for so long. What joins another
/// track earlier is a part of the same object, which came into view piece by piece.
inline constexpr uint32_t kProofUs = 90'000;

/// A component of the last frame that is in more pieces than this is shattered, and so was one of this frame
/// that comes from more: in noise there are thousands. Its list of overlaps is not read, because a device
/// would wait for memory with each of them; the lists of the pieces are.
inline constexpr uint32_t kMostPieces = 64;

/// A frame and the tracks, while the tracks move to the frame.
struct Matching {
  const TrackStep& step;
  const TrackFrame& frame;
  const TrackTables& tables;
  TrackState* tracks;  ///< as the last frame left them, but their places are predicted
  uint32_t n_tracks;
  PartLists previous;  ///< of the last frame
  uint32_t n_previous;
  uint32_t n_parts;  ///< components to be matched
  uint64_t now_us;
  uint64_t elapsed_ns;

  constexpr bool is_confirmed(uint32_t track) const {
    return (tracks[track].flags & CCL_TRACK_CONFIRMED) != 0;
  }
  constexpr bool was_merged(uint32_t track) const { return (tracks[track].flags & CCL_TRACK_MERGED) != 0; }
  constexpr bool is_established(uint32_t track) const { return tracks[track].n_seen >= kEstablishedFrames; }

  constexpr bool is_proven(uint32_t track) const { return tables.outlooks[track].has(Outlook::kProven); }

  /// Which tracks a component shows: the proven ones, or, if there are none, the oldest.
  constexpr bool is_shown(uint32_t track) const {
    const uint32_t part = tables.matched[track];
    return part != kNone && (is_proven(track) || (tables.n_proven[part] == 0 && tables.taker[part] == track));
  }

  /// Whether a part was cut for a member: the main one, or also another one.
  constexpr bool is_main_of_member(uint32_t part) const {
    return frame.origins != nullptr && frame.origins[part].is_main != 0;
  }
  constexpr uint32_t member_of(uint32_t part) const {
    return frame.origins != nullptr ? frame.origins[part].track : kNone;
  }

  /// Whether a component of the last frame is in so many pieces now that its tracks are looked for by their
  /// places.
  constexpr bool is_shattered(uint32_t previous_part) const {
    return tables.n_of_previous[previous_part] > kMostPieces;
  }
  /// Whether a component was in so many pieces in the last frame.
  constexpr bool was_shattered(uint32_t part) const { return tables.n_of_current[part] > kMostPieces; }

  /// Calls visit(overlap) for all significant overlaps of the last frame's components of the track, except
  /// those of shattered ones.
  template <typename Visit>
  constexpr void for_each_overlap(uint32_t track, Visit visit) const {
    const TrackState& state = tracks[track];
    uint32_t fragment = state.first_fragment;
    for (uint32_t p = state.component; p != kNone;) {
      for (uint32_t i = is_shattered(p) ? kNone : tables.first_of_previous[p]; i != kNone;
           i = tables.next_of_previous[i]) {
        visit(frame.overlaps[i]);
      }
      p = fragment;
      fragment = p != kNone ? previous.next_fragment[p] : kNone;
    }
  }

  /// Likewise for those of a component of this frame.
  template <typename Visit>
  constexpr void for_each_overlap_of(uint32_t part, Visit visit) const {
    for (uint32_t i = was_shattered(part) ? kNone : tables.first_of_current[part]; i != kNone;
         i = tables.next_of_current[i]) {
      visit(frame.overlaps[i]);
    }
  }

  /// Calls visit(track) for all tracks that a component of the last frame showed.
  template <typename Visit>
  constexpr void for_each_track_of(uint32_t previous_part, Visit visit) const {
    if (previous.owner[previous_part] != kNone) {
      visit(previous.owner[previous_part]);
    }
    for (uint32_t i = previous.member[previous_part]; i != kNone; i = tracks[i].next_member) {
      visit(i);
    }
  }
};

/// Notes that a track goes on in a component, or in a fragment of the object if it is partly hidden.
template <typename Team>
constexpr void match(const Team& team, const Matching& m, uint32_t track, uint32_t part) {
  m.tables.matched[track] = part;
  team.min(&m.tables.taker[part], track);
  if (m.is_proven(track)) {
    team.add(&m.tables.n_proven[part], 1);
  }
}

/// How far something moves in a time, 1/256 px.
constexpr int32_t distance(int32_t velocity, uint32_t duration_us) {
  return static_cast<int32_t>(divide(int64_t{velocity} * duration_us, kUsPerSecond));
}

/// Places stay within a few frames, so that sums of them do not overflow.
constexpr int32_t kFarthest = 1 << 25;

constexpr int32_t moved(int32_t place, int32_t way) {
  const int64_t sum = int64_t{place} + way;
  return static_cast<int32_t>(sum > kFarthest ? kFarthest : sum < -kFarthest ? -kFarthest : sum);
}

/// Where a track is expected after a time.
constexpr Place moved_place(const TrackState& track, uint32_t duration_us) {
  return {moved(track.place.x, distance(track.velocity.x, duration_us)),
          moved(track.place.y, distance(track.velocity.y, duration_us))};
}

/// The box of the whole object at the track's place.
constexpr Box whole_box(const TrackState& track) {
  const int32_t left = track.place.x + track.middle.x - track.width / 2;
  const int32_t top = track.place.y + track.middle.y - track.height / 2;
  return {left, top, left + track.width, top + track.height};
}

constexpr Outlook outlook_of(const TrackState& track) {
  const bool has_proof = (track.flags & CCL_TRACK_CONFIRMED) != 0 && track.proven_us >= kProofUs;
  const uint32_t traits = (has_proof ? Outlook::kProven : 0) |
                          (track.n_seen >= kEstablishedFrames ? Outlook::kEstablished : 0) |
                          (track.next_member != kNone ? Outlook::kHasFellows : 0) |
                          (track.n_fragments > 0 ? Outlook::kHasFragments : 0);
  return {track.component, traits, track.place, size_of(track.width, track.height), track.area};
}

/// If the components of the last frame are not known, tracks are found again like lost ones.
template <typename Team>
constexpr void forget_components(const Team& team, const Matching& m) {
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    m.tracks[i].component = kNone;
    m.tracks[i].n_fragments = 0;
    m.tracks[i].first_fragment = kNone;
    m.tables.outlooks[i].component = kNone;
  }
}

/// The place of each track moves by its velocity. A member that its group hides for too long leaves the
/// group.
template <typename Team>
constexpr void predict(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    TrackState track = m.tracks[i];  // a copy: a device would read again from memory what it has written
    track.place = moved_place(track, m.step.duration_us);
    if ((track.flags & CCL_TRACK_MERGED) != 0 && m.elapsed_ns - track.seen_ns > m.step.lost_ns) {
      track.component = kNone;
    }
    m.tracks[i].place = track.place;
    m.tracks[i].component = track.component;
    tables.predicted[i] = whole_box(track);
    tables.outlooks[i] = outlook_of(track);
    tables.matched[i] = kNone;
    tables.fragment[i] = kNone;
    tables.n_candidates[i] = 0;
    tables.n_offered[i] = 0;
  }
}

/// Empties what is noted per component.
template <typename Team>
constexpr void open_parts(const Team& team, const Matching& m, const PartLists& current) {
  const TrackTables& tables = m.tables;
  for (uint32_t i = team.rank(); i < m.n_previous; i += team.size()) {
    tables.first_of_previous[i] = kNone;
    tables.n_of_previous[i] = 0;
    tables.oldest_of_previous[i] = kNone;
    tables.n_seen_of_previous[i] = 0;
  }
  for (uint32_t i = team.rank(); i < m.n_parts; i += team.size()) {
    tables.parts[i] = part_of(m.frame.records[i]);
    tables.taker[i] = kNone;
    tables.n_proven[i] = 0;
    tables.part_parent[i] = kNone;
    tables.best[i] = 0;
    tables.first_of_current[i] = kNone;
    tables.n_of_current[i] = 0;
    current.member[i] = kNone;
    current.owner[i] = kNone;
    current.next_fragment[i] = kNone;
    current.area[i] = m.frame.records[i].area;
  }
  for (uint32_t i = team.rank(); i < m.n_tracks + m.n_parts; i += team.size()) {
    tables.cluster[i] = i;
    tables.first_in_cluster[i] = kNone;
    tables.n_tracks_in_cluster[i] = 0;
    tables.n_parts_in_cluster[i] = 0;
  }
}

/// Makes lists of the significant overlaps with components of tracks.
template <typename Team>
constexpr void link_overlaps(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  for (uint32_t i = team.rank(); m.n_previous > 0 && i < m.frame.n_overlaps; i += team.size()) {
    const Overlap overlap = m.frame.overlaps[i];
    const uint32_t p = overlap.previous;
    const uint32_t c = overlap.current;
    const bool is_tracked = m.previous.member[p] != kNone || m.previous.owner[p] != kNone;
    const uint32_t area =
        m.previous.area[p] < tables.parts[c].area ? m.previous.area[p] : tables.parts[c].area;
    if (is_tracked && overlap.pixels * kSignificantPart >= area) {
      tables.next_of_previous[i] = team.exchange(&tables.first_of_previous[p], i);
      tables.next_of_current[i] = team.exchange(&tables.first_of_current[c], i);
      team.add(&tables.n_of_previous[p], 1);
      team.add(&tables.n_of_current[c], 1);
    }
  }
}

}  // namespace ccl::track
