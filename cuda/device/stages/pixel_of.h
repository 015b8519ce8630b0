// SPDX-License-Identifier: LGPL-2.1-or-later
/// The type of an output's pixels.
#pragma once

#include <cstdint>

#include "ccl/config.h"

namespace ccl::device {

template <Output kOutput>
struct PixelOf {
  using Type = uint32_t;
};

template <>
struct PixelOf<Output::kLabels> {
  using Type = uint16_t;
};

template <>
struct PixelOf<Output::kMask> {
  using Type = uint8_t;
};

}  // namespace ccl::device
