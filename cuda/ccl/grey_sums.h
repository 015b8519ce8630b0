// SPDX-License-Identifier: LGPL-2.1-or-later
/// The grey record of a component from the source's values, the same on every backend.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/grey.h"
#include "ccl/segment/luma.h"
#include "ccl/sums.h"

namespace ccl {

inline constexpr uint32_t kMaxGrey = 65535;

/// Sums over the pixels of a component. All zeros are the sums of no pixels. A frame has at most 2³⁰ pixels
/// with values below 2¹⁶ and coordinates below 2¹⁵, so no sum reaches 2⁶².
struct GreySums {
  uint64_t values = 0;
  uint64_t squares = 0;
  uint64_t x = 0;  ///< of the values times their columns
  uint64_t y = 0;  ///< of the values times their rows
  uint32_t max = 0;
  uint32_t max_inverse = 0;  ///< the largest kMaxGrey − value: the minimum as a maximum
};
static_assert(static_cast<unsigned __int128>(kMaxDimension) * kMaxDimension * kMaxGrey * kMaxGrey <
              static_cast<unsigned __int128>(1) << 62);
static_assert(static_cast<unsigned __int128>(kMaxDimension) * kMaxDimension * kMaxDimension * kMaxGrey <
              static_cast<unsigned __int128>(1) << 62);

/// Adds the sums of a part to those of the whole.
constexpr void add_grey(const GreySums& part, GreySums* whole) {
  whole->values += part.values;
  whole->squares += part.squares;
  whole->x += part.x;
  whole->y += part.y;
  whole->max = whole->max > part.max ? whole->max : part.max;
  whole->max_inverse = whole->max_inverse > part.max_inverse ? whole->max_inverse : part.max_inverse;
}

/// The variance of n values: (n·Σv² − (Σv)²) / n², the numerator exact. It is at most (kMaxGrey / 2)², so for
/// n < 2¹⁶ the numerator fits 63 bits.
constexpr float grey_variance(uint32_t n, const GreySums& sums) {
  if (n < 1u << 16) {
    // The products may not fit; their difference does.
    const auto numerator = static_cast<int64_t>(sums.squares * n - sums.values * sums.values);
    return static_cast<float>(static_cast<double>(numerator) / static_cast<double>(uint64_t{n} * n));
  }
  const __int128 numerator =
      static_cast<__int128>(sums.squares) * n - static_cast<__int128>(sums.values) * sums.values;
  return static_cast<float>(to_double(numerator) / static_cast<double>(uint64_t{n} * n));
}

/// The record of a component.
constexpr CclGrey make_grey(const CclComponent& component, const GreySums& sums) {
  const auto values = static_cast<double>(sums.values);
  CclGrey grey{};
  grey.sum = sums.values;
  grey.label = component.label;
  grey.min = static_cast<uint16_t>(kMaxGrey - sums.max_inverse);
  grey.max = static_cast<uint16_t>(sums.max);
  grey.mean = static_cast<float>(values / component.area);
  grey.variance = grey_variance(component.area, sums);
  grey.cx = sums.values != 0 ? static_cast<float>(static_cast<double>(sums.x) / values) : component.cx;
  grey.cy = sums.values != 0 ? static_cast<float>(static_cast<double>(sums.y) / values) : component.cy;
  return grey;
}

/// Where the values of a frame are. `luma`: its plane of 8-bit luma, whose other fields are the default.
constexpr SourcePixels grey_source(const SourcePixels& source, const SourcePixels& luma) {
  return source.pixels != nullptr && source.bits > 8 ? source : luma;
}

}  // namespace ccl
