// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a rectangle of pixels adds to the sums of its component, and how sums are added.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "ccl/config.h"
#include "ccl/sums.h"

namespace ccl::host {

/// begin² + … + (end − 1)²: n times the square of the mean, plus the squared deviations from it.
constexpr uint64_t sum_of_squares(uint64_t begin, uint64_t end) {
  const uint64_t n = end - begin;
  const uint64_t twice_mean = begin + end - 1;
  return n * (3 * twice_mean * twice_mean + n * n - 1) / 12;
}

/// Pixels x0..x1 − 1 of rows y..y + n_rows − 1.
struct Rectangle {
  uint32_t x0, x1;
  uint32_t y, n_rows;
};

/// Sums over the rows of a rectangle.
struct RowSums {
  RowSums(uint32_t y_begin, uint32_t y_end)
      : n(y_end - y_begin), y(n * (uint64_t{y_begin} + y_end - 1) / 2), yy(sum_of_squares(y_begin, y_end)) {}

  uint64_t n, y, yy;
};

/// The sums that every record needs.
struct BasicSums {
  uint32_t x_min = std::numeric_limits<uint32_t>::max();
  uint32_t y_min = std::numeric_limits<uint32_t>::max();
  uint32_t x_max = 0;
  uint32_t y_max = 0;
  uint64_t x = 0;
  uint64_t y = 0;
};

/// The sums of a rectangle, in closed form. `Geometry` is Sums or, without features, BasicSums.
template <typename Geometry>
Geometry geometry(const Rectangle& rectangle, const RowSums& rows, uint32_t features) {
  const uint64_t n = rectangle.x1 - rectangle.x0;
  const uint64_t x = n * (uint64_t{rectangle.x0} + rectangle.x1 - 1) / 2;
  Geometry sums{.x_min = rectangle.x0,
                .y_min = rectangle.y,
                .x_max = rectangle.x1 - 1,
                .y_max = rectangle.y + rectangle.n_rows - 1,
                .x = x * rows.n,
                .y = n * rows.y};
  if constexpr (std::is_same_v<Geometry, Sums>) {
    if (features & kFeatureMoments) {
      sums.xx = sum_of_squares(rectangle.x0, rectangle.x1) * rows.n;
      sums.xy = x * rows.y;
      sums.yy = n * rows.yy;
    }
  }
  return sums;
}

template <typename Part, typename Whole>
void add_basic_sums(const Part& part, Whole* whole) {
  whole->x_min = std::min(whole->x_min, part.x_min);
  whole->y_min = std::min(whole->y_min, part.y_min);
  whole->x_max = std::max(whole->x_max, part.x_max);
  whole->y_max = std::max(whole->y_max, part.y_max);
  whole->x += part.x;
  whole->y += part.y;
}

/// Adds the sums of a part to those of the whole.
inline void add_sums(const BasicSums& part, BasicSums* whole) {
  add_basic_sums(part, whole);
}

inline void add_sums(const BasicSums& part, Sums* whole) {
  add_basic_sums(part, whole);
}

inline void add_sums(const Sums& part, Sums* whole) {
  add_basic_sums(part, whole);
  whole->xx += part.xx;
  whole->xy += part.xy;
  whole->yy += part.yy;
  whole->perimeter += part.perimeter;
  whole->euler += part.euler;
}

}  // namespace ccl::host
