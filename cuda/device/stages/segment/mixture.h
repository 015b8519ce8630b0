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

/// In rows of whole units (see mixture.cu).
struct MixturePlanes {
  uint2* modes[mixture::kModes];  ///< by mode: weight and mean, variance and chroma; 16 bits each
  uint8_t* luma[2];               ///< of the first mode: as the previous frame left it, and as this one does
  uint32_t* current;              ///< which of the two is the previous frame's; 0 before the first frame
  uint32_t pitch;                 ///< pixels of a row
};

inline constexpr size_t kMixtureBytes = mixture::kModes * sizeof(uint2) + 2;  ///< state of a pixel
static_assert(kMixtureBytes <= 32);

/// Pixels of a row of the planes.
uint32_t mixture_pitch(uint32_t width);

/// Enqueues the passes of ccl/segment/motion.h. `bits` is a bit image.
Status enqueue_mixture(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                       const MixturePlanes& planes, const Decision& decision, uint32_t* bits,
                       cudaStream_t stream);

/// The kernel of enqueue_mixture() whose last argument is the step.
StepKernel mixture_step_kernel(bool has_chroma);

/// Enqueues the writing of the background: luma, U and V of each pixel, dense.
Status read_mixture(const MixturePlanes& planes, uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u,
                    uint8_t* v, cudaStream_t stream);

}  // namespace ccl::device::segment
