// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage without their vector code, compiled once for each instruction set like
/// host/runs/simd/row_kernels.h.
///
/// `Simd` has the functions for 64 whole pixels:
/// - compare_with_means(job, x, pixels, sum): a bit for each pixel from column x on, set where the pixel
///   reaches the mean of its window minus the offset. `sum` is that of the window of column x − 1, and
///   becomes that of column x + 63;
/// - gather(flags): a bit for each of 64 bytes that are 0 or 1;
/// - take_roots(values): 64 doubles become their correctly rounded square roots.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "host/stages/segment/simd/kernels.h"

namespace ccl::host {

template <typename Simd>
class SegmentKernelSet {
 public:
  static constexpr SegmentKernels table() {
    return {.move_sums = move_sums,
            .move_squares = move_squares,
            .compare_with_windows = compare_with_windows,
            .unite = unite,
            .unite_with_later = unite_with_later,
            .move_later = move_later};
  }

 private:
  static void move_sums(const uint8_t* __restrict added, const uint8_t* __restrict removed, uint32_t width,
                        uint16_t* __restrict sums) {
    for (uint32_t x = 0; x < width; ++x) {
      sums[x] = static_cast<uint16_t>(sums[x] + added[x] - removed[x]);
    }
  }

  static void move_squares(const uint8_t* __restrict added, const uint8_t* __restrict removed, uint32_t width,
                           uint32_t* __restrict squares) {
    for (uint32_t x = 0; x < width; ++x) {
      squares[x] += uint32_t{added[x]} * added[x] - uint32_t{removed[x]} * removed[x];
    }
  }

  static void compare_with_windows(const LocalJob& job) {
    if (job.local.deviation == 0) {
      compare_with(job, MeanComparer(job));
    } else {
      compare_with(job, DeviationComparer(job));
    }
  }

  /// compare(x, pixels) returns the bits of 64 pixels from column x on that reach their thresholds.
  template <typename Comparer>
  static void compare_with(const LocalJob& job, Comparer compare) {
    const uint64_t flip = job.invert ? ~uint64_t{0} : 0;
    const uint32_t n_whole = job.width / kBitsPerWord;
    for (uint32_t i = 0; i < n_whole; ++i) {
      job.bits[i] = compare(i * kBitsPerWord, job.pixels + size_t{i} * kBitsPerWord) ^ flip;
    }
    if (const uint32_t n_last = job.width % kBitsPerWord; n_last != 0) {
      alignas(kBitsPerWord) uint8_t pixels[kBitsPerWord] = {};
      std::memcpy(pixels, job.pixels + size_t{n_whole} * kBitsPerWord, n_last);
      job.bits[n_whole] = (compare(n_whole * kBitsPerWord, pixels) ^ flip) & ((uint64_t{1} << n_last) - 1);
    }
  }

  /// The sum of the window of column −1.
  template <typename Sum>
  static uint32_t first_sum(const Sum* sums, uint32_t radius) {
    uint32_t sum = 0;
    for (uint32_t x = 0; x < radius; ++x) {
      sum += sums[x];
    }
    return sum;
  }

  class MeanComparer {
   public:
    explicit MeanComparer(const LocalJob& job) : job_(job), sum_(first_sum(job.sums, job.local.radius)) {}

    uint64_t operator()(uint32_t x, const uint8_t* pixels) {
      return Simd::compare_with_means(job_, x, pixels, &sum_);
    }

   private:
    const LocalJob& job_;
    uint32_t sum_;
  };

  /// Decides LocalRule's inequality, left ≥ right, in doubles, of which a vector has many. Only the last
  /// products are rounded, by at most 2¹⁰ (right < 2⁶³) and not at all below 2⁵³: unless both are close, the
  /// doubles are right. The few other pixels ask the rule.
  class DeviationComparer {
   public:
    explicit DeviationComparer(const LocalJob& job)
        : job_(job),
          rule_(job.local, false),
          sum_(first_sum(job.sums, job.local.radius)),
          squares_(first_sum(job.squares, job.local.radius)) {}

    uint64_t operator()(uint32_t x, const uint8_t* pixels) {
      uint32_t sums[kBitsPerWord];
      uint32_t squares[kBitsPerWord];
      slide(job_.sums + x, &sum_, sums);
      slide(job_.squares + x, &squares_, squares);
      const uint32_t* n = job_.n + x;
      double roots[kBitsPerWord];
      for (uint32_t i = 0; i < kBitsPerWord; ++i) {
        const double sum = as_double(sums[i]);
        const double difference = as_double(n[i]) * static_cast<double>(squares[i]) - sum * sum;
        roots[i] = difference > 0 ? difference : 0;  // pixels behind the end of the row have no windows
      }
      Simd::take_roots(roots);
      uint8_t flags[kBitsPerWord];
      uint8_t doubts[kBitsPerWord];
      const double offset = job_.local.offset;
      const double deviation = job_.local.deviation;
      for (uint32_t i = 0; i < kBitsPerWord; ++i) {
        const double range = as_double(n[i]) * kLocalRange;
        const double root = static_cast<double>(static_cast<int32_t>(roots[i]));
        const double left = (as_double(pixels[i]) + offset) * as_double(n[i]) * (range * kOne);
        const double right = as_double(sums[i]) * (range * kOne + deviation * (root - range));
        flags[i] = left >= right ? 1 : 0;
        doubts[i] = (std::fabs(left - right) < 0x1p12 ? 1 : 0) & (std::fabs(right) >= 0x1p52 ? 1 : 0);
      }
      uint64_t word = Simd::gather(flags);
      for (uint64_t left = Simd::gather(doubts); left != 0; left &= left - 1) {
        const auto i = static_cast<uint32_t>(std::countr_zero(left));
        const bool is_set = rule_.is_foreground(pixels[i], n[i], sums[i], squares[i]);
        word = (word & ~(uint64_t{1} << i)) | uint64_t{is_set} << i;
      }
      return word;
    }

   private:
    /// Converts from a signed integer, which every instruction set can.
    static double as_double(uint32_t value) { return static_cast<double>(static_cast<int32_t>(value)); }

    template <typename Sum>
    void slide(const Sum* columns, uint32_t* sum, uint32_t* out) const {
      const Sum* entering = columns + job_.local.radius;
      const Sum* leaving = columns - job_.local.radius - 1;
      for (uint32_t i = 0; i < kBitsPerWord; ++i) {
        *sum += uint32_t{entering[i]} - leaving[i];
        out[i] = *sum;
      }
    }

    const LocalJob& job_;
    LocalRule rule_;
    uint32_t sum_;
    uint32_t squares_;
  };

  static void unite(const uint64_t* __restrict a, const uint64_t* __restrict b, size_t n,
                    uint64_t* __restrict out) {
    for (size_t i = 0; i < n; ++i) {
      out[i] = a[i] | b[i];
    }
  }

  static void unite_with_later(const uint64_t* __restrict in, uint32_t shift, size_t n,
                               uint64_t* __restrict out) {
    for (size_t i = 0; i < n; ++i) {
      out[i] = in[i] | in[i] >> shift | in[i + 1] << (kBitsPerWord - shift);
    }
  }

  static void move_later(const uint64_t* __restrict in, uint32_t shift, size_t n, uint64_t* __restrict out) {
    for (size_t i = 0; i < n; ++i) {
      out[i] = in[i] << shift | in[static_cast<ptrdiff_t>(i) - 1] >> (kBitsPerWord - shift);
    }
  }
};

}  // namespace ccl::host
