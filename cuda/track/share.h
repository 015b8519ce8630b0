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

/// A member of a group has left the frame if less than this part of its predicted box is in it.
inline constexpr int64_t kInsidePart = 4;

constexpr bool has_left_outside(const Matching& m, uint32_t i) {
  const Box& box = m.tables.predicted[i];
  return m.was_merged(i) && common_area(box, box_of(m.frame)) * kInsidePart < area_of(box);
}

/// Whether a component of another track can show this one, too: it is where this one is expected, or has room
/// for both. One of a row of fast objects comes to where the one before it was, and shows only itself.
constexpr bool can_host(const Matching& m, uint32_t i, uint32_t c) {
  const Part& part = m.tables.parts[c];
  return common_area(m.tables.predicted[i], part.box) > 0 ||
         has_room(part.area, uint64_t{m.tracks[m.tables.taker[c]].area} + m.tracks[i].area);
}

/// The component of a track that is not confirmed, in which a lost track would go on if it were free; kNone.
/// What seemed to be a new object was then the first piece of the lost one that came into view again. At
/// the frame's border it is another object that comes in. Of several lost tracks, the one of the least
/// cost gets it.
template <typename Team>
constexpr uint32_t claim_tentative(const Team& team, const Matching& m, uint32_t i) {
  const Candidate* candidates = m.tables.candidates_of(i);
  for (uint32_t k = 0; k < m.tables.n_candidates[i] && candidates[k].cost < m.tables.unmatched_cost[i]; ++k) {
    const uint32_t c = candidates[k].part;
    const uint32_t taker = m.tables.taker[c];
    if (taker != kNone && !m.is_confirmed(taker) && !touches_border(m.tables.parts[c].box, m.frame)) {
      team.max(&m.tables.best[c], offer_of(candidates[k].cost, i));
      return c;
    }
  }
  return kNone;
}

/// Whether the claim of a lost track is the best one.
constexpr bool has_claimed(const Matching& m, uint32_t i, uint32_t c) {
  const Candidate* candidate = m.tables.candidates_of(i);
  while (candidate->part != c) {
    ++candidate;
  }
  return m.tables.best[c] == offer_of(candidate->cost, i);
}

/// The component of another track that now covers what the last frame showed of this one; kNone. A member of
/// a group follows its own place, since its component was that of all.
constexpr uint32_t find_overlapping_host(const Matching& m, uint32_t i) {
  Choice choice;
  m.for_each_overlap(i, [&](const Overlap& overlap) {
    const uint32_t c = overlap.current;
    if (m.tables.taker[c] == kNone || !can_host(m, i, c)) {
      return;
    }
    const int64_t common = common_area(m.tables.predicted[i], m.tables.parts[c].box);
    choice.offer(m.was_merged(i) ? common + 1 : int64_t{overlap.pixels}, c);
  });
  return choice.index;
}

/// Offers a component of another track that covers the predicted box.
constexpr void offer_covering(const Matching& m, uint32_t i, uint32_t c, Choice* choice) {
  const TrackTables& tables = m.tables;
  const Box& box = tables.predicted[i];
  const int64_t common = common_area(box, tables.parts[c].box);
  if (common * kCoveredPart >= area_of(box) && tables.taker[c] != kNone &&
      has_room(tables.parts[c].area, uint64_t{m.tracks[tables.taker[c]].area} + m.tracks[i].area)) {
    choice->offer(common, c);
  }
}

/// The component of another track that covers the predicted box, for objects that move too fast to overlap.
/// What covers half of a box has its middle, and is no farther away than its extent.
constexpr uint32_t find_covering_host(const Matching& m, const Grid& grid, uint32_t i) {
  Choice choice;
  if (!grid.is_used()) {
    for (uint32_t c = 0; c < m.n_parts; ++c) {
      offer_covering(m, i, c, &choice);
    }
    return choice.index;
  }
  const Box& box = m.tables.predicted[i];
  const int32_t x = box.left + box.width() / 2;
  const int32_t y = box.top + box.height() / 2;
  grid.for_each_in(
      m.tables, {}, 0,
      [&](int32_t extent) {
        return widened({x, y, x + 1, y + 1}, extent);
      },
      [&](const SortedBox& sorted) { offer_covering(m, i, sorted.index, &choice); });
  return choice.index;
}

