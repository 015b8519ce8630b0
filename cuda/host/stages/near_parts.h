// SPDX-License-Identifier: LGPL-2.1-or-later
/// Components by place, for the searches of the CPU's tracks: as track/grid.h, but all that a search reads of
/// a component lies in its cell, and the cells nearest to a place are looked at first.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

#include "track/grid.h"

namespace ccl::host {

/// Components in the cells of a grid (track/grid.h), which follow each other row by row, level by level.
class NearParts {
 public:
  /// Takes all memory, and fills none of it in advance, as KeptRuns.
  explicit NearParts(const track::TrackSizes& sizes)
      : parts_(std::make_unique_for_overwrite<Entry[]>(sizes.max_components)),
        nearness_(std::make_unique_for_overwrite<uint64_t[]>(sizes.max_components)) {}

  /// Two of them fill a line of the cache.
  struct alignas(32) Entry {
    track::Part part;
    uint32_t index : 30;
    uint32_t is_taken : 1;         ///< when it was sorted
    uint32_t shows_confirmed : 1;  ///< see TrackTables; of those that are not taken
  };

  /// The cells of one size that have a component.
  struct Level {
    uint32_t log2_extent;
    uint32_t first_cell;
    uint32_t n_columns;
    uint32_t most_area;  ///< of its components
    int32_t extent;      ///< a component is no longer, 1/256 px
  };

  /// Sorts the components for which is_wanted(c).
  template <typename IsWanted>
  void sort(const track::Matching& m, const track::Grid& grid, const IsWanted& is_wanted);

  /// Drops those for which not is_wanted(c).
  template <typename IsWanted>
  void keep(const IsWanted& is_wanted);

  /// Calls visit(level) for all levels, from small components to large ones.
  template <typename Visit>
  void for_each_level(const Visit& visit) const {
    std::for_each(levels_.begin(), levels_.begin() + n_levels_, visit);
  }

  /// Calls visit(entry) for all components of a level whose place is no farther away than the square root of
  /// limit(), which may get smaller with each call; the nearest rows first.
  template <typename Limit, typename Visit>
  void for_each_within(const Level& level, const track::Place& place, const Limit& limit,
                       const Visit& visit) const;

  /// Calls visit(entry, nearness) for all components of a level in the cells of a box.
  template <typename Visit>
  void for_each_in(const Level& level, const track::Box& box, const Visit& visit) const;

  uint32_t size() const { return ends_[n_cells_]; }

  /// The nearness of a component is 0 until a visit changes it.
  void clear_nearness() const { std::fill_n(nearness_.get(), size(), 0); }

  /// Calls visit(entry, nearness) for all components.
  template <typename Visit>
  void for_each(const Visit& visit) const {
    for (uint32_t k = 0; k < size(); ++k) {
      visit(parts_[k], nearness_[k]);
    }
  }

 private:
  void open(const track::Grid& grid);
  uint32_t add_to_level(const track::Part& part);

  uint32_t column_of(const Level& level, int32_t x) const {
    return track::Grid::cell_at(x, grid_.width, level.log2_extent);
  }
  uint32_t row_of(const Level& level, int32_t y) const {
    return track::Grid::cell_at(y, grid_.height, level.log2_extent);
  }

  /// Calls visit(k) for the entries of a row from column `begin` to the one before `end`.
  template <typename Visit>
  void for_each_in_row(const Level& level, uint32_t row, uint32_t begin, uint32_t end,
                       const Visit& visit) const {
    const uint32_t* ends = ends_ + level.first_cell + row * level.n_columns;
    const uint32_t k_end = ends[end];
    for (uint32_t k = ends[begin]; k < k_end; ++k) {
      visit(k);
    }
  }

