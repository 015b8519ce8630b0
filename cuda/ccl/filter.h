// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components are kept. A component that is not kept has no record and is painted as background. Labels
/// are those of the unfiltered frame, so they do not depend on the filter.
///
/// A filter is decided once per component, into its *mark*: the component's area, or 0 if it is not kept.
/// Selection, overflow and painting read marks only. So a new condition needs a value of FilterCondition, a
/// field here, lines in needs() and in failed_condition(), the sums that it reads, and a row of settings.def.
///
/// All decisions are exact: they compare integers. Real limits are fixed-point numbers, in 1/kFilterOne.
#pragma once

#include <cstdint>

#include "ccl/feature.h"
#include "ccl/setting.h"

namespace ccl {

/// 1.0 in the limits of a filter that are real numbers.
inline constexpr uint32_t kFilterOne = 1u << 16;

/// The conditions of a filter, in the order in which they are tested: a component that fails several of them
/// counts for the first one.
enum FilterCondition : uint32_t {
  kMinArea,
  kMaxArea,
  kMinWidth,
  kMinHeight,
  kMaxWidth,
  kMaxHeight,
  kClearBorder,
  kMinExtent,
  kMinCircularity,
  kMaxEccentricity,
  kTopN,  ///< of the components that pass all others
  kFilterConditions,
  kPassed = kFilterConditions,  ///< no condition is failed
};

/// That the conditions of a filter read the box: a bit beside those of Feature.
inline constexpr uint32_t kNeedsBox = 1u << 31;

/// The sums of a component that a filter may read. A sum that needs() does not name may have any value.
struct FilterSums {
  uint32_t area;  ///< pixels, at least 1
  uint32_t width = 1;
  uint32_t height = 1;
  bool touches_border = false;  ///< its box touches the frame's border
  uint32_t perimeter = 4;       ///< pixel edges
  uint64_t x = 0;               ///< sums over the coordinates of all pixels, with any origin
  uint64_t y = 0;
  uint64_t xx = 0;
  uint64_t xy = 0;
  uint64_t yy = 0;
  int32_t euler = 1;  ///< components less holes: 1 less the number of holes
};

/// 256 bits, for squares of 128-bit numbers.
struct WideSum {
  unsigned __int128 high = 0;
  unsigned __int128 low = 0;

  /// Adds v².
  constexpr void add_square(unsigned __int128 v) {
    const unsigned __int128 lower = static_cast<uint64_t>(v);
    const unsigned __int128 upper = v >> 64;
    const unsigned __int128 cross = lower * upper;  // twice, from bit 64 on
    add(upper * upper + (cross >> 63), lower * lower);
    add(0, cross << 65);
  }
  constexpr bool operator<=(const WideSum& other) const {
    return high != other.high ? high < other.high : low <= other.low;
  }

 private:
  constexpr void add(unsigned __int128 more_high, unsigned __int128 more_low) {
    low += more_low;
    high += more_high + (low < more_low ? 1 : 0);
  }
};

struct Filter {
  uint32_t min_area = defaults::min_area;
  uint32_t max_area = defaults::max_area;
  // Limits of the bounding box, in pixels.
  uint32_t min_width = 0;
  uint32_t min_height = 0;
  uint32_t max_width = 0;     ///< 0: no limit
  uint32_t max_height = 0;    ///< 0: no limit
  bool clear_border = false;  ///< no component whose box touches the frame's border is kept
  uint32_t min_extent = 0;    ///< of area / (width · height), in 1/kFilterOne
  /// Of 16 · area / perimeter², in 1/kFilterOne. The perimeter counts pixel edges, so that of any shape whose
  /// rows and columns have no gaps is that of its box. A square has 1, which no shape exceeds; a disc π/4.
  uint32_t min_circularity = 0;
  /// Of √(1 − λ₂ / λ₁), where λ₁ ≥ λ₂ are the eigenvalues of the second moments, in 1/kFilterOne. A square or
  /// a disc has 0, a line 1, a single pixel 0.
  uint32_t max_eccentricity = fixed_point(defaults::max_eccentricity, kFilterOne);
  uint32_t top_n = 0;  ///< keeps the largest by area (ties: the smaller label); 0: no limit

  /// A filter that keeps every component.
  static constexpr Filter neutral() { return {.min_area = 0}; }

  /// What the conditions read in addition to areas: bits of Feature, and kNeedsBox.
  constexpr uint32_t needs() const {
    const bool needs_box = min_width > 1 || min_height > 1 || max_width > 0 || max_height > 0 || clear_border;
    return (needs_box || min_extent > 0 ? kNeedsBox : 0u) | (min_circularity > 0 ? kFeaturePerimeter : 0u) |
           (max_eccentricity < kFilterOne ? kFeatureMoments : 0u);
  }

