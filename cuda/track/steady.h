// SPDX-License-Identifier: LGPL-2.1-or-later
/// The plain case: one component becomes one component, where it was expected.
#pragma once

#include "track/matching.h"

namespace ccl::track {

/// The scale on which a distance between a track and a component is large or small, 1/256 px: the size of the
/// larger one. Nothing is smaller than kLeastSize, because the places of a few pixels are noisy.
inline constexpr int32_t kLeastSize = 8 * kUnit;

constexpr int32_t scale_of(const TrackState& track, const Part& part) {
  return larger(larger(size_of(track.width, track.height), size_of(part.box)), kLeastSize);
}

/// A steady track is found within half its size of its predicted place. Farther away, an overlap may be with
/// the next one of a row of objects, and the assignment must decide.
constexpr bool is_where_expected(const TrackState& track, const Part& part) {
  const int64_t limit = scale_of(track, part) / 2;
  return squared_distance(track.place, part.place) <= limit * limit;
}

/// A group goes on together if at least this part of the smaller component overlaps. Its members' places are
/// estimates, so they are not asked.
inline constexpr uint64_t kGroupPart = 2;

/// The component in which a track goes on without a doubt; kNone if other components or tracks compete.
constexpr uint32_t steady_part(const Matching& m, uint32_t i) {
  const TrackTables& tables = m.tables;
  const TrackState& track = m.tracks[i];
  const uint32_t p = track.component;
  if (p == kNone || track.n_fragments > 0 || tables.n_of_previous[p] != 1) {
    return kNone;
  }
  const Overlap& overlap = m.frame.overlaps[tables.first_of_previous[p]];
  const uint32_t c = overlap.current;
  if (tables.n_of_current[c] != 1) {
    return kNone;
  }
  const bool is_alone = m.previous.member[p] == i && track.next_member == kNone;
  if (is_alone) {
    return m.is_established(i) && is_where_expected(track, tables.parts[c]) ? c : kNone;
  }
  const uint32_t area = m.previous.area[p] < tables.parts[c].area ? m.previous.area[p] : tables.parts[c].area;
  return overlap.pixels * kGroupPart >= area ? c : kNone;
}

/// Matches the steady tracks and lists the others.
template <typename Team>
constexpr void match_steady(const Team& team, const Matching& m) {
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    if (const uint32_t part = steady_part(m, i); part != kNone) {
      match(team, m, i, part);
    } else {
      m.tables.left_tracks[team.add(&m.tables.header->n_left_tracks, 1)] = i;
    }
  }
}

/// Lists the components that no steady track took.
template <typename Team>
constexpr void list_left_parts(const Team& team, const Matching& m) {
  for (uint32_t c = team.rank(); c < m.n_parts; c += team.size()) {
    if (m.tables.taker[c] == kNone) {
      m.tables.left_parts[team.add(&m.tables.header->n_left_parts, 1)] = c;
    }
  }
}

}  // namespace ccl::track
