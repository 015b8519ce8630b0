// SPDX-License-Identifier: LGPL-2.1-or-later
/// The mixture background model (ccl/segment/mixture.h) in planes of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "ccl/status.h"
#include "device/stages/segment/model.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// Of each mode a plane of each of its fields: a number per pixel, dense.
struct MixturePlanes {
  struct Mode {
    uint16_t* weight;
    uint16_t* mean;
    uint16_t* variance;
    uint16_t* chroma;
  };
  Mode modes[mixture::kModes];
};

/// Enqueues the three passes of ccl/segment/motion.h: classify every pixel, decide, learn. `bits` is a bit
/// image.
Status enqueue_mixture(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                       const MixturePlanes& planes, const Decision& decision, uint32_t* bits,
                       cudaStream_t stream);

/// Enqueues the writing of the background: luma, U and V of each pixel, dense.
Status read_mixture(const MixturePlanes& planes, uint32_t n_pixels, uint8_t* luma, uint8_t* u, uint8_t* v,
                    cudaStream_t stream);

}  // namespace ccl::device::segment