/// Pieces of one object move alike. Two tracks are two objects if they moved by half a size against each
/// other while both were followed, in this time at most.
inline constexpr uint64_t kApartUs = 500'000;

/// Whether two tracks that meet are certainly two objects, however short they were seen.
constexpr bool are_separate(const Matching& m, uint32_t i, uint32_t other) {
  if (!m.is_established(i) || !m.is_established(other)) {
    return false;
  }
  const TrackState& a = m.tracks[i];
  const TrackState& b = m.tracks[other];
  const uint64_t followed_us = uint64_t{a.age < b.age ? a.age : b.age} * m.step.duration_us;
  const auto time_us = static_cast<int64_t>(followed_us < kApartUs ? followed_us : kApartUs);
  const int64_t speed = length_of(int64_t{a.velocity.x} - b.velocity.x, int64_t{a.velocity.y} - b.velocity.y);
  const int64_t scale = larger(larger(size_of(a.width, a.height), size_of(b.width, b.height)), kLeastSize);
  return 2 * speed * time_us >= scale * kUsPerSecond;
}

/// The component that a track without one joins; kNone.
template <typename Team>
constexpr uint32_t find_host(const Team& team, const Matching& m, const Grid& grid, uint32_t i) {
  if (has_left_outside(m, i)) {
    return kNone;
  }
  if (m.tracks[i].component == kNone) {
    return m.is_confirmed(i) ? claim_tentative(team, m, i) : kNone;
  }
  const uint32_t host = find_overlapping_host(m, i);
  return host == kNone && m.is_established(i) ? find_covering_host(m, grid, i) : host;
}

template <typename Team>
constexpr void prove(const Team& team, const Matching& m, uint32_t i) {
  team.max(&m.tracks[i].proven_us, kProofUs);
  if (m.is_confirmed(i)) {
    uint32_t* traits = &m.tables.outlooks[i].traits;
    team.max(traits, team.load(traits) | Outlook::kProven);  // no other trait changes here
  }
}

/// Tracks that have no component in this frame join another track's. Writes the component to
/// TrackTables::choice: taker still has only those that are assigned. Two separate tracks are proven by that.
template <typename Team>
constexpr void find_hosts(const Team& team, const Matching& m, const Grid& grid) {
  for (uint32_t k = team.rank(); k < m.tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = m.tables.left_tracks[k];
    const uint32_t host = m.tables.matched[i] == kNone ? find_host(team, m, grid, i) : kNone;
    m.tables.choice[i] = host;
    if (host != kNone && are_separate(m, i, m.tables.taker[host])) {
      prove(team, m, i);
      prove(team, m, m.tables.taker[host]);
    }
  }
}

template <typename Team>
constexpr void join_hosts(const Team& team, const Matching& m) {
  for (uint32_t k = team.rank(); k < m.tables.header->n_left_tracks; k += team.size()) {
    const uint32_t i = m.tables.left_tracks[k];
    const uint32_t host = m.tables.choice[i];
    if (host != kNone && (m.tracks[i].component != kNone || has_claimed(m, i, host))) {
      match(team, m, i, host);
    }
  }
}

/* Fragments */

/// Whether a component that overlaps the track is a fragment of it: together with the main component it is
/// not larger than the object.
constexpr bool fits(const Matching& m, uint32_t i, const Box& box) {
  const TrackState& track = m.tracks[i];
  const Box all = hull(m.tables.parts[m.tables.matched[i]].box, box);
  return fits(track, all);
}

