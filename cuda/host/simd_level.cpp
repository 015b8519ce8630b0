// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/simd_level.h"

#include <algorithm>
#include <atomic>

namespace ccl::host {

namespace {

/// Global, because every engine of the process shares the processor.
std::atomic<SimdLevel> highest_level = kSimdLevels.back();

}  // namespace

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

void limit_simd_level(SimdLevel highest) {
  highest_level.store(highest, std::memory_order_relaxed);
}

SimdLevel choose_simd_level() {
  const SimdLevel highest = highest_level.load(std::memory_order_relaxed);
  return *std::find_if(kSimdLevels.rbegin(), kSimdLevels.rend(),
                       [highest](SimdLevel level) { return level <= highest && is_supported(level); });
}

}  // namespace ccl::host
