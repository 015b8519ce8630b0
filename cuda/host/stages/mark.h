// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that applies the filter: from the areas of components to their marks (ccl/filter.h).
#pragma once

#include <algorithm>
#include <cstdint>

#include "ccl/filter.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// Replaces the areas of these labels by their marks. A label of area 0, which is no component, gets mark 0.
/// A filter that looks at another sum needs that sum's array here. If no component can be left out, areas
/// are marks already and the call is not needed.
inline void mark(const Filter& filter, const IndexSpan& labels, uint32_t* areas) {
  std::transform(areas + labels.begin, areas + labels.end, areas + labels.begin,
                 [filter](uint32_t area) { return filter.mark({.area = area}); });
}

}  // namespace ccl::host
