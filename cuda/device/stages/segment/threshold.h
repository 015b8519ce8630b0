// SPDX-License-Identifier: LGPL-2.1-or-later
/// The bit image of a frame by a fixed threshold.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/segment/hysteresis.h"
#include "ccl/segment/luma.h"
#include "ccl/status.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// Enqueues the writing of a bit image.
Status threshold_bits(const Plane& frame, const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream);

/// The same for pixels of more than 8 bits. `source` has an address in device memory.
Status wide_threshold_bits(const SourcePixels& source, uint32_t width, uint32_t height,
                           const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream);

}  // namespace ccl::device::segment
