// SPDX-License-Identifier: LGPL-2.1-or-later
/// The components in which a track may go on, and what speaks against each of them.
#pragma once

#include "track/grid.h"
#include "track/steady.h"

namespace ccl::track {

/* Costs. 256 is a distance of the size of the object, squared. */

inline constexpr int64_t kCostOfSize = 256;
/// A difference of area by a factor of two counts as much as a distance of 0.7 sizes.
inline constexpr uint32_t kCostOfOctave = 128;
/// More than any sum of costs that is worth it.
inline constexpr uint32_t kForbidden = 1u << 24;

/// What is inside the predicted box may be any part of the object: its area counts no more than this.
inline constexpr uint32_t kMostPartOctaves = 256;

/* What it costs to leave a track without a component. */

/// A track without a known velocity: so much that a row of fast objects is matched as a whole, and not each
/// object with the one that was nearest to it.
inline constexpr uint32_t kYoungUnmatched = 2048;
/// An established track: as much as a distance of two sizes. A fast object that bounces is not farther away.
inline constexpr uint32_t kEstablishedUnmatched = 1024;
/// A track that was not seen in the last frame: it takes nothing from one that was.
inline constexpr uint32_t kLostUnmatched = 384;

/* Gates */

/// What is smaller than this part of a track can be the track, or a fragment of it, only if they overlap. So
/// a track as large as the frame does not look at all that is in it.
inline constexpr int32_t kLeastPart = 64;

constexpr bool is_large_beside(int32_t size, const Box& box) {
  return extent_of(box) * kLeastPart >= size;
}

/// A track without a known velocity may move by so many halves of its size in a frame.
inline constexpr int64_t kYoungHalves = 3;
/// Areas differ by at most this factor, in octaves of 1/256, unless the object is partly hidden or outside.
inline constexpr uint32_t kMostOctaves = 2 * 256;
/// The gate of a lost track grows by its own radius each second, at most to three times of it.
inline constexpr uint64_t kGateGrowthUs = 1'000'000;
inline constexpr uint64_t kMostGateGrowthUs = 2 * kGateGrowthUs;

/// How far from its predicted place a track may be found. It may have stopped at once.
struct Gate {
  Place place;
  int32_t size;       ///< of the track
  bool is_young;      ///< without a known velocity
  int64_t way;        ///< that the track makes in this frame, 1/256 px
  int64_t growth_us;  ///< 0 if the track was seen in the last frame

