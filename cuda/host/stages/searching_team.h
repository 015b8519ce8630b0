// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CPU's team of the track stage: one thread that has searches of its own in place of those of
/// cuda/track/. They find the same, in less time where a frame has tens of thousands of components.
#pragma once

#include <algorithm>
#include <cstdint>

#include "host/stages/near_parts.h"
#include "track/share.h"

namespace ccl::host {

/// Calls of the functions below with this team do not choose the templates of cuda/track/.
struct SearchingTeam : track::HostTeam {
  NearParts* near_parts;
};

inline track::Grid sorted_parts(const SearchingTeam& team, const track::Matching& m) {
  const auto grid = track::grid_of<SearchingTeam>(m, uint64_t{m.tables.header->n_left_tracks} * m.n_parts);
  if (grid.is_used()) {
    team.near_parts->sort(m, grid, [](uint32_t) { return true; });
  }
  return grid;
}

/// The square of the distance up to which a candidate may cost `most`, if its area adds at least `of_area`.
inline int64_t farthest_square(int64_t unit, uint32_t most, uint32_t of_area) {
  if (most < of_area) {
    return -1;
  }
  const int64_t cost = int64_t{most - of_area} + 1;
  return cost > 64 * track::kCostOfSize ? INT64_MAX : (cost * unit - 1) / track::kCostOfSize;
}

/// What no component of a level can cost less than, for its area.
inline uint32_t least_cost_of_area(const track::TrackState& track, const NearParts::Level& level) {
  const uint32_t octaves =
      track.area > level.most_area ? track::octaves_between(track.area, level.most_area) : 0;
  return std::min(octaves, track::kMostPartOctaves) * track::kCostOfOctave / 256;
}

/// As soon as there are kCandidates of them, only what is nearer than the last one can cost less.
inline uint32_t consider_sorted(const SearchingTeam& team, const track::Matching& m, const track::Grid&,
                                const track::Gate& gate, uint32_t i, uint32_t n) {
  using namespace track;
  Candidate* candidates = m.tables.candidates + size_t{i} * kCandidates;
  const TrackState& track = m.tracks[i];
  team.near_parts->for_each_level([&](const NearParts::Level& level) {
    const int64_t scale = larger(larger(gate.size, kLeastSize), level.extent);
    const int64_t radius = gate.radius(scale);
    const int64_t unit = square_unit(m, i, track.n_missed == 0 ? scale : radius);
    const uint32_t of_area = least_cost_of_area(track, level);
    int64_t limit = radius * radius;
    const auto shrink = [&] {
      if (n == kCandidates) {
        limit = std::min(limit, farthest_square(unit, candidates[kCandidates - 1].cost, of_area));
      }
    };
    shrink();
    team.near_parts->for_each_within(
        level, gate.place, [&] { return limit; },
        [&](const NearParts::Entry& entry) {
          const uint32_t c = entry.index;
          if (entry.is_taken != 0) {
            return;
          }
          const uint32_t most = n < kCandidates ? kForbidden : candidates[kCandidates - 1].cost;
          const uint32_t cost = cost_of(m, i, gate, entry.part, false, most);
          if (cost < kForbidden && (entry.shows_confirmed == 0 || !is_another(m, i, c))) {
            insert(candidates, &n, {cost, c});
            shrink();
          }
        });
  });
  return n;
}

inline uint32_t find_covering_host(const SearchingTeam& team, const track::Matching& m,
                                   const track::Grid& grid, uint32_t i) {
  using namespace track;
  if (!grid.is_used()) {
    return find_covering_host(static_cast<const HostTeam&>(team), m, grid, i);
  }
  Choice choice;
  const Box& box = m.tables.predicted[i];
  const track::Place middle = {box.left + box.width() / 2, box.top + box.height() / 2};
  team.near_parts->for_each_level([&](const NearParts::Level& level) {
    team.near_parts->for_each_in(
        level, widened({middle.x, middle.y, middle.x + 1, middle.y + 1}, level.extent),
        [&](const NearParts::Entry& entry, uint64_t&) { offer_covering(m, i, entry.index, &choice); });
  });
  return choice.index;
}

inline track::Grid sorted_left_parts(const SearchingTeam& team, const track::Matching& m,
                                     const track::Grid& of_all) {
  const auto grid = track::grid_of<SearchingTeam>(m, uint64_t{m.tables.header->n_left_parts} * m.n_tracks);
  if (!grid.is_used() || of_all.is_used()) {
    return of_all;
  }
  team.near_parts->sort(m, grid, [&](uint32_t c) { return m.tables.taker[c] == track::kNone; });
  return grid;
}

/// What may_be_fragment() says of a track, as limits of the component: a loop over thousands of components
/// has no branch for them.
class FragmentLimits {
 public:
  FragmentLimits(const track::Matching& m, uint32_t i) {
    const track::TrackState& track = m.tracks[i];
    const track::Part& main = m.tables.parts[m.tables.matched[i]];
    width_ = track.width + track.width / track::kFragmentPart + track::kFragmentPixels;
    height_ = track.height + track.height / track::kFragmentPart + track::kFragmentPixels;
    most_area_ = int64_t{track.area} - main.area;
    fit_with(main.box);
    if (track::touches_border(main.box, m.frame)) {
      fit_with(m.tables.predicted[i]);
    }
  }

