// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/simd/kernels.h"

namespace ccl::host {

const Kernels& kernels(SimdLevel level) {
  switch (level) {
#if defined(__aarch64__)
    case SimdLevel::kNeon:
      return kNeonKernels;
#elif defined(__x86_64__)
    case SimdLevel::kAvx2:
      return kAvx2Kernels;
    case SimdLevel::kAvx512:
      return kAvx512Kernels;
#endif
    default:
      return kPortableKernels;
  }
}

}  // namespace ccl::host
