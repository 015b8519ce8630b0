// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of separation with AVX2. See host/runs/simd/avx2.cpp for the pragmas.
#if defined(__x86_64__)

#include <cstdint>

#include "ccl/parts.h"
#include "host/stages/separate/simd/kernels.h"

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif

#include "host/stages/separate/simd/loops.h"

namespace ccl::host {

constexpr SeparationKernels kAvx2SeparationKernels = separation_kernel_set();

}  // namespace ccl::host

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

#endif  // __x86_64__
