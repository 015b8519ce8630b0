// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that applies the filter: from the areas of components to their marks (ccl/filter.h).
#pragma once

#include <cstdint>

#include "ccl/filter.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// Replaces the areas of these labels by their marks. A label of area 0, which is no component, gets mark 0.
/// A filter that looks at another sum needs that sum's array here. If no component can be left out, areas
/// are marks already and the call is not needed.
///
/// Returns the number of components that are kept.
inline uint32_t mark(const Filter& filter, const IndexSpan& labels, uint32_t* areas) {
  uint32_t n_kept = 0;
  for (uint32_t label = labels.begin; label < labels.end; ++label) {
    areas[label] = filter.mark({.area = areas[label]});
    n_kept += areas[label] != 0 ? 1 : 0;
  }
  return n_kept;
}

}  // namespace ccl::host
