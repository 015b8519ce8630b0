// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kinds of rows in settings.def, and what the engine takes from it: ranges and defaults.
#pragma once

#include <cstdint>

namespace ccl {

/// When a change of a property takes effect.
enum class When {
  kStart,         ///< when the element leaves NULL or READY
  kLive,          ///< with the next frame
  kNegotiation,   ///< with the next frame, after formats or latency are negotiated again
  kControllable,  ///< with the next frame; a GstController may drive it
  kReadOnly,
};

/// Kinds of settings. They have constructors because an argument of a macro has no commas in braces.
namespace kind {

struct Bool {};
struct Int {
  constexpr Int(int32_t least_value, int32_t largest_value) : least(least_value), largest(largest_value) {}
  int32_t least, largest;
};
struct UInt {
  constexpr UInt(uint32_t least_value, uint32_t largest_value) : least(least_value), largest(largest_value) {}
  uint32_t least, largest;
};
/// One of the choices of a type; the default is a nick.
struct Enum {
  constexpr explicit Enum(const char* of_type) : type(of_type) {}
  const char* type;
};
/// Some of the choices of a type; the default is nicks, joined by +.
struct Flags {
  constexpr explicit Flags(const char* of_type) : type(of_type) {}
  const char* type;
};
struct Text {};
struct Structure {};

/// How a real becomes a whole number of units of 1/one: the nearest one, halves rounded up; or the next one
/// below or above, where what is exactly at a limit must pass it.
struct Unit {
  enum class Rounding { kNearest, kBelow, kAbove };
  constexpr Unit(uint32_t units, Rounding how = Rounding::kNearest) : one(units), rounding(how) {}
  uint32_t one;
  Rounding rounding;
};
constexpr Unit below(uint32_t one) {
  return {one, Unit::Rounding::kBelow};
}
constexpr Unit above(uint32_t one) {
  return {one, Unit::Rounding::kAbove};
}

}  // namespace kind

/// By id: the kind, with its range.
namespace limits {
using kind::Bool, kind::Enum, kind::Flags, kind::Int, kind::UInt;
#define CCL_SETTING(id, member, kind, initial, when, text) inline constexpr auto id = kind;
#define CCL_CONFIG(id, kind, initial, when, text) inline constexpr auto id = kind;
#include "ccl/settings.def"
}  // namespace limits

/// By id: the default in the unit of the table, of the C interface where the element has another one.
namespace defaults {
#define CCL_SETTING(id, member, kind, initial, when, text) inline constexpr auto id = initial;
#define CCL_REAL(id, member, one, initial, text) inline constexpr double id = initial;
#define CCL_TIME(id, field, member, least, largest, initial, text) inline constexpr uint32_t id = initial;
#define CCL_CONFIG(id, kind, initial, when, text) inline constexpr auto id = initial;
#define CCL_FIELD(id, member, kind, initial, text) inline constexpr auto id = initial;
#include "ccl/settings.def"
}  // namespace defaults

/// A real of the table, at least 0, as a whole number.
constexpr uint32_t fixed_point(double value, kind::Unit unit) {
  const double units = value * unit.one;
  if (unit.rounding == kind::Unit::Rounding::kNearest) {
    return (static_cast<uint32_t>(2 * units) + 1) / 2;
  }
  const auto whole = static_cast<uint32_t>(units);
  return whole + (unit.rounding == kind::Unit::Rounding::kAbove && whole < units ? 1 : 0);
}

}  // namespace ccl
