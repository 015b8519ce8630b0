// SPDX-License-Identifier: LGPL-2.1-or-later
/// Tracks without a component of their own, and components without a track of their own: merges, fragments,
/// and what remains for births.
#pragma once

#include "track/assign.h"

namespace ccl::track {

/* Merges */

/// A track that moves fast joins a component that covers this part of its predicted box.
inline constexpr int64_t kCoveredPart = 2;
/// A component has room for several objects if it has 5/8 of the sum of their areas: one may stand in front
/// of the other.
inline constexpr uint64_t kRoomNumerator = 5;
inline constexpr uint64_t kRoomDenominator = 8;

constexpr bool has_room(uint64_t area, uint64_t sum_of_areas) {
  return area * kRoomDenominator >= sum_of_areas * kRoomNumerator;
}

/// The better one of two parts to join; ties go to the smaller index.
struct Choice {
  int64_t score = 0;
  uint32_t index = kNone;

  constexpr void offer(int64_t other, uint32_t other_index) {
    if (other > score || (other == score && other > 0 && other_index < index)) {
      score = other;
      index = other_index;
    }
  }
};

/// The component of another track that now covers what the last frame showed of this one. A member of a group
/// follows its own place, since its component was that of all.
constexpr uint32_t find_overlapping_host(const Matching& m, uint32_t i) {
  Choice choice;
  m.for_each_overlap(i, [&](const Overlap& overlap) {
    const uint32_t c = overlap.current;
    if (m.tables.taker[c] == kNone) {
      return;
    }
    const int64_t common = common_area(m.tables.predicted[i], m.tables.parts[c].box);
    choice.offer(m.was_merged(i) ? common + 1 : int64_t{overlap.pixels}, c);
  });
  return choice.index;
}

/// The component of another track that covers the predicted box, for objects that move too fast to overlap.
constexpr uint32_t find_covering_host(const Matching& m, uint32_t i) {
  const TrackTables& tables = m.tables;
  const Box& box = tables.predicted[i];
  Choice choice;
  for (uint32_t c = 0; c < m.n_parts; ++c) {
    const int64_t common = common_area(box, tables.parts[c].box);
    if (common * kCoveredPart < area_of(box) || tables.taker[c] == kNone) {
      continue;
    }
    const TrackState& other = m.tracks[tables.taker[c]];
    const bool is_fellow = other.component == m.tracks[i].component;
    if (is_fellow || has_room(tables.parts[c].area, uint64_t{other.area} + m.tracks[i].area)) {
      choice.offer(common, c);
    }
  }
  return choice.index;
}

/// Tracks that were seen in the last frame, and have no component in this one, join another track's. Writes
/// the component to TrackTables::choice: taker still has only those that are assigned.
template <typename Team>
constexpr void find_hosts(const Team& team, const Matching& m) {
  for (uint32_t k = team.rank(); k < m.tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = m.tables.left_tracks[k];
    uint32_t host = kNone;
    if (m.tables.matched[i] == kNone && m.tracks[i].component != kNone) {
      host = find_overlapping_host(m, i);
      if (host == kNone && m.is_established(i)) {
        host = find_covering_host(m, i);
      }
    }
    m.tables.choice[i] = host;
  }
}

template <typename Team>
constexpr void join_hosts(const Team& team, const Matching& m) {
  for (uint32_t k = team.rank(); k < m.tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = m.tables.left_tracks[k];
    if (m.tables.choice[i] != kNone) {
      match(team, m, i, m.tables.choice[i]);
    }
  }
}

/* Fragments */

/// All fragments of an object fit into a box that is larger than the object by this part of it, and by a few
/// pixels.
inline constexpr int32_t kFragmentPart = 4;
inline constexpr int32_t kFragmentPixels = 2 * kUnit;
/// A component inside a predicted box is a fragment only if the areas sum up to at most 3/2 of the object's.
inline constexpr uint64_t kMostAreaNumerator = 3;
inline constexpr uint64_t kMostAreaDenominator = 2;

/// Whether a component that overlaps the track is a fragment of it: together with the main component it is
/// not larger than the object.
constexpr bool fits(const Matching& m, uint32_t i, const Box& box) {
  const TrackState& track = m.tracks[i];
  const Box all = hull(m.tables.parts[m.tables.matched[i]].box, box);
  return all.width() <= track.width + track.width / kFragmentPart + kFragmentPixels &&
         all.height() <= track.height + track.height / kFragmentPart + kFragmentPixels;
}

/// Whether a component that does not overlap the track may be a fragment of it: it is where the object is
/// expected, or near enough and, together with the main component, not more than the object.
constexpr bool may_be_fragment(const Matching& m, uint32_t i, const Part& part) {
  const uint64_t area = uint64_t{part.area} + m.tables.parts[m.tables.matched[i]].area;
  const uint64_t whole = m.tracks[i].area;
  return is_inside_prediction(m, i, part.box) ? area * kMostAreaDenominator <= whole * kMostAreaNumerator
                                              : area <= whole && fits(m, i, part.box);
}

/// The nearer one of two tracks; ties go to the older one.
constexpr void offer_owner(const Matching& m, uint32_t i, const Part& part, Choice* choice) {
  constexpr int64_t kFar = int64_t{1} << 62;
  choice->offer(kFar - squared_distance(m.tracks[i].place, part.place), i);
}

/// The track of which a component that is left is a fragment; kNone.
constexpr uint32_t find_owner(const Matching& m, uint32_t c) {
  const TrackTables& tables = m.tables;
  const Part& part = tables.parts[c];
  Choice choice;
  for (uint32_t e = tables.first_of_current[c]; e != kNone; e = tables.next_of_current[e]) {
    m.for_each_track_of(m.frame.overlaps[e].previous, [&](uint32_t i) {
      if (m.is_shown(i) && (fits(m, i, part.box) || is_inside_prediction(m, i, part.box))) {
        offer_owner(m, i, part, &choice);
      }
    });
  }
  if (choice.index != kNone) {
    return choice.index;
  }
  for (uint32_t i = 0; i < m.n_tracks; ++i) {
    if (m.is_shown(i) && m.is_established(i) && may_be_fragment(m, i, part)) {
      offer_owner(m, i, part, &choice);
    }
  }
  return choice.index;
}

/// The track that a component without one parted from: the one that it overlaps most; of equals the oldest.
constexpr uint32_t find_parent(const Matching& m, uint32_t c) {
  Choice choice;
  for (uint32_t e = m.tables.first_of_current[c]; e != kNone; e = m.tables.next_of_current[e]) {
    const Overlap& overlap = m.frame.overlaps[e];
    m.for_each_track_of(overlap.previous, [&](uint32_t i) { choice.offer(overlap.pixels, i); });
  }
  return choice.index;
}

/// Gives each component that is left to the track of which it is a fragment, or notes its parent.
template <typename Team>
constexpr void share_out_fragments(const Team& team, const Matching& m, const PartLists& current) {
  const TrackTables& tables = m.tables;
  for (uint32_t k = team.rank(); k < tables.header->n_left_parts; k += team.size()) {
    const uint32_t c = tables.left_parts[k];
    if (tables.taker[c] != kNone) {
      continue;
    }
    const uint32_t owner = find_owner(m, c);
    current.owner[c] = owner;
    if (owner != kNone) {
      current.next_fragment[c] = team.exchange(&tables.fragment[owner], c);
    } else {
      tables.part_parent[c] = find_parent(m, c);
    }
  }
}

}  // namespace ccl::track
