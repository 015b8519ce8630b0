// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kLocal: from a frame to a bit image, by the sums of each pixel's window (ccl/segment/local.h).
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/segment.h"
#include "ccl/status.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// Enqueues the writing of a bit image.
Status local_bits(const Plane& frame, const LocalThreshold& local, bool invert, uint32_t* bits,
                  cudaStream_t stream);

}  // namespace ccl::device::segment