/// Whether a component that does not overlap the track may be a fragment of it: together with the main
/// component it is not more than the object. At the frame's border, what is outside is a part of the object,
/// too.
constexpr bool may_be_fragment(const Matching& m, uint32_t i, const Part& part) {
  const Part& main = m.tables.parts[m.tables.matched[i]];
  const uint64_t area = uint64_t{part.area} + main.area;
  const bool is_cut = touches_border(main.box, m.frame);
  return area <= m.tracks[i].area && fits(m, i, part.box) &&
         (!is_cut || fits(m.tracks[i], hull(m.tables.predicted[i], part.box)));
}

/// Whether any component can be a fragment of a track by may_be_fragment(): not if the track's component is
/// as large as it, such as that of a group.
constexpr bool can_have_fragments(const Matching& m, uint32_t i) {
  return m.is_established(i) && m.tables.parts[m.tables.matched[i]].area < m.tracks[i].area;
}

/// The space between two spans; negative if they overlap.
constexpr int32_t gap_between(const Span& a, const Span& b) {
  return larger(a.begin, b.begin) - smaller(a.end, b.end);
}

/// What has more pieces than this is noise: it would take all that is around it, and grow with it.
inline constexpr uint32_t kMostFragments = 16;

/// Whether a track that has a component comes into the frame, and it is not known yet how large it is. Of a
/// group only the oldest one does: in noise thousands have the same component, which covers the frame.
constexpr bool comes_in(const Matching& m, uint32_t i) {
  const TrackState& track = m.tracks[i];
  const uint32_t c = m.tables.matched[i];
  return track.proven_us < kProofUs && track.n_fragments <= kMostFragments && m.tables.taker[c] == i &&
         (touches_border(m.tables.parts[c].box, m.frame) || touches_border(track.box, m.frame));
}

/// Whether a component is a piece of an object that comes into the frame: nothing else appears inside the
/// frame beside it. How large the object is, is not known yet, but a piece that comes into view behind a gap
/// is no longer than the way that the object makes in a frame, and the same tolerance.
constexpr bool comes_in_with(const Matching& m, uint32_t i, const Box& box) {
  if (!comes_in(m, i) || touches_border(box, m.frame)) {
    return false;
  }
  const TrackState& track = m.tracks[i];
  const Box& main = m.tables.parts[m.tables.matched[i]].box;
  const int32_t x = gap_between(main.x(), box.x());
  const int32_t y = gap_between(main.y(), box.y());
  const int32_t most = size_of(track.width, track.height) / kFragmentPart + kFragmentPixels;
  const int64_t way = length_of(track.velocity.x, track.velocity.y) * m.step.duration_us / kUsPerSecond;
  return x <= most && y <= most && (x <= 0 || box.width() <= most + way) &&
         (y <= 0 || box.height() <= most + way);
}

/// For the index of a track.
inline constexpr uint32_t kIndexBits = 14;
static_assert(kMaxTracks <= 1u << kIndexBits);

/// How near a component is to a track: larger is nearer; ties go to the older track. Never 0. All places that
/// are more than 131,072 pixels away are equally far.
constexpr uint64_t nearness_of(const Matching& m, uint32_t i, const Part& part) {
  constexpr uint64_t kFarthestSquare = (uint64_t{1} << (64 - kIndexBits)) - 2;
  const auto square = static_cast<uint64_t>(squared_distance(m.tracks[i].place, part.place));
  return ~((square < kFarthestSquare ? square : kFarthestSquare) << kIndexBits | i);
}
constexpr uint32_t owner_of(uint64_t nearness) {
  return nearness != 0 ? static_cast<uint32_t>(~nearness) % (1u << kIndexBits) : kNone;
}

/// All boxes of which a shown track may be the owner meet this one, which is cut to the frame.
constexpr Box reach_of(const Matching& m, uint32_t i) {
  const TrackState& track = m.tracks[i];
  const Box& main = m.tables.parts[m.tables.matched[i]].box;
  const int32_t most = larger(track.width, track.height) / kFragmentPart + kFragmentPixels;
  const Box fitting = {main.right - track.width, main.bottom - track.height, main.left + track.width,
                       main.top + track.height};
  const Box near = widened(hull(main, hull(fitting, main)), most);
  return common_box(hull(near, grown(m.tables.predicted[i], kLostGrownPart)), box_of(m.frame));
}

