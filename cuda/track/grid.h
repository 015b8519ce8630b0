// SPDX-License-Identifier: LGPL-2.1-or-later
/// Boxes sorted by place, so that those near a place are found without a look at all of them. A frame of
/// noise has more pairs of tracks and components than any machine can look at.
///
/// There is a grid of cells for each level: a box lies in the cell of its spot, at the first level whose
/// cells are not smaller than the box. So what can be near is in few cells of each level, for large boxes and
/// for small ones. The cells of a row follow each other in memory.
#pragma once

#include "track/matching.h"

namespace ccl::track {

constexpr int32_t extent_of(const Box& box) {
  return larger(box.width(), box.height());
}

/// The box with each side so much farther out. From every place a way of this many frames is as good as any.
constexpr Box widened(const Box& box, int64_t way) {
  constexpr int64_t kMost = int64_t{4} * kFarthest;
  const auto limited_way = static_cast<int32_t>(way < kMost ? way : kMost);
  return {box.left - limited_way, box.top - limited_way, box.right + limited_way, box.bottom + limited_way};
}

/// The sizes of all cells; the boxes are in TrackTables::cell_ends and TrackTables::sorted.
struct Grid {
  uint32_t width = 0;  ///< pixels; 0: boxes are not sorted, since there are few pairs
  uint32_t height = 0;
  uint32_t shift = 0;  ///< log2 of the extent of the smallest cells, pixels

  /// Smaller cells would not have fewer boxes near a track: see kLeastSize in steady.h.
  static constexpr uint32_t kLeastShift = 3;

  constexpr bool is_used() const { return width > 0; }

  constexpr uint32_t columns(uint32_t level) const { return ((width - 1) >> level) + 1; }
  constexpr uint32_t rows(uint32_t level) const { return ((height - 1) >> level) + 1; }
  constexpr uint32_t n_cells(uint32_t level) const { return columns(level) * rows(level); }
  constexpr bool is_last(uint32_t level) const { return n_cells(level) == 1; }

  constexpr uint32_t n_cells() const {
    uint32_t n = n_cells(shift);
    for (uint32_t level = shift; !is_last(level); ++level) {
      n += n_cells(level + 1);
    }
    return n;
  }

  /// Levels are named by the log2 of their cells' extent.
  constexpr uint32_t cell_of(const Spot& spot) const {
    uint32_t first = 0;
    uint32_t level = shift;
    for (; !is_last(level) && kUnit << level < spot.extent; ++level) {
      first += n_cells(level);
    }
    return first + cell_at(spot.place.y, height, level) * columns(level) +
           cell_at(spot.place.x, width, level);
  }

  /// Which column or row has a coordinate; the first or the last one if it is outside the frame.
  static constexpr uint32_t cell_at(int32_t place, uint32_t extent, uint32_t level) {
    const int32_t pixel = (place + kHalfUnit) >> kLog2Unit;
    const auto last = static_cast<int32_t>(extent) - 1;
    return static_cast<uint32_t>(pixel < 0 ? 0 : pixel > last ? last : pixel) >> level;
  }

  /// Calls visit(sorted) for all boxes of at least the extent `least` whose spots are in box_of(e), e the
  /// largest extent of boxes of a level, and for others near it, in any order. Of several lanes each visits
  /// its share.
  template <typename BoxOf, typename Visit>
  constexpr void for_each_in(const TrackTables& tables, const Lanes& lanes, int32_t least,
                             const BoxOf& box_of, const Visit& visit) const {
    uint32_t first = 0;
    for (uint32_t level = shift;; ++level) {
      const uint32_t n = n_cells(level);
      const bool has_large = kUnit << level >= least || is_last(level);
      if (has_large && tables.cell_ends[first] != tables.cell_ends[first + n]) {
        for_each_in_level(tables.cell_ends + first, tables.sorted, lanes, level, box_of(kUnit << level),
                          visit);
      }
      first += n;
      if (is_last(level)) {
        return;
      }
    }
  }

 private:
  /// `ends`: of the cell before the level's first one, and of the level's cells.
  template <typename Visit>
  constexpr void for_each_in_level(const uint32_t* ends, const SortedBox* sorted, const Lanes& lanes,
                                   uint32_t level, const Box& box, const Visit& visit) const {
    const uint32_t n_columns = columns(level);
    const uint32_t left = cell_at(box.left, width, level);
    const uint32_t right = cell_at(box.right, width, level);
    const uint32_t bottom = cell_at(box.bottom, height, level);
    for (uint32_t y = cell_at(box.top, height, level); y <= bottom; ++y) {
      const uint32_t end = ends[y * n_columns + right + 1];
      for (uint32_t k = ends[y * n_columns + left] + lanes.lane; k < end; k += lanes.n) {
        visit(sorted[k]);
      }
    }
  }
};

/// The grid of a frame, if so many pairs are too many to look at each of them. It has no more cells than
/// there are boxes or searches.
template <typename Team>
constexpr Grid grid_of(const Matching& m, uint64_t n_pairs) {
  if (!Team::kSorts || n_pairs <= m.tables.most_pairs) {
    return {};
  }
  Grid grid{m.frame.width, m.frame.height, Grid::kLeastShift};
  const uint32_t most = m.n_tracks > m.n_parts ? m.n_tracks : m.n_parts;
  while (!grid.is_last(grid.shift) && grid.n_cells() > most) {
    ++grid.shift;
  }
  return grid;
}

/// Sorts the spots of n items into the cells of a grid. It ends with sync().
template <typename Team, typename SpotOf>
constexpr void sort_into(const Team& team, const Grid& grid, uint32_t n, const SpotOf& spot_of,
                         const TrackTables& tables) {
  const uint32_t n_cells = grid.n_cells();
  uint32_t* ends = tables.cell_ends + 1;
  for (uint32_t k = team.rank(); k < n_cells + 1; k += team.size()) {
    tables.cell_ends[k] = 0;
  }
  team.sync();
  for (uint32_t i = team.rank(); i < n; i += team.size()) {
    const Spot spot = spot_of(i);
    const uint32_t cell = spot.extent > 0 ? grid.cell_of(spot) : kNone;
    tables.cell_of[i] = cell;
    if (cell != kNone) {
      team.add(ends + cell, 1);
    }
  }
  team.sync();
  const Stretch stretch = stretch_of(team, n_cells);
  uint32_t n_before = 0;
  for (uint32_t k = stretch.begin; k < stretch.end; ++k) {
    n_before += ends[k];
  }
  uint32_t total = 0;
  n_before = team.scan(n_before, &total);
  for (uint32_t k = stretch.begin; k < stretch.end; ++k) {
    const uint32_t count = ends[k];
    ends[k] = n_before;  // where the cell begins; it becomes the end as its items are written
    n_before += count;
  }
  team.sync();
  for (uint32_t i = team.rank(); i < n; i += team.size()) {
    if (const uint32_t cell = tables.cell_of[i]; cell != kNone) {
      tables.sorted[team.add(ends + cell, 1)] = {spot_of(i), i};
    }
  }
  team.sync();
}

}  // namespace ccl::track
