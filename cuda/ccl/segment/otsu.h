// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kOtsu: N. Otsu, "A threshold selection method from gray-level histograms", IEEE Transactions
/// on Systems, Man, and Cybernetics 9, 1979.
///
/// A level divides the pixels into those below it and all others. The best level is the one with the largest
/// variance between these two classes. OpenCV's level is the largest value *below* ours, so that the same
/// pixels are foreground: its pixels are foreground if they are above the level, ours if they reach it.
///
/// Each candidate is evaluated on its own, from exact sums, so that candidates of equal pixels or of mirrored
/// histograms are equal to the last bit. Then the smallest one is taken. (OpenCV's running sums of doubles
/// decide such mirrored cases by their rounding.)
#pragma once

#include <cstdint>

#include "ccl/rule.h"
#include "ccl/sums.h"

namespace ccl {

inline constexpr uint32_t kOtsuBins = 256;  ///< of the histogram: one for each 8-bit value

/// The level of a frame whose pixels all have one value: foreground is what is not 0, as with OpenCV.
inline constexpr uint32_t kOtsuLevelOfFlatFrame = 1;

/// A set of pixels.
struct OtsuClass {
  uint32_t n = 0;    ///< pixels: at most kMaxDimension² = 2³⁰
  uint64_t sum = 0;  ///< of their values

  constexpr OtsuClass operator+(const OtsuClass& other) const { return {n + other.n, sum + other.sum}; }
};

/// The pixels of one bin of the histogram.
constexpr OtsuClass otsu_bin(uint32_t value, uint32_t n) {
  return {n, uint64_t{n} * value};
}

/// The variance between the pixels `below` a level and the others of `all`, times a factor that all levels of
/// a frame share: n₀n₁(μ₀ − μ₁)² = (n·Σ₀ − n₀·Σ)² / (n₀·n₁), with an exact numerator before it is squared. 0
/// if a class has fewer than a 2⁻²³ of the pixels: such classes do not count (as in OpenCV).
constexpr double otsu_variance(const OtsuClass& below, const OtsuClass& all) {
  const uint32_t n_others = all.n - below.n;
  const uint32_t n_smaller = below.n < n_others ? below.n : n_others;
  if (n_smaller == 0 || uint64_t{n_smaller} << 23 < all.n) {
    return 0;
  }
  const double difference =
      to_double(static_cast<__int128>(all.n) * below.sum - static_cast<__int128>(below.n) * all.sum);
  return difference * difference / static_cast<double>(uint64_t{below.n} * n_others);
}

/// A candidate: a level and its variance.
struct OtsuLevel {
  uint32_t level = kOtsuLevelOfFlatFrame;
  double variance = 0;

  /// Whether this one is the better of two candidates. A total order of different levels, so that candidates
  /// may be compared in any order.
  constexpr bool is_better_than(const OtsuLevel& other) const {
    return variance > other.variance || (variance == other.variance && level < other.level);
  }
};

/// The level of a frame, from the pixels of each value: 1..255. Foreground is value ≥ level.
constexpr uint32_t otsu_level(const uint32_t* histogram) {
  OtsuClass all;
  for (uint32_t value = 0; value < kOtsuBins; ++value) {
    all = all + otsu_bin(value, histogram[value]);
  }
  OtsuClass below;
  OtsuLevel best;
  for (uint32_t level = 1; level < kOtsuBins; ++level) {
    below = below + otsu_bin(level - 1, histogram[level - 1]);
    const OtsuLevel candidate{level, otsu_variance(below, all)};
    best = candidate.is_better_than(best) ? candidate : best;
  }
  return best.level;
}

}  // namespace ccl
