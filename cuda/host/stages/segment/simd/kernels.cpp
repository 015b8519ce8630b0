// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/simd/kernels.h"

namespace ccl::host {

const SegmentKernels& segment_kernels(SimdLevel level) {
  switch (level) {
#if defined(__x86_64__)
    case SimdLevel::kAvx2:
      return kAvx2SegmentKernels;
    case SimdLevel::kAvx512:
      return kAvx512SegmentKernels;
#endif
    default:  // the compiler uses NEON, which every AArch64 processor has, in the plain loops
      return kPortableSegmentKernels;
  }
}

}  // namespace ccl::host
