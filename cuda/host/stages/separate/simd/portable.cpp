// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of separation for any processor, and the choice among all. Tests compare the others
/// with them.
#include "host/stages/separate/simd/loops.h"

namespace ccl::host {

constexpr SeparationKernels kPortableSeparationKernels = separation_kernel_set();

const SeparationKernels& separation_kernels([[maybe_unused]] SimdLevel level) {
#if defined(__x86_64__)
  if (level == SimdLevel::kAvx512) {
    return kAvx512SeparationKernels;
  }
  if (level == SimdLevel::kAvx2) {
    return kAvx2SeparationKernels;
  }
#endif
  return kPortableSeparationKernels;  // the compiler uses NEON, which every AArch64 processor has
}

}  // namespace ccl::host