  bool allow_any() const { return most_area_ > 0; }
  /// What is allowed lies in it.
  const track::Box& box() const { return limits_; }

  bool allow(const track::Part& part) const {
    const track::Box& box = part.box;
    unsigned is_allowed = box.left >= limits_.left;
    is_allowed &= box.top >= limits_.top;
    is_allowed &= box.right <= limits_.right;
    is_allowed &= box.bottom <= limits_.bottom;
    is_allowed &= box.width() <= width_;
    is_allowed &= box.height() <= height_;
    is_allowed &= part.area <= most_area_;
    return is_allowed != 0;
  }

 private:
  /// The hull with this box is no larger than width_ and height_.
  void fit_with(const track::Box& box) {
    const bool fits = box.width() <= width_ && box.height() <= height_;
    most_area_ = fits ? most_area_ : -1;
    limits_ = track::common_box(
        limits_, {box.right - width_, box.bottom - height_, box.left + width_, box.top + height_});
  }

  int32_t width_, height_;
  int64_t most_area_;
  track::Box limits_ = {INT32_MIN, INT32_MIN, INT32_MAX, INT32_MAX};
};

/// Calls visit(entry, nearness) for all components of which a track may be the owner, and others.
template <typename Visit>
void for_each_near_part(const SearchingTeam& team, const track::Matching& m, uint32_t i, bool is_coming,
                        const FragmentLimits& limits, const Visit& visit) {
  if (is_coming) {
    const track::Box reach = track::reach_of(m, i);
    team.near_parts->for_each_level([&](const NearParts::Level& level) {
      team.near_parts->for_each_in(level, track::widened(reach, level.extent), visit);
    });
  } else if (limits.allow_any()) {
    team.near_parts->for_each_level(
        [&](const NearParts::Level& level) { team.near_parts->for_each_in(level, limits.box(), visit); });
  }
}

/// Offers a track as owner to all components near it.
inline void offer_to_near_parts(const SearchingTeam& team, const track::Matching& m, uint32_t i) {
  const bool is_established = m.is_established(i);
  const bool is_coming = track::comes_in(m, i);
  if (!is_established && !is_coming) {
    return;
  }
  const FragmentLimits limits(m, i);
  for_each_near_part(team, m, i, is_coming, limits, [&](const NearParts::Entry& entry, uint64_t& nearness) {
    const track::Part& part = entry.part;
    const bool is_fragment = is_established && limits.allow(part);
    if ((is_fragment || (is_coming && track::comes_in_with(m, i, part.box))) &&
        !track::are_apart(m, i, part)) {
      nearness = std::max(nearness, track::nearness_of(m, i, part));
    }
  });
}

inline void find_near_owners(const SearchingTeam& team, const track::Matching& m,
                             const track::PartLists& current, const track::Grid&) {
  const track::TrackTables& tables = m.tables;
  const auto is_wanted = [&](uint32_t c) {
    return tables.taker[c] == track::kNone && current.owner[c] == track::kNone;
  };
  uint32_t n_wanted = 0;
  for (uint32_t c = 0; c < m.n_parts; ++c) {
    n_wanted += is_wanted(c) ? 1 : 0;
  }
  if (n_wanted < team.near_parts->size() / 4 * 3) {  // offers to the others do no harm
    team.near_parts->keep(is_wanted);
  }
  team.near_parts->clear_nearness();
  for (uint32_t i = 0; i < m.n_tracks; ++i) {
    if (m.is_shown(i)) {
      offer_to_near_parts(team, m, i);
    }
  }
  team.near_parts->for_each(
      [&](const NearParts::Entry& entry, uint64_t nearness) { tables.best[entry.index] = nearness; });
}

}  // namespace ccl::host
