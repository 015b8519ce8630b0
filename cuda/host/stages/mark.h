// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that applies the filter: from the sums of components to their marks (ccl/filter.h).
#pragma once

#include <array>
#include <cstdint>

#include "ccl/filter.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// What marking counts; see FrameCounts.
struct MarkCounts {
  uint32_t n_kept = 0;
  std::array<uint32_t, kFilterConditions> n_removed{};
};

/// Replaces the areas of these labels by their marks, by a filter that reads areas only. A label of area 0,
/// which is no component, gets mark 0. If no component can be left out, areas are marks already and the call
/// is not needed.
inline MarkCounts mark_by_area(const Filter& filter, const IndexSpan& labels, uint32_t* areas) {
  uint32_t n_kept = 0;
  uint32_t n_small = 0;
  uint32_t n_large = 0;
  for (uint32_t label = labels.begin; label < labels.end; ++label) {
    const uint32_t area = areas[label];
    const uint32_t is_small = area < filter.min_area ? 1 : 0;
    const uint32_t is_large = area > filter.max_area ? 1 : 0;
    const uint32_t is_component = area != 0 ? 1 : 0;
    const uint32_t is_kept = is_component & ~(is_small | is_large);
    n_small += is_component & is_small;
    n_large += is_component & is_large & ~is_small;
    n_kept += is_kept;
    areas[label] = area & (0 - is_kept);
  }
  MarkCounts counts{.n_kept = n_kept};
  counts.n_removed[kMinArea] = n_small;
  counts.n_removed[kMaxArea] = n_large;
  return counts;
}

/// The same for a filter that reads other sums. `sums_of(label)` returns the FilterSums of a component.
template <typename SumsOf>
MarkCounts mark_by_sums(const Filter& filter, const IndexSpan& labels, SumsOf sums_of, uint32_t* areas) {
  MarkCounts counts;
  for (uint32_t label = labels.begin; label < labels.end; ++label) {
    if (areas[label] == 0) {
      continue;
    }
    const uint32_t failed = filter.failed_condition(sums_of(label));
    if (failed == kPassed) {
      ++counts.n_kept;
    } else {
      areas[label] = 0;
      ++counts.n_removed[failed];
    }
  }
  return counts;
}

}  // namespace ccl::host
