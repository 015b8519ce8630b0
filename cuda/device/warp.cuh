// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>

namespace ccl::device {

inline constexpr uint32_t kWarpSize = 32;
inline constexpr uint32_t kAllLanes = 0xffffffff;

}  // namespace ccl::device