  /// Whether some component of a frame of `n_pixels` pixels may be left out.
  constexpr bool is_active(uint32_t n_pixels) const {
    return min_area > 1 || max_area < n_pixels || needs() != 0 || top_n > 0;
  }

  /// Whether some component of a frame of `n_pixels` pixels is large enough. If not, no sum is needed.
  constexpr bool can_keep(uint32_t n_pixels) const { return min_area <= n_pixels; }

  /// The only condition that components of a frame of `n_pixels` pixels may fail, if it is one of the area:
  /// all components that are not kept count for it. Else kPassed.
  constexpr uint32_t only_area_condition(uint32_t n_pixels) const {
    const bool has_min = min_area > 1;
    const bool has_max = max_area < n_pixels;
    if (needs() != 0 || top_n > 0 || has_min == has_max) {
      return kPassed;
    }
    return has_min ? kMinArea : kMaxArea;
  }

  constexpr bool keeps_area(uint32_t area) const { return min_area <= area && area <= max_area; }

  /// The first condition that the component fails, or kPassed. It knows nothing of other components, so it
  /// leaves kTopN to the stage that selects.
  constexpr uint32_t failed_condition(const FilterSums& sums) const {
    if (!keeps_area(sums.area)) {
      return sums.area < min_area ? kMinArea : kMaxArea;
    }
    const uint32_t needed = needs();
    if ((needed & kNeedsBox) != 0) {
      if (const uint32_t failed = failed_by_box(sums); failed != kPassed) {
        return failed;
      }
    }
    if ((needed & kFeaturePerimeter) != 0 && !is_round(sums)) {
      return kMinCircularity;
    }
    return (needed & kFeatureMoments) != 0 && !is_compact(sums) ? kMaxEccentricity : kPassed;
  }

  constexpr bool keeps(const FilterSums& sums) const { return failed_condition(sums) == kPassed; }

  bool operator==(const Filter&) const = default;

 private:
  constexpr uint32_t failed_by_box(const FilterSums& sums) const {
    if (sums.width < min_width) {
      return kMinWidth;
    }
    if (sums.height < min_height) {
      return kMinHeight;
    }
    if (max_width > 0 && sums.width > max_width) {
      return kMaxWidth;
    }
    if (max_height > 0 && sums.height > max_height) {
      return kMaxHeight;
    }
    if (clear_border && sums.touches_border) {
      return kClearBorder;
    }
    // A box has at most 2³⁰ pixels.
    const bool fills_box =
        uint64_t{sums.area} * kFilterOne >= uint64_t{sums.width} * sums.height * min_extent;
    return fills_box ? kPassed : kMinExtent;
  }

  /// 16 · area / perimeter² ≥ min_circularity / kFilterOne.
  constexpr bool is_round(const FilterSums& sums) const {
    return uint64_t{sums.perimeter} * sums.perimeter <=
           uint64_t{sums.area} * 16 * kFilterOne / min_circularity;
  }

  /// λ₂ ≥ (1 − e²) λ₁, without the roots: with λ = (a + c) / 2 ± √(((a − c) / 2)² + b²) it is
  /// (a + c) e² ≥ √((a − c)² + 4b²) (2 − e²), and both sides are positive. a, b and c are the moments times
  /// the square of the area, below 2⁸⁸, and e² has 33 bits, so each square has less than 256 bits.
  constexpr bool is_compact(const FilterSums& sums) const {
    using Int = __int128;
    using UInt = unsigned __int128;
    const auto moment = [&](uint64_t ab, uint64_t a, uint64_t b) {
      return static_cast<Int>(ab) * sums.area - static_cast<Int>(a) * b;
    };
    const Int a = moment(sums.xx, sums.x, sums.x);
    const Int b = moment(sums.xy, sums.x, sums.y);
    const Int c = moment(sums.yy, sums.y, sums.y);
    const uint64_t e = max_eccentricity;
    const uint64_t square = e * e;
    const uint64_t rest = 2 * uint64_t{kFilterOne} * kFilterOne - square;
    const Int difference = a < c ? c - a : a - c;
    WideSum limit;
    limit.add_square(static_cast<UInt>(a + c) * square);
    WideSum sum;
    sum.add_square(static_cast<UInt>(difference) * rest);
    sum.add_square(static_cast<UInt>(b < 0 ? -b : b) * 2 * rest);
    return sum <= limit;
  }
};

}  // namespace ccl
