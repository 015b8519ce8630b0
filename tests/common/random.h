// SPDX-License-Identifier: LGPL-2.1-or-later
/// Random numbers that are the same with every standard library: MT19937 is defined by the standard, its
/// distributions are not.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>

namespace ccl::test {

class Random {
 public:
  explicit Random(uint32_t seed) : generator_(seed) {}

  uint32_t bits() { return static_cast<uint32_t>(generator_()); }

  uint32_t below(uint32_t end) { return static_cast<uint32_t>(uint64_t{bits()} * end >> 32); }

  int32_t signed_below(uint32_t end) { return static_cast<int32_t>(below(end)); }

  bool is_once_in(uint32_t n) { return below(n) == 0; }

  double between(double low, double high) { return low + (high - low) * unit(); }

  bool coin() { return below(2) == 1; }

  /// Mean 0, standard deviation 1 (Box, Muller 1958).
  double gaussian() {
    const double radius = std::sqrt(-2 * std::log(1 - unit()));
    return radius * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  /// 0 ≤ value < 1.
  double unit() { return generator_() * 0x1p-32; }

  std::mt19937 generator_;
};

}  // namespace ccl::test

namespace ccl::bench {

using test::Random;

}  // namespace ccl::bench