/// Whether a component that a track does not overlap may be a fragment of it.
constexpr bool may_own(const Matching& m, uint32_t i, const Part& part) {
  return is_large_beside(size_of(m.tracks[i].width, m.tracks[i].height), part.box) &&
         ((m.is_established(i) && may_be_fragment(m, i, part)) || comes_in_with(m, i, part.box));
}

/// What hides the middle of an object does so for a moment. Two pieces that stand beside each other for
/// longer are two objects that came as one, if none is much smaller than the other.
inline constexpr uint32_t kFragmentUs = 700'000;
inline constexpr uint64_t kLeastPiece = 4;

constexpr bool stand_apart(const Part& a, const Part& b) {
  const int32_t both = -gap_between(a.box.y(), b.box.y());
  const uint32_t small = a.area < b.area ? a.area : b.area;
  const uint32_t large = a.area < b.area ? b.area : a.area;
  return small * kLeastPiece >= large && 2 * both >= smaller(a.box.height(), b.box.height());
}

/// Two boxes together are clearly wider than one object if they are wider than this part of what an object of
/// their height is, where it is known how that looks.
inline constexpr int64_t kWiderNumerator = 13;
inline constexpr int64_t kWiderDenominator = 10;

constexpr bool is_wider(const Matching& m, const Box& a, const Box& b) {
  const Box both = hull(a, b);
  return m.step.aspect > 1 &&
         int64_t{both.width()} * m.step.aspect * kWiderDenominator > both.height() * kWiderNumerator;
}

/// Whether a component beside a track's own one is another object, and no fragment of the track.
constexpr bool are_apart(const Matching& m, uint32_t i, uint32_t c) {
  const Part& part = m.tables.parts[c];
  const Part& main = m.tables.parts[m.tables.matched[i]];
  return stand_apart(main, part) &&
         (m.tracks[i].fragmented_us >= kFragmentUs || is_wider(m, main.box, part.box));
}

/// The nearest one of the tracks that overlap a component, and of which it may be a fragment: its
/// nearness_of(); 0.
constexpr uint64_t find_overlapped_owner(const Matching& m, uint32_t c) {
  const TrackTables& tables = m.tables;
  const Part& part = tables.parts[c];
  uint64_t nearest = 0;
  m.for_each_overlap_of(c, [&](const Overlap& overlap) {
    if (m.is_shattered(overlap.previous)) {
      return;
    }
    m.for_each_track_of(overlap.previous, [&](uint32_t i) {
      if (m.is_shown(i) && (fits(m, i, part.box) || is_inside_prediction(m, i, part.box)) &&
          !are_apart(m, i, c)) {
        const uint64_t nearness = nearness_of(m, i, part);
        nearest = nearness > nearest ? nearness : nearest;
      }
    });
  });
  return nearest;
}

/// Likewise of all others.
constexpr uint64_t find_near_owner(const Matching& m, uint32_t c) {
  const Part& part = m.tables.parts[c];
  uint64_t nearest = 0;
  for (uint32_t i = 0; i < m.n_tracks; ++i) {
    if (m.is_shown(i) && may_own(m, i, part) && !are_apart(m, i, c)) {
      const uint64_t nearness = nearness_of(m, i, part);
      nearest = nearness > nearest ? nearness : nearest;
    }
  }
  return nearest;
}

/// Sorts the components that are left, if they are too many for a look at all tracks, unless `grid` has all.
template <typename Team>
constexpr Grid sorted_left_parts(const Team& team, const Matching& m, const Grid& of_all) {
  const TrackTables& tables = m.tables;
  const Grid grid = grid_of<Team>(m, uint64_t{tables.header->n_left_parts} * m.n_tracks);
  if (!grid.is_used() || of_all.is_used()) {
    return of_all;
  }
  const auto spot_of = [&](uint32_t c) {
    const Part& part = tables.parts[c];
    return Spot{part.place, tables.taker[c] == kNone ? extent_of(part.box) : 0};
  };
  sort_into(team, grid, m.n_parts, spot_of, tables);
  return grid;
}

