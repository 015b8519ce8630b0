// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a run of pixels, or a rectangle of such runs, adds to its component's sums.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ccl/config.h"
#include "ccl/sums.h"

namespace ccl::host {

/// Pixels x0..x1 − 1 of row y, which have one label.
struct Run {
  uint32_t label;
  uint32_t y, x0, x1;
};

/// 0² + 1² + … + (k − 1)².
constexpr uint64_t sum_of_squares_below(uint64_t k) {
  return k == 0 ? 0 : (k - 1) * k * (2 * k - 1) / 6;
}

/// Pixels x0..x1 − 1 of rows y..y + n_rows − 1, which have one label.
struct Rectangle {
  uint32_t x0, x1;
  uint32_t y, n_rows;
};

/// Sums over the rows of a rectangle.
struct RowSums {
  RowSums(uint32_t y_begin, uint32_t y_end)
      : n(y_end - y_begin),
        y(n * (uint64_t{y_begin} + y_end - 1) / 2),
        yy(sum_of_squares_below(y_end) - sum_of_squares_below(y_begin)) {}

  uint64_t n, y, yy;
};

/// A rectangle's part of the sums, in closed form.
inline void add_geometry(const Rectangle& rectangle, const RowSums& rows, uint32_t features, Sums& sums) {
  const uint64_t n = rectangle.x1 - rectangle.x0;
  const uint64_t x = n * (uint64_t{rectangle.x0} + rectangle.x1 - 1) / 2;
  sums.x_min = std::min(sums.x_min, rectangle.x0);
  sums.x_max = std::max(sums.x_max, rectangle.x1 - 1);
  sums.y_min = std::min(sums.y_min, rectangle.y);
  sums.y_max = std::max(sums.y_max, rectangle.y + rectangle.n_rows - 1);
  sums.x += x * rows.n;
  sums.y += n * rows.y;
  if (features & kFeatureMoments) {
    const uint64_t xx = sum_of_squares_below(rectangle.x1) - sum_of_squares_below(rectangle.x0);
    sums.xx += xx * rows.n;
    sums.xy += x * rows.y;
    sums.yy += n * rows.yy;
  }
}

}  // namespace ccl::host
