// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a run of pixels adds to its component's sums.
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

/// A run's part of the sums, in closed form.
inline void add_geometry(const Run& run, uint32_t features, Sums& sums) {
  const uint64_t n = run.x1 - run.x0;
  const uint64_t x = n * (uint64_t{run.x0} + run.x1 - 1) / 2;
  sums.x_min = std::min(sums.x_min, run.x0);
  sums.x_max = std::max(sums.x_max, run.x1 - 1);
  sums.y_min = std::min(sums.y_min, run.y);
  sums.y_max = std::max(sums.y_max, run.y);
  sums.x += x;
  sums.y += n * run.y;
  if (features & kFeatureMoments) {
    sums.xx += sum_of_squares_below(run.x1) - sum_of_squares_below(run.x0);
    sums.xy += x * run.y;
    sums.yy += n * run.y * run.y;
  }
}

}  // namespace ccl::host
