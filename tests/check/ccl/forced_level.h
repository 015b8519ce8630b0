// SPDX-License-Identifier: LGPL-2.1-or-later
/// Limits the instruction set of the CPU engine.
#pragma once

#include "host/simd_level.h"

namespace ccl::test {

/// Engines that are configured while this lives use this level or, if it is not supported, a lower one.
class ForcedLevel {
 public:
  explicit ForcedLevel(host::SimdLevel level) { host::limit_simd_level(level); }
  ~ForcedLevel() { host::limit_simd_level(host::kSimdLevels.back()); }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;
};

}  // namespace ccl::test
