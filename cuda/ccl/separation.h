// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a frame sets for the separation of objects that touch (ccl/parts.h).
#pragma once

#include <cstdint>

#include "ccl/setting.h"

namespace ccl {

struct Separation {
  /// A neck that is at least so high against a region's summit, in 1/1024, does not cut it. 0: nothing is
  /// cut.
  uint16_t neck = fixed_point(defaults::separate, 1024);
  uint8_t aspect = defaults::separate_aspect;  ///< how many times as high as wide objects are

  constexpr bool is_active() const { return neck > 0; }
  bool operator==(const Separation&) const = default;
};

}  // namespace ccl
