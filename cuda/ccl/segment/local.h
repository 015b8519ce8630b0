// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kLocal: a pixel is foreground if it reaches a threshold T that follows from its window.
///
/// With mean m and standard deviation s of the n pixels of the window that lie in the frame:
/// - LocalThreshold::deviation = 0: T = m − offset (mean thresholding, as in OpenCV's adaptiveThreshold);
/// - else T = m·(1 + k·(s / 128 − 1)) − offset: J. Sauvola, M. Pietikäinen, "Adaptive document image
///   binarization", Pattern Recognition 33, 2000, with their R = 128.
///
/// `invert` is the complement: a pixel is foreground if it does not reach T.
///
/// The inequality value ≥ T is multiplied by its denominators and decided in integers, without rounding,
/// except for s: n·s = √(n·Σv² − (Σv)²) is rounded down to an integer.
#pragma once

#include <cstdint>
#include <limits>

#include "ccl/segment.h"
#include "ccl/square_root.h"

namespace ccl {

inline constexpr uint32_t kLocalRange = 128;  ///< R of Sauvola and Pietikäinen: the largest deviation

/// Pixels of the largest window.
inline constexpr uint32_t kMaxWindowPixels = (2 * kMaxLocalRadius + 1) * (2 * kMaxLocalRadius + 1);

// Sums and sums of squares of a window fit 32 bits.
static_assert(uint64_t{kMaxWindowPixels} * 255 * 255 <= std::numeric_limits<uint32_t>::max());

/// Where the window of a pixel at `at` begins and ends, along an axis of `size` pixels: it is cut off at the
/// frame's borders.
struct WindowSpan {
  uint32_t begin;
  uint32_t end;

  constexpr uint32_t size() const { return end - begin; }
};

constexpr WindowSpan window_span(uint32_t at, uint32_t radius, uint32_t size) {
  return {at > radius ? at - radius : 0, size - at > radius ? at + radius + 1 : size};
}

class LocalRule {
 public:
  constexpr LocalRule(const LocalThreshold& local, bool invert)
      : offset_(local.offset), deviation_(local.deviation), invert_(invert) {}

  /// Whether is_foreground() reads `squares`.
  constexpr bool needs_squares() const { return deviation_ != 0; }

  /// `value` is the pixel's, `n` the number of pixels in its window, `sum` the sum of their values, `squares`
  /// that of their values' squares.
  constexpr bool is_foreground(uint32_t value, uint32_t n, uint32_t sum, uint32_t squares) const {
    return needs_squares() ? is_foreground<true>(value, n, sum, squares)
                           : is_foreground<false>(value, n, sum, squares);
  }

  /// The same for code that is compiled for a value of needs_squares().
  template <bool kNeedsSquares>
  constexpr bool is_foreground(uint32_t value, uint32_t n, uint32_t sum, uint32_t squares) const {
    return (kNeedsSquares ? reaches_deviation(value, n, sum, squares) : reaches_mean(value, n, sum)) !=
           invert_;
  }

 private:
  /// value ≥ Σ/n − offset.
  constexpr bool reaches_mean(uint32_t value, uint32_t n, uint32_t sum) const {
    return (static_cast<int32_t>(value) + offset_) * static_cast<int32_t>(n) >= static_cast<int32_t>(sum);
  }
  static_assert((255 + 255) * int64_t{kMaxWindowPixels} <= std::numeric_limits<int32_t>::max());

  /// With q = n·s and k = deviation / 1024, value + offset ≥ Σ/n · (1 + k·(q / 128n − 1)) is, times
  /// 1024·128n², (value + offset)·n · 1024·128n ≥ Σ · (1024·128n + deviation·(q − 128n)).
  constexpr bool reaches_deviation(uint32_t value, uint32_t n, uint32_t sum, uint32_t squares) const {
    const uint32_t q = square_root(uint64_t{n} * squares - uint64_t{sum} * sum);
    const int64_t range = int64_t{kLocalRange} * n;
    return (static_cast<int64_t>(value) + offset_) * n * kOne * range >=
           sum * (kOne * range + deviation_ * (q - range));
  }
  // q ≤ 127.5·n, since no deviation exceeds half of 255: the last factor lies between (1024 − deviation)·128n
  // and 1024·128n. The products fit 64 bits for every deviation, and q² fits square_root().
  static constexpr int64_t kMaxRange = int64_t{kLocalRange} * kMaxWindowPixels;
  static_assert(kMaxRange * kOne <=
                std::numeric_limits<int64_t>::max() / (int64_t{255 + 255} * kMaxWindowPixels));
  static_assert(kMaxRange * std::numeric_limits<uint16_t>::max() <=
                std::numeric_limits<int64_t>::max() / (int64_t{255} * kMaxWindowPixels));
  static_assert(uint64_t{kMaxRange} * kMaxRange < uint64_t{1} << 46);

  int32_t offset_;
  int64_t deviation_;
  bool invert_;
};

}  // namespace ccl
