// SPDX-License-Identifier: LGPL-2.1-or-later
/// The CPU engine's instruction set, chosen by the environment.
#pragma once

#include <cstdlib>

namespace ccl::test {

/// Engines configured while this lives take the level of this name.
class ForcedLevel {
 public:
  explicit ForcedLevel(const char* name) { setenv("CUDACCL_SIMD", name, 1); }
  ~ForcedLevel() { unsetenv("CUDACCL_SIMD"); }
  ForcedLevel(const ForcedLevel&) = delete;
  ForcedLevel& operator=(const ForcedLevel&) = delete;
};

}  // namespace ccl::test
