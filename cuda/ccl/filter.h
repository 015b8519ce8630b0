// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components are kept. A component that is not kept has no record and is painted as background. Labels
/// are those of the unfiltered frame, so they do not depend on the filter.
///
/// A filter is decided once per component, into its *mark*: the component's area, or 0 if it is not kept.
/// Selection, overflow and painting read marks only. So a new filter needs a field here, a condition in
/// is_active(), can_keep() and keeps(), and the sums that it reads.
#pragma once

#include <cstdint>
#include <limits>

namespace ccl {

/// The sums of a component that the filter reads.
struct FilterSums {
  uint32_t area;  ///< pixels, at least 1

  /// Sums that every inactive filter keeps.
  static constexpr FilterSums smallest() { return {.area = 1}; }
};

struct Filter {
  uint32_t min_area = 1;
  uint32_t max_area = std::numeric_limits<uint32_t>::max();

  /// A filter that keeps every component.
  static constexpr Filter neutral() { return {.min_area = 0}; }

  /// Whether some component of a frame of `n_pixels` pixels may be left out.
  constexpr bool is_active(uint32_t n_pixels) const { return min_area > 1 || max_area < n_pixels; }

  /// Whether some component of a frame of `n_pixels` pixels may be kept.
  constexpr bool can_keep(uint32_t n_pixels) const {
    return min_area <= (max_area < n_pixels ? max_area : n_pixels);
  }

  constexpr bool keeps(const FilterSums& sums) const {
    return min_area <= sums.area && sums.area <= max_area;
  }

  /// The component's mark: its area if it is kept, else 0.
  constexpr uint32_t mark(const FilterSums& sums) const { return keeps(sums) ? sums.area : 0; }

  bool operator==(const Filter&) const = default;
};

}  // namespace ccl
