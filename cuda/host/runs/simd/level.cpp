// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/simd/level.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

namespace ccl::host {

const char* simd_name(SimdLevel level) {
  switch (level) {
    case SimdLevel::kNeon:
      return "neon";
    case SimdLevel::kAvx2:
      return "avx2";
    case SimdLevel::kAvx512:
      return "avx512";
    case SimdLevel::kPortable:
      break;
  }
  return "portable";
}

bool is_supported(SimdLevel level) {
  switch (level) {
    case SimdLevel::kPortable:
      return true;
#if defined(__aarch64__)
    case SimdLevel::kNeon:
      return true;
#elif defined(__x86_64__)
    case SimdLevel::kAvx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
    case SimdLevel::kAvx512:
      return is_supported(SimdLevel::kAvx2) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
    default:
      return false;
  }
}

SimdLevel choose_simd_level() {
  const SimdLevel best = *std::find_if(kSimdLevels.rbegin(), kSimdLevels.rend(), is_supported);
  const char* wanted = std::getenv("CUDACCL_SIMD");
  if (wanted == nullptr || *wanted == '\0') {
    return best;
  }
  for (const SimdLevel level : kSimdLevels) {
    if (std::string_view(wanted) == simd_name(level) && is_supported(level)) {
      return level;
    }
  }
  std::fprintf(stderr, "cudaccl: CUDACCL_SIMD=%s is not to be had on this processor; taking %s\n", wanted,
               simd_name(best));
  return best;
}

}  // namespace ccl::host
