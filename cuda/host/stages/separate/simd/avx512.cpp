// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of separation with AVX-512.
#if defined(__x86_64__)

#include <cstdint>

#include "ccl/parts.h"
#include "host/stages/separate/simd/kernels.h"

#include "host/simd/begin_avx512.h"

#include "host/stages/separate/simd/loops.h"

namespace ccl::host {

constexpr SeparationKernels kAvx512SeparationKernels = separation_kernel_set();

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