/// Offers a track as owner to all components near it that have none. All lanes of a group call it for the
/// same track.
template <typename Team>
constexpr void offer_to_near_parts(const Team& team, const Matching& m, const PartLists& current,
                                   const Grid& grid, uint32_t i) {
  const TrackTables& tables = m.tables;
  const Box reach = reach_of(m, i);
  const int32_t least = size_of(m.tracks[i].width, m.tracks[i].height) / kLeastPart;
  grid.for_each_in(
      tables, lanes_of(team), least, [&](int32_t extent) { return widened(reach, extent); },
      [&](const SortedBox& box) {
        const uint32_t c = box.index;
        if (tables.taker[c] == kNone && current.owner[c] == kNone && may_own(m, i, tables.parts[c]) &&
            !are_apart(m, i, c)) {
          team.max(&tables.best[c], nearness_of(m, i, tables.parts[c]));
        }
      });
}

/// Writes to TrackTables::best, for all components that are left and overlap no track that owns them, which
/// track is the nearest.
template <typename Team>
constexpr void find_near_owners(const Team& team, const Matching& m, const PartLists& current,
                                const Grid& grid) {
  for (uint32_t i = group_rank(team); i < m.n_tracks; i += n_groups(team)) {
    if (m.is_shown(i) && (can_have_fragments(m, i) || comes_in(m, i))) {
      offer_to_near_parts(team, m, current, grid, i);
    }
  }
  team.sync();
}

/// The track that a component without one parted from: the one that it overlaps most; of equals the oldest.
constexpr uint32_t find_parent(const Matching& m, uint32_t c) {
  Choice choice;
  m.for_each_overlap_of(c, [&](const Overlap& overlap) {
    choice.offer(overlap.pixels, m.tables.oldest_of_previous[overlap.previous]);
  });
  return choice.index;
}

/// Calls visit(c) for all components that are still left.
template <typename Team, typename Visit>
constexpr void for_each_left_part(const Team& team, const Matching& m, const Visit& visit) {
  const TrackTables& tables = m.tables;
  const uint32_t n_left_parts = tables.header->n_left_parts;
  for (uint32_t k = team.rank(); k < n_left_parts; k += team.size()) {
    if (const uint32_t c = tables.left_parts[k]; tables.taker[c] == kNone) {
      visit(c);
    }
  }
}

/// Gives each component that is left to the track of which it is a fragment, or notes its parent. A track
/// that would have more than kMostPieces fragments has none. `of_all`: the grid of all components.
template <typename Team>
constexpr void share_out_fragments(const Team& team, const Matching& m, const PartLists& current,
                                   const Grid& of_all) {
  const TrackTables& tables = m.tables;
  const Grid grid = sorted_left_parts(team, m, of_all);
  for_each_left_part(team, m, [&](uint32_t c) {
    tables.best[c] = 0;
    const uint32_t member = m.member_of(c);
    current.owner[c] = member != kNone ? member : owner_of(find_overlapped_owner(m, c));
  });
  if (grid.is_used()) {
    team.sync();
    find_near_owners(team, m, current, grid);
  }
  for_each_left_part(team, m, [&](uint32_t c) {  // by the thread that looked at its overlaps
    if (current.owner[c] == kNone) {
      current.owner[c] = owner_of(grid.is_used() ? tables.best[c] : find_near_owner(m, c));
    }
    if (const uint32_t owner = current.owner[c]; owner != kNone) {
      team.add(&tables.n_offered[owner], 1u);
    }
  });
  team.sync();
  for_each_left_part(team, m, [&](uint32_t c) {
    if (const uint32_t owner = current.owner[c]; owner != kNone && tables.n_offered[owner] <= kMostPieces) {
      current.next_fragment[c] = team.exchange(&tables.fragment[owner], c);
    } else {
      current.owner[c] = kNone;
      tables.part_parent[c] = find_parent(m, c);
    }
  });
}

}  // namespace ccl::track
