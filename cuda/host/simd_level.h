// SPDX-License-Identifier: LGPL-2.1-or-later
/// The instruction sets that the row kernels are written for.
#pragma once

#include <array>

namespace ccl::host {

/// Instruction sets, from the plainest to the fastest.
enum class SimdLevel {
  kPortable,  ///< C++ for any processor
  kNeon,      ///< AArch64
  kAvx2,      ///< x86-64 with AVX2, BMI 1 and 2, LZCNT and POPCNT
  kAvx512,    ///< kAvx2 with AVX-512 F, BW and VL
};

inline constexpr std::array kSimdLevels = {SimdLevel::kPortable, SimdLevel::kNeon, SimdLevel::kAvx2,
                                           SimdLevel::kAvx512};

/// "portable", "neon", "avx2" or "avx512".
const char* simd_name(SimdLevel level);

/// Whether this build has the level and this processor can run it.
bool is_supported(SimdLevel level);

/// For tests and measurements: engines that are configured from now on, on any thread, use no level above
/// this one. The default is the last of kSimdLevels, which excludes none.
void limit_simd_level(SimdLevel highest);

/// The highest supported level that the limit allows.
SimdLevel choose_simd_level();

}  // namespace ccl::host
