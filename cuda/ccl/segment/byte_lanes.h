// SPDX-License-Identifier: LGPL-2.1-or-later
/// The byte operations that background models are made of, for one pixel.
///
/// A rule is a template over a type like this one: the host runs the same rule on vectors of bytes (see
/// host/stages/segment/simd/background_vectors.h), where each operation is one instruction or two. Values are
/// 0..255; masks are 0 or 255.
#pragma once

#include <cstdint>

namespace ccl {

struct ByteLane {
  using Value = uint32_t;

  static constexpr Value splat(uint32_t value) { return value; }
  static constexpr Value min(Value a, Value b) { return a < b ? a : b; }
  static constexpr Value max(Value a, Value b) { return a < b ? b : a; }
  static constexpr Value add(Value a, Value b) { return min(a + b, 255); }         ///< saturates at 255
  static constexpr Value subtract(Value a, Value b) { return a < b ? 0 : a - b; }  ///< saturates at 0
  static constexpr Value half(Value a) { return a >> 1; }                          ///< rounded down
  static constexpr Value at_least(Value a, Value b) { return a < b ? 0 : 255; }    ///< a mask
  static constexpr Value both(Value a, Value b) { return a & b; }
  static constexpr Value either(Value a, Value b) { return a | b; }
  static constexpr Value without(Value a, Value b) { return a & ~b; }  ///< a and not b
  static constexpr Value select(Value mask, Value a, Value b) { return mask != 0 ? a : b; }
};

// Lanes may have these as functions of their own, if they are faster.

/// a > b, as a mask.
template <typename Lanes>
constexpr typename Lanes::Value above(typename Lanes::Value a, typename Lanes::Value b) {
  if constexpr (requires { Lanes::above(a, b); }) {
    return Lanes::above(a, b);
  } else {
    return Lanes::without(Lanes::splat(255), Lanes::at_least(b, a));
  }
}

template <typename Lanes>
constexpr typename Lanes::Value distance(typename Lanes::Value a, typename Lanes::Value b) {
  if constexpr (requires { Lanes::distance(a, b); }) {
    return Lanes::distance(a, b);
  } else {
    return Lanes::either(Lanes::subtract(a, b), Lanes::subtract(b, a));
  }
}

/// How far a value is outside [low, high].
template <typename Lanes>
constexpr typename Lanes::Value distance(typename Lanes::Value value, typename Lanes::Value low,
                                         typename Lanes::Value high) {
  return Lanes::either(Lanes::subtract(low, value), Lanes::subtract(value, high));
}

/// `value`, moved towards `target` by at most `up` or `down`.
template <typename Lanes>
constexpr typename Lanes::Value move(typename Lanes::Value value, typename Lanes::Value target,
                                     typename Lanes::Value up, typename Lanes::Value down) {
  if constexpr (requires { Lanes::move(value, target, up, down); }) {
    return Lanes::move(value, target, up, down);
  } else {
    return Lanes::max(Lanes::min(target, Lanes::add(value, up)), Lanes::subtract(value, down));
  }
}

}  // namespace ccl
