// SPDX-License-Identifier: LGPL-2.1-or-later
/// The plain case: one component becomes one component, where it was expected.
#pragma once

#include "track/matching.h"

namespace ccl::track {

/// A change of area by more than a factor of √2 means that something hides the object, or is added to it.
inline constexpr uint32_t kSteadyOctaves = 128;

/// The scale on which a distance between a track and a component is large or small, 1/256 px: the size of the
/// larger one. Nothing is smaller than kLeastSize, because the places of a few pixels are noisy.
inline constexpr int32_t kLeastSize = 8 * kUnit;

constexpr int32_t scale_of(int32_t size, const Part& part) {
  return larger(larger(size, size_of(part.box)), kLeastSize);
}

/// A steady track is found within half its size of its predicted place. Farther away, an overlap may be with
/// the next one of a row of objects, and the assignment must decide.
constexpr bool is_where_expected(const Place& place, int32_t size, const Part& part) {
  const int64_t limit = scale_of(size, part) / 2;
  return squared_distance(place, part.place) <= limit * limit;
}

/// The predicted box has this part of its extent more on each side: what is inside may be a part of it.
inline constexpr int32_t kGrownPart = 8;
/// The prediction of a lost track is less sure.
inline constexpr int32_t kLostGrownPart = 2;

constexpr Box box_of(const TrackFrame& frame) {
  return {-kHalfUnit, -kHalfUnit, static_cast<int32_t>(frame.width) * kUnit - kHalfUnit,
          static_cast<int32_t>(frame.height) * kUnit - kHalfUnit};
}

constexpr bool touches_border(const Box& box, const TrackFrame& frame) {
  const Box all = box_of(frame);
  return box.left <= all.left || box.top <= all.top || box.right >= all.right || box.bottom >= all.bottom;
}

constexpr bool is_in_frame(const Place& place, const TrackFrame& frame) {
  const Box all = box_of(frame);
  return place.x >= all.left && place.y >= all.top && place.x < all.right && place.y < all.bottom;
}

constexpr bool is_inside_prediction(const Matching& m, uint32_t i, const Box& box) {
  return contains(grown(m.tables.predicted[i], m.tracks[i].n_missed > 0 ? kLostGrownPart : kGrownPart), box);
}

/// Whether a track has left the frame: its place is outside, and the part is not a part of it that is still
/// seen.
constexpr bool has_left(const Matching& m, uint32_t i, const Part& part) {
  return !is_in_frame(m.tracks[i].place, m.frame) && !is_inside_prediction(m, i, part.box);
}

/// A member of a group may leave it without overlapping what the last frame showed: it goes on with the group
/// only if this part of its predicted box is there.
inline constexpr int64_t kGroupBoxPart = 2;

/// The component in which a track goes on without a doubt; kNone if other components or tracks compete.
constexpr uint32_t steady_part(const Matching& m, uint32_t i) {
  const TrackTables& tables = m.tables;
  const Outlook& track = tables.outlooks[i];
  const uint32_t p = track.component;
  if (p == kNone || track.has(Outlook::kHasFragments) || tables.n_of_previous[p] != 1) {
    return kNone;
  }
  const Overlap& overlap = m.frame.overlaps[tables.first_of_previous[p]];
  const uint32_t c = overlap.current;
  if (tables.n_of_current[c] != 1) {
    return kNone;
  }
  const bool is_alone = m.previous.member[p] == i && !track.has(Outlook::kHasFellows);
  if (is_alone) {
    return track.has(Outlook::kEstablished) && is_where_expected(track.place, track.size, tables.parts[c]) &&
                   octaves_between(track.area, tables.parts[c].area) <= kSteadyOctaves
               ? c
               : kNone;
  }
  const Box& box = tables.predicted[i];
  return common_area(box, tables.parts[c].box) * kGroupBoxPart >= area_of(box) ? c : kNone;
}

/// Matches the members of components that were cut for them.
template <typename Team>
constexpr void match_members(const Team& team, const Matching& m) {
  for (uint32_t c = team.rank(); c < m.n_parts; c += team.size()) {
    if (m.is_main_of_member(c)) {
      match(team, m, m.member_of(c), c);
    }
  }
}

/// Matches the steady tracks and lists the others.
template <typename Team>
constexpr void match_steady(const Team& team, const Matching& m) {
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    if (m.tables.matched[i] != kNone) {
      continue;
    }
    if (const uint32_t part = steady_part(m, i); part != kNone) {
      match(team, m, i, part);
    } else {
      m.tables.left_tracks[team.add(&m.tables.header->n_left_tracks, 1)] = i;
    }
  }
}

/// Notes of each component of the last frame the oldest track that it showed, so that nothing has to look at
/// all members of a large group. Only what is left asks for it.
template <typename Team>
constexpr void note_oldest(const Team& team, const Matching& m) {
  const TrackTables& tables = m.tables;
  for (uint32_t i = team.rank(); i < m.n_tracks; i += team.size()) {
    uint32_t fragment = m.tracks[i].first_fragment;
    for (uint32_t p = m.tracks[i].component; p != kNone;) {
      team.min(&tables.oldest_of_previous[p], i);
      p = fragment;
      fragment = p != kNone ? m.previous.next_fragment[p] : kNone;
    }
  }
}

/// Whether a component overlaps what the last frame showed of a confirmed track. The members of a group are
/// all proven, so the oldest one says it for all. One that was in many pieces may well do so.
constexpr bool shows_confirmed(const Matching& m, uint32_t c) {
  bool is_confirmed = m.was_shattered(c);
  m.for_each_overlap_of(c, [&](const Overlap& overlap) {
    const uint32_t oldest = m.tables.oldest_of_previous[overlap.previous];
    is_confirmed = is_confirmed || (oldest != kNone && m.is_confirmed(oldest));
  });
  return is_confirmed;
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

/// Notes which of these show a confirmed track.
template <typename Team>
constexpr void note_confirmed(const Team& team, const Matching& m) {
  for (uint32_t k = team.rank(); k < m.tables.header->n_left_parts; k += team.size()) {
    const uint32_t c = m.tables.left_parts[k];
    m.tables.shows_confirmed[c] = shows_confirmed(m, c) ? 1 : 0;
  }
}

}  // namespace ccl::track
