// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/run_measure.h"

#include <algorithm>

#include "host/run_shape.h"
#include "host/run_sums.h"
#include "host/strip_labeler.h"

namespace ccl::host {

namespace {

/// A run of L pixels has 2L + 2 edges, and every pair of pixels above each other in linked runs hides two.
///
/// The Euler number of a component is its runs minus its links: a run adds one to the pixels minus their
/// horizontal pairs; a link of k ≥ 1 overlapping pixels adds k − 1 full 2×2 windows and k vertical pairs;
/// and a link by a corner alone is one of the windows that pixel_shape() subtracts.
void add_shape(uint32_t length, uint32_t shape, Sums* sums) {
  sums->perimeter += 2 * length + 2 - 2 * overlap_of_shape(shape);
  sums->euler += 1 - static_cast<int32_t>(links_of_shape(shape));
}

/// What does not change from run to run, as template arguments: the loop has no branch on it.
template <uint32_t kFeatures, bool kValues>
void measure(const RunTable& table, const Strip& strip, const SumSlots& slots) {
  const uint16_t* begin = table.begin();
  const uint16_t* end = table.end();
  const uint32_t* label = table.label();
  for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
    const RowRuns row = table.row(y);
    for (uint32_t run = row.begin; run < row.end; ++run) {
      const uint32_t slot = slots.slots[label[run]];
      if (slot == kNoRecord) {
        continue;
      }
      Sums& sums = slots.sums[slot];
      add_geometry({.label = 0, .y = y, .x0 = begin[run], .x1 = end[run]}, kFeatures, sums);
      if constexpr ((kFeatures & (kFeaturePerimeter | kFeatureEuler)) != 0) {
        add_shape(static_cast<uint32_t>(end[run] - begin[run]), table.shape()[run], &sums);
      }
      if constexpr (kValues) {
        if (slot < slots.n_records) {
          slots.records[slot].value = table.segment()[run];
        }
      }
    }
  }
}

template <bool kValues>
void measure_features(const RunTable& table, const Strip& strip, const Settings& settings,
                      const SumSlots& slots) {
  const bool with_moments = (settings.features & kFeatureMoments) != 0;
  if (needs_shapes(settings)) {
    with_moments ? measure<kAllFeatures, kValues>(table, strip, slots)
                 : measure<kFeaturePerimeter | kFeatureEuler, kValues>(table, strip, slots);
  } else {
    with_moments ? measure<kFeatureMoments, kValues>(table, strip, slots)
                 : measure<0, kValues>(table, strip, slots);
  }
}

}  // namespace

void measure_runs(const RunTable& table, const Strip& strip, const Settings& settings,
                  const SumSlots& slots) {
  if (settings.rule.foreground == Foreground::kValues) {
    measure_features<true>(table, strip, settings, slots);
  } else {
    measure_features<false>(table, strip, settings, slots);
  }
}

void add_sums(const Sums& part, Sums* whole) {
  whole->x_min = std::min(whole->x_min, part.x_min);
  whole->y_min = std::min(whole->y_min, part.y_min);
  whole->x_max = std::max(whole->x_max, part.x_max);
  whole->y_max = std::max(whole->y_max, part.y_max);
  whole->x += part.x;
  whole->y += part.y;
  whole->xx += part.xx;
  whole->xy += part.xy;
  whole->yy += part.yy;
  whole->perimeter += part.perimeter;
  whole->euler += part.euler;
}

}  // namespace ccl::host
