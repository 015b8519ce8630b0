// SPDX-License-Identifier: LGPL-2.1-or-later
/// Two young tracks that are one object, which something narrow has cut in two since its first frame.
///
/// An object that passes behind a post shows that at its edges: the two at the post stay where they are, and
/// the two others move alike. A track that was seen whole keeps its pieces (share.h), but one that begins
/// behind the post does not know that it is larger. So the rule is for tracks that are not established and
/// not proven, and steady tracks never come here.
#pragma once

#include "track/motion.h"
#include "track/share.h"

namespace ccl::track {

/// A box on one axis: in the last frame, and in this one.
struct Span {
  int32_t begin_before, end_before, begin, end;
};

constexpr Span span_of(const Box& before, const Box& now, bool is_x) {
  return is_x ? Span{before.left, before.right, now.left, now.right}
              : Span{before.top, before.bottom, now.top, now.bottom};
}

/// Whether two pieces move behind something that is at most so wide. `low` begins before `high`. An edge that
/// moves by one pixel says nothing: edges of what stands, or moves slowly, do that.
constexpr bool are_cut(Span low, Span high, int32_t most) {
  const int32_t gap = high.begin - low.end;
  const int32_t way = low.begin - low.begin_before;
  const int32_t other_way = high.end - high.end_before;
  const bool moves = magnitude(way) > kUnit && magnitude(other_way) > kUnit && (way > 0) == (other_way > 0);
  return low.end == low.end_before && high.begin == high.begin_before && gap >= 0 && gap <= most && moves &&
         magnitude(int64_t{way} - other_way) <= kUnit;
}

/// Whether a track is young, and had and has a component for itself, away from the frame's border: that is
/// a cut, too, and objects come in there side by side.
constexpr bool may_be_piece(const Matching& m, uint32_t i) {
  const Outlook& outlook = m.tables.outlooks[i];
  if (outlook.has(Outlook::kProven) || outlook.has(Outlook::kEstablished) || outlook.component == kNone ||
      outlook.has(Outlook::kHasFellows) || outlook.has(Outlook::kHasFragments)) {
    return false;
  }
  return m.previous.member[outlook.component] == i && m.is_shown(i) &&
         !touches_border(m.tables.parts[m.tables.matched[i]].box, m.frame);
}

/// Whether one edge of a track's box stays while the opposite one moves.
constexpr bool has_held_edge(const Matching& m, uint32_t i) {
  const Box& before = m.tracks[i].box;
  const Box& now = m.tables.parts[m.tables.matched[i]].box;
  return (before.left == now.left) != (before.right == now.right) ||
         (before.top == now.top) != (before.bottom == now.bottom);
}

/// Whether two tracks are pieces of one object, one beside or above the other.
constexpr bool are_pieces(const Matching& m, uint32_t i, uint32_t other) {
  const TrackState& a = m.tracks[i];
  const TrackState& b = m.tracks[other];
  const Box& now_a = m.tables.parts[m.tables.matched[i]].box;
  const Box& now_b = m.tables.parts[m.tables.matched[other]].box;
  const bool is_beside = gap_between(now_a.top, now_a.bottom, now_b.top, now_b.bottom) < 0;
  const Span of_a = span_of(a.box, now_a, is_beside);
  const Span of_b = span_of(b.box, now_b, is_beside);
  const int32_t size = larger(size_of(a.width, a.height), size_of(b.width, b.height));
  const int32_t most = size / kFragmentPart + kFragmentPixels;
  return (is_beside || gap_between(now_a.left, now_a.right, now_b.left, now_b.right) < 0) &&
         (are_cut(of_a, of_b, most) || are_cut(of_b, of_a, most));
}

/// Notes that two tracks are the pieces of one object.
template <typename Team>
constexpr void note_pieces(const Team& team, const Matching& m, uint32_t i, uint32_t other) {
  if (other != i && may_be_piece(m, other) && are_pieces(m, i, other)) {
    team.min(&m.tables.choice[i], other);
    team.min(&m.tables.choice[other], i);
  }
}

/// Finds all other pieces of a track with a grid of the components, unless the other one is larger: then that
/// one finds this one. A piece has its component for itself.
template <typename Team>
constexpr void find_sorted_pieces(const Team& team, const Matching& m, const Grid& grid, uint32_t i) {
  const TrackTables& tables = m.tables;
  const Box& box = tables.parts[tables.matched[i]].box;
  const int64_t most = size_of(m.tracks[i].width, m.tracks[i].height) / kFragmentPart + kFragmentPixels;
  grid.for_each_in(
      tables, [&](int32_t extent) { return widened(box, most + extent); },
      [&](const SortedBox& sorted) {
        if (const uint32_t other = tables.taker[sorted.index]; other != kNone) {
          note_pieces(team, m, i, other);
        }
      });
}

/// Writes for each track that is left to TrackTables::choice, which nothing else reads any more, the other
/// piece of the object of which it is one: the oldest; kNone. Pieces have a held edge.
template <typename Team>
constexpr void find_other_pieces(const Team& team, const Matching& m, const Grid& grid) {
  const TrackTables& tables = m.tables;
  const uint32_t n_left_tracks = tables.header->n_left_tracks;
  for (uint32_t k = team.rank(); k < n_left_tracks; k += team.size()) {
    tables.choice[tables.left_tracks[k]] = kNone;
  }
  team.sync();
  for (uint32_t k = team.rank(); k < n_left_tracks; k += team.size()) {
    const uint32_t i = tables.left_tracks[k];
    if (!may_be_piece(m, i) || !has_held_edge(m, i)) {
      continue;
    }
    if (grid.is_used()) {
      find_sorted_pieces(team, m, grid, i);
      continue;
    }
    for (uint32_t other = 0; other < n_left_tracks; ++other) {
      note_pieces(team, m, i, tables.left_tracks[other]);
    }
  }
}

/// What the last frame showed of a track.
constexpr Part last_part(const Matching& m, const TrackState& track) {
  return {.place = track.shown, .box = track.box, .area = m.previous.area[track.component]};
}

/// Two parts together.
constexpr Part sum_of(const Part& a, const Part& b) {
  const int64_t area = int64_t{a.area} + b.area;
  const auto mean = [&](int32_t of_a, int32_t of_b) {
    return static_cast<int32_t>(divide(int64_t{of_a} * a.area + int64_t{of_b} * b.area, area));
  };
  return {.place = {mean(a.place.x, b.place.x), mean(a.place.y, b.place.y)},
          .box = hull(a.box, b.box),
          .area = a.area + b.area};
}

/// Changes the older track as if it had been both pieces in the last frame. It keeps its velocity.
constexpr void take_in(const Matching& m, uint32_t i, uint32_t other) {
  TrackState& track = m.tracks[i];
  const Part own = last_part(m, track);
  const Part whole = sum_of(own, last_part(m, m.tracks[other]));
  track.place = {track.place.x + whole.place.x - own.place.x, track.place.y + whole.place.y - own.place.y};
  track.shown = whole.place;
  track.box = whole.box;
  track.n_fragments = 1;
  set_size(whole, &track);
  m.tables.predicted[i] = whole_box(track);
}

/// The younger one of two pieces becomes a fragment of the older one, and its track ends. Two tracks that
/// have found each other are in no other pair.
template <typename Team>
constexpr void join_pieces(const Team& team, const Matching& m, const PartLists& current) {
  const TrackTables& tables = m.tables;
  for (uint32_t k = team.rank(); k < tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = tables.left_tracks[k];
    const uint32_t other = tables.choice[i];
    if (other == kNone || other < i || tables.choice[other] != i) {
      continue;
    }
    take_in(m, i, other);
    const uint32_t c = tables.matched[other];
    tables.taker[c] = i;
    current.owner[c] = i;
    current.next_fragment[c] = team.exchange(&tables.fragment[i], c);
  }
}

}  // namespace ccl::track
