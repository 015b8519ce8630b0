// SPDX-License-Identifier: LGPL-2.1-or-later
/// Opening and closing of bit images (ccl/segment.h), equal to OpenCV's morphologyEx() with its default
/// border: outside the frame, an erosion sees foreground and a dilation sees background.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/segment.h"
#include "ccl/segment/hysteresis.h"
#include "ccl/status.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device {

/// What makes foreground background at the end. The pointers are to device memory; null: nothing does.
struct BitMasks {
  const uint32_t* regions = nullptr;     ///< a bit image: foreground counts where it is 1
  const uint32_t* is_cleared = nullptr;  ///< one value: if it is not 0, the whole frame becomes background
};

/// Enqueues, in one kernel, the opening of `bits`, then its closing, then the masks, and the writing of all
/// words of `result`. Both are bit images of width × height pixels in device memory, aligned to 16 bytes.
/// Does not fill holes (components.h). They must not overlap; but without radii, `result` may be `bits`.
Status open_and_close(const Morphology& morphology, const uint32_t* bits, uint32_t width, uint32_t height,
                      const BitMasks& masks, uint32_t* result, cudaStream_t stream);

/// The same for the pixels of `frame` that `rule` makes foreground. No other kernel thresholds them.
Status open_and_close(const Morphology& morphology, const segment::Plane& frame, const ThresholdRule& rule,
                      const BitMasks& masks, uint32_t* result, cudaStream_t stream);

}  // namespace ccl::device
