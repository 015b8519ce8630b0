// SPDX-License-Identifier: LGPL-2.1-or-later
/// Vectors of 16 bytes: every processor of the supported architectures has them.
#include "host/stages/segment/simd/background.h"
#include "host/stages/segment/simd/background_rows.h"
#include "host/stages/segment/simd/background_vectors.h"

namespace ccl::host {

constexpr BackgroundKernels kPortableBackgroundKernels =
    BackgroundRows<VectorBytes<Vectors16>, VectorWords<Vectors16>>::table();

}  // namespace ccl::host
