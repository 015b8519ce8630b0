// SPDX-License-Identifier: LGPL-2.1-or-later
/// The instruction sets that the row kernels are written for.
#pragma once

#include <array>

namespace ccl::host {

enum class SimdLevel {
  kPortable,  ///< C++ for any processor
  kNeon,      ///< AArch64
  kAvx2,      ///< x86-64 with AVX2, BMI 1 and 2, LZCNT and POPCNT
  kAvx512,    ///< those and AVX-512 F, BW and VL
};

inline constexpr std::array kSimdLevels = {SimdLevel::kPortable, SimdLevel::kNeon, SimdLevel::kAvx2,
                                           SimdLevel::kAvx512};

/// "portable", "neon", "avx2" or "avx512".
const char* simd_name(SimdLevel level);

/// Whether this build has the level and this processor can run it.
bool is_supported(SimdLevel level);

/// The highest level that is supported, or the one that the environment's CUDACCL_SIMD names. A name that
/// is unknown or not supported here is told on standard error and otherwise ignored.
SimdLevel choose_simd_level();

}  // namespace ccl::host
