// SPDX-License-Identifier: LGPL-2.1-or-later
/// From a frame to a bit image by one threshold for all pixels.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/counts.h"
#include "ccl/segment/hysteresis.h"
#include "ccl/segment/luma.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// Enqueues the writing of a bit image.
Status threshold_bits(const Plane& frame, const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream);

/// The same for pixels of more than 8 bits. `source` has an address in device memory.
Status wide_threshold_bits(const SourcePixels& source, uint32_t width, uint32_t height,
                           const ThresholdRule& rule, uint32_t* bits, cudaStream_t stream);

/// Foreground::kOtsu: see ccl/segment/otsu.h.
class Otsu {
 public:
  /// Allocates and clears the histogram; `stream` is only used for that.
  Status configure(cudaStream_t stream);

  /// Enqueues the writing of a bit image, and of the level to `counts`.
  Status enqueue(const Plane& frame, bool invert, uint32_t* bits, FrameCounts* counts, cudaStream_t stream);

 private:
  DeviceArray<uint32_t> histogram_;  ///< all 0 between frames; then the number of blocks that have ended
};

}  // namespace ccl::device::segment