  /// 1/256 px. It grows with the scale.
  constexpr int64_t radius(int64_t scale) const {
    const int64_t seen = scale + way;
    return is_young         ? scale * kYoungHalves / 2
           : growth_us == 0 ? seen
                            : seen + seen * growth_us / static_cast<int64_t>(kGateGrowthUs);
  }
};

constexpr Gate gate_of(const Matching& m, uint32_t i) {
  const TrackState& track = m.tracks[i];
  const int64_t speed = length_of(track.velocity.x, track.velocity.y);
  const int64_t way = speed * m.step.duration_us / kUsPerSecond;
  const uint64_t missed_us = track.n_missed > 0 ? (m.elapsed_ns - track.seen_ns) / uint64_t{kNsPerUs} : 0;
  const uint64_t growth_us = missed_us < kMostGateGrowthUs ? missed_us : kMostGateGrowthUs;
  return {.place = track.place,
          .size = size_of(track.width, track.height),
          .is_young = !m.is_established(i),
          .way = way < kFarthest ? way : kFarthest,
          .growth_us = static_cast<int64_t>(growth_us)};
}

/// Whether the part is large enough, and not too large, to be the track.
constexpr bool has_fitting_area(const Matching& m, uint32_t i, const Part& part) {
  const TrackState& track = m.tracks[i];
  return octaves_between(track.area, part.area) <= kMostOctaves || touches_border(part.box, m.frame) ||
         touches_border(track.box, m.frame) || is_inside_prediction(m, i, part.box);
}

/// The square of the distance that costs as much as kCostOfSize. Where in a group a member is, is an
/// estimate, and as unsure for a small one as for a large one: all members have the group's area.
constexpr int64_t square_unit(const Matching& m, uint32_t i, int64_t unit) {
  const TrackState& track = m.tracks[i];
  const bool is_member = m.was_merged(i) && track.component != kNone;
  const int64_t group = is_member ? int64_t{m.previous.area[track.component]} * kUnit * kUnit : 0;
  return group > unit * unit ? group : unit * unit;
}

/// By how many octaves a part differs from the track: in area, or in width and height together for a member
/// of a group, of which little else is known.
constexpr uint32_t octaves_off(const Matching& m, uint32_t i, const Part& part) {
  const TrackState& track = m.tracks[i];
  const uint32_t of_area = octaves_between(track.area, part.area);
  if (!m.was_merged(i)) {
    return of_area;
  }
  const auto extents_off = [](int32_t a, int32_t b) {
    return octaves_between(static_cast<uint32_t>(larger(a, 1)), static_cast<uint32_t>(b));
  };
  const uint32_t of_shape =
      extents_off(track.width, part.box.width()) + extents_off(track.height, part.box.height());
  return of_area > of_shape ? of_area : of_shape;
}

/// The cost of going on in the part; kForbidden if that is not possible, or costs more than `most`.
/// `overlaps`: the part overlaps what the last frame showed of the track, so it may be anywhere.
constexpr uint32_t cost_of(const Matching& m, uint32_t i, const Gate& gate, const Part& part, bool overlaps,
                           uint32_t most) {
  const int64_t scale = scale_of(gate.size, part);
  const int64_t radius = gate.radius(scale);
  const int64_t square = squared_distance(gate.place, part.place);
  if (!overlaps && (square > radius * radius || !is_large_beside(gate.size, part.box))) {
    return kForbidden;
  }
  const TrackState& track = m.tracks[i];
  const int64_t unit = square_unit(m, i, track.n_missed == 0 ? scale : radius);
  const int64_t limited = square < 64 * unit ? square : 64 * unit;
  const auto cost_of_way = static_cast<uint32_t>(limited * kCostOfSize / unit);
  const bool is_possible = overlaps || (cost_of_way <= most && has_fitting_area(m, i, part));
  if (!is_possible || (m.is_proven(i) && has_left(m, i, part))) {
    return kForbidden;
  }
  uint32_t octaves = octaves_off(m, i, part);
  if (octaves > kMostPartOctaves && is_inside_prediction(m, i, part.box)) {
    octaves = kMostPartOctaves;
  }
  return cost_of_way + octaves * kCostOfOctave / 256;
}

/// Whether a component is another track, or a piece of it: a confirmed one that it overlaps. A track that was
/// not seen gets no part of that; neither does noise beside an object get the object.
constexpr bool is_another(const Matching& m, uint32_t i, uint32_t c) {
  return m.tables.shows_confirmed[c] != 0 &&
         (m.tracks[i].n_missed > 0 ||
          (!m.is_proven(i) && octaves_between(m.tracks[i].area, m.tables.parts[c].area) > kMostOctaves));
}

/// Room for kCandidates, ascending.
struct CandidateList {
  Candidate* entries;
  uint32_t n = 0;
};

/// Keeps the cheapest candidates, ascending.
constexpr void insert(Candidate* candidates, uint32_t* n, const Candidate& candidate) {
  if (*n == kCandidates && candidate.order() >= candidates[kCandidates - 1].order()) {
    return;
  }
  for (uint32_t k = 0; k < *n; ++k) {
    if (candidates[k].part == candidate.part) {
      return;
    }
  }
  uint32_t k = *n < kCandidates ? (*n)++ : kCandidates;
  for (; k > 0 && candidate.order() < candidates[k - 1].order(); --k) {
    if (k < kCandidates) {
      candidates[k] = candidates[k - 1];
    }
  }
  if (k < kCandidates) {
    candidates[k] = candidate;
  }
}

/// All fragments of an object fit into a box that is larger than the object by this part of it, and by a few
/// pixels.
inline constexpr int32_t kFragmentPart = 4;
inline constexpr int32_t kFragmentPixels = 2 * kUnit;

constexpr bool fits(int32_t width, int32_t height, const Box& box) {
  return box.width() <= width + width / kFragmentPart + kFragmentPixels &&
         box.height() <= height + height / kFragmentPart + kFragmentPixels;
}
constexpr bool fits(const TrackState& track, const Box& box) {
  return fits(track.width, track.height, box);
}

constexpr uint32_t unmatched_cost_of(const Matching& m, uint32_t i) {
  if (m.tracks[i].n_missed > 0) {
    return kLostUnmatched;
  }
  return m.is_established(i) ? kEstablishedUnmatched : kYoungUnmatched;
}

/// Sorts all components, if the tracks that are left are too many to look at all of them.
template <typename Team>
constexpr Grid sorted_parts(const Team& team, const Matching& m) {
  const Part* parts = m.tables.parts;
  const Grid grid = grid_of<Team>(m, uint64_t{m.tables.header->n_left_tracks} * m.n_parts);
  if (grid.is_used()) {
    sort_into(
        team, grid, m.n_parts,
        [&](uint32_t c) {
          return Spot{parts[c].place, extent_of(parts[c].box)};
        },
        m.tables);
  }
  return grid;
}

/// Keeps a component if it is one of the cheapest ones for a track.
constexpr void consider(const Matching& m, uint32_t i, const Gate& gate, uint32_t c, bool overlaps,
                        CandidateList* list) {
  const uint32_t most = list->n < kCandidates ? kForbidden : list->entries[kCandidates - 1].cost;
  const uint32_t cost = cost_of(m, i, gate, m.tables.parts[c], overlaps, most);
  if (cost < kForbidden && !is_another(m, i, c)) {
    insert(list->entries, &list->n, {cost, c});
  }
}

/// Considers all components that are left and in the gate of a track, from their grid.
template <typename Team>
constexpr void consider_sorted(const Team& team, const Matching& m, const Grid& grid, const Gate& gate,
                               uint32_t i, CandidateList* list) {
  const TrackTables& tables = m.tables;
  const int32_t scale = larger(gate.size, kLeastSize);
  const Box at_place = {gate.place.x, gate.place.y, gate.place.x, gate.place.y};
  grid.for_each_in(
      tables, lanes_of(team), gate.size / kLeastPart,
      [&](int32_t extent) { return widened(at_place, gate.radius(larger(scale, extent))); },
      [&](const SortedBox& box) {
        const int64_t radius = gate.radius(larger(scale, box.spot.extent));
        if (squared_distance(gate.place, box.spot.place) <= radius * radius &&
            tables.taker[box.index] == kNone) {
          consider(m, i, gate, box.index, false, list);
        }
      });
}

/// Merges the lists of all lanes into that of the track, whose entries the lanes write in turn. What several
/// lanes have is one candidate. Returns how many there are.
template <typename Team>
constexpr uint32_t merge_candidates(const Team& team, const CandidateList& own, Candidate* merged) {
  uint32_t n = 0;
  for (uint32_t next = 0; n < kCandidates; ++n) {
    const uint64_t order = next < own.n ? own.entries[next].order() : UINT64_MAX;
    const uint64_t least = team.min_of_lanes(order);
    if (least == UINT64_MAX) {
      break;
    }
    next += order == least ? 1 : 0;
    if (lane_of(team) == n % Team::kLanes) {
      merged[n] = {static_cast<uint32_t>(least >> 32), static_cast<uint32_t>(least)};
    }
  }
  return n;
}

/// Makes the list of candidates of a track among the components that are left. `grid`: of all components. All
/// lanes of a group call it for the same track. Returns how many there are.
template <typename Team>
constexpr uint32_t find_candidates(const Team& team, const Matching& m, const Grid& grid, uint32_t i) {
  const TrackTables& tables = m.tables;
  const Gate gate = gate_of(m, i);
  Candidate of_lane[Team::kLanes > 1 ? kCandidates : 1] = {};
  CandidateList list{Team::kLanes > 1 ? of_lane : tables.candidates_of(i)};
  m.for_each_overlap(i, [&](const Overlap& overlap) {
    if (lane_of(team) == 0 && tables.taker[overlap.current] == kNone) {
      consider(m, i, gate, overlap.current, true, &list);
    }
  });
  if (grid.is_used()) {
    consider_sorted(team, m, grid, gate, i, &list);
  } else {
    for (uint32_t k = lane_of(team); k < tables.header->n_left_parts; k += Team::kLanes) {
      consider(m, i, gate, tables.left_parts[k], false, &list);
    }
  }
  if constexpr (Team::kLanes > 1) {
    list.n = merge_candidates(team, list, tables.candidates_of(i));
  }
  if (lane_of(team) == 0) {
    tables.n_candidates[i] = list.n;
    tables.unmatched_cost[i] = unmatched_cost_of(m, i);
  }
  return list.n;
}

}  // namespace ccl::track