  track::Grid grid_;
  uint32_t* ends_ = nullptr;  ///< TrackTables::cell_ends
  uint32_t n_cells_ = 0;
  std::unique_ptr<Entry[]> parts_;
  std::unique_ptr<uint64_t[]> nearness_;  ///< per entry: see nearness_of()
  std::array<Level, 33> levels_;
  uint32_t n_levels_ = 0;
};

inline void NearParts::open(const track::Grid& grid) {
  grid_ = grid;
  n_levels_ = 0;
  n_cells_ = 0;
  for (uint32_t log2 = grid.shift;; ++log2) {
    levels_[n_levels_++] = {log2, n_cells_, grid.columns(log2), 0, track::kUnit << log2};
    n_cells_ += grid.n_cells(log2);
    if (grid.is_last(log2)) {
      return;
    }
  }
}

/// As Grid::cell_of(), without a count of the cells before a level.
inline uint32_t NearParts::add_to_level(const track::Part& part) {
  const int32_t extent = track::extent_of(part.box);
  Level* level = levels_.data();
  while (level->extent < extent) {
    ++level;
  }
  level->most_area = std::max(level->most_area, part.area);
  return level->first_cell + row_of(*level, part.place.y) * level->n_columns +
         column_of(*level, part.place.x);
}

template <typename IsWanted>
void NearParts::sort(const track::Matching& m, const track::Grid& grid, const IsWanted& is_wanted) {
  const track::TrackTables& tables = m.tables;
  open(grid);
  ends_ = tables.cell_ends;
  std::fill_n(ends_, n_cells_ + 1, 0);
  for (uint32_t c = 0; c < m.n_parts; ++c) {
    tables.cell_of[c] = is_wanted(c) ? add_to_level(tables.parts[c]) : track::kNone;
    if (tables.cell_of[c] != track::kNone) {
      ++ends_[tables.cell_of[c] + 1];
    }
  }
  uint32_t n = 0;
  for (uint32_t cell = 1; cell <= n_cells_; ++cell) {
    const uint32_t count = ends_[cell];
    ends_[cell] = n;  // where the cell begins; it becomes the end as its components are written
    n += count;
  }
  for (uint32_t c = 0; c < m.n_parts; ++c) {
    if (const uint32_t cell = tables.cell_of[c]; cell != track::kNone) {
      const bool is_taken = tables.taker[c] != track::kNone;
      const bool shows_confirmed = !is_taken && tables.shows_confirmed[c] != 0;
      parts_[ends_[cell + 1]++] = {tables.parts[c], c, is_taken ? 1u : 0u, shows_confirmed ? 1u : 0u};
    }
  }
  n_levels_ = static_cast<uint32_t>(std::remove_if(levels_.begin(), levels_.begin() + n_levels_,
                                                   [](const Level& level) { return level.most_area == 0; }) -
                                    levels_.begin());
}

template <typename IsWanted>
void NearParts::keep(const IsWanted& is_wanted) {
  uint32_t n = 0;
  uint32_t k = 0;
  for (uint32_t cell = 1; cell <= n_cells_; ++cell) {
    for (; k < ends_[cell]; ++k) {
      const uint32_t index = parts_[k].index;
      parts_[n] = parts_[k];
      n += is_wanted(index) ? 1 : 0;
    }
    ends_[cell] = n;
  }
}

template <typename Limit, typename Visit>
void NearParts::for_each_within(const Level& level, const track::Place& place, const Limit& limit,
                                const Visit& visit) const {
  const auto root = [](int64_t square) {
    return static_cast<int32_t>(std::min(std::sqrt(static_cast<double>(square)), 0x1p28)) + 1;
  };
  const auto visit_row = [&](uint32_t row) {
    const int32_t top = static_cast<int32_t>(row << level.log2_extent) * track::kUnit - track::kHalfUnit;
    const int64_t y = std::max({top - place.y, place.y - (top + level.extent), 0});
    if (y * y > limit()) {
      return;
    }
    const auto visit_near = [&](uint32_t k) {
      if (track::squared_distance(place, parts_[k].part.place) <= limit()) {
        visit(parts_[k]);
      }
    };
    const uint32_t left = column_of(level, place.x - level.extent);
    const uint32_t right = column_of(level, place.x + level.extent) + 1;
    for_each_in_row(level, row, left, right, visit_near);
    if (const int64_t x_square = limit() - y * y; x_square > int64_t{level.extent} * level.extent) {
      const int32_t x = root(x_square);
      for_each_in_row(level, row, column_of(level, place.x - x), left, visit_near);
      for_each_in_row(level, row, right, column_of(level, place.x + x) + 1, visit_near);
    }
  };
  if (limit() < 0) {
    return;
  }
  const int32_t reach = root(limit());
  const uint32_t middle = row_of(level, place.y);
  const uint32_t n_above = middle - row_of(level, place.y - reach);
  const uint32_t n_below = row_of(level, place.y + reach) - middle;
  visit_row(middle);
  for (uint32_t r = 1; r <= std::max(n_above, n_below); ++r) {
    if (r <= n_above) {
      visit_row(middle - r);
    }
    if (r <= n_below) {
      visit_row(middle + r);
    }
  }
}

template <typename Visit>
void NearParts::for_each_in(const Level& level, const track::Box& box, const Visit& visit) const {
  const uint32_t last = row_of(level, box.bottom);
  for (uint32_t row = row_of(level, box.top); row <= last; ++row) {
    for_each_in_row(level, row, column_of(level, box.left), column_of(level, box.right) + 1,
                    [&](uint32_t k) { visit(parts_[k], nearness_[k]); });
  }
}

}  // namespace ccl::host
