// SPDX-License-Identifier: LGPL-2.1-or-later
/// The 32-bit operations of the mixture model for one pixel. As byte_lanes.h: the host has the same for
/// vectors, with the operators + − * >> & | and these functions. Masks have all bits or none.
#pragma once

#include <cstdint>

namespace ccl {

struct WordLane {
  using Value = uint32_t;

  static constexpr Value splat(uint32_t value) { return value; }
  static constexpr Value at_least(Value a, Value b) { return a < b ? 0u : ~0u; }
  /// Whether a mask has bits in any lane: what follows can be left out if not.
  static constexpr bool any(Value mask) { return mask != 0; }
  static constexpr Value select(Value mask, Value a, Value b) { return mask != 0 ? a : b; }
};

template <typename Lanes>
constexpr typename Lanes::Value least(typename Lanes::Value a, typename Lanes::Value b) {
  return Lanes::select(Lanes::at_least(a, b), b, a);
}

template <typename Lanes>
constexpr typename Lanes::Value greatest(typename Lanes::Value a, typename Lanes::Value b) {
  return Lanes::select(Lanes::at_least(a, b), a, b);
}

/// |a − b|
template <typename Lanes>
constexpr typename Lanes::Value difference(typename Lanes::Value a, typename Lanes::Value b) {
  return Lanes::select(Lanes::at_least(a, b), a - b, b - a);
}

/// a − b, or 0 if that is negative.
template <typename Lanes>
constexpr typename Lanes::Value excess(typename Lanes::Value a, typename Lanes::Value b) {
  return Lanes::select(Lanes::at_least(a, b), a - b, Lanes::splat(0));
}

}  // namespace ccl
