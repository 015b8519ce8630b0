// SPDX-License-Identifier: LGPL-2.1-or-later
/// The sigma-delta background model (ccl/segment/sigma_delta.h) in planes of device memory.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "ccl/status.h"
#include "device/stages/segment/model.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// A number per pixel, in rows of whole vectors. What is behind the last pixel of a row has no meaning.
struct SigmaDeltaPlanes {
  uint8_t* mean;
  uint8_t* variance;
  uint8_t* status;
  uint8_t* candidate;
  uint8_t* stay;
  size_t pitch;
};

/// The same of U and V, at the resolution of the chroma. Null pointers: no chroma.
struct SigmaDeltaChromaPlanes {
  uint8_t* mean_u;
  uint8_t* mean_v;
  uint8_t* variance;
  uint8_t* candidate_u;
  uint8_t* candidate_v;
  uint8_t* classes;  ///< of this frame
  size_t pitch;
  uint32_t width;
  uint32_t height;
  uint8_t shift_x;
  uint8_t shift_y;
};

/// Enqueues the three passes of ccl/segment/motion.h: classify every pixel, decide, learn. `bits` is a bit
/// image.
Status enqueue_sigma_delta(const Plane& frame, const Chroma& chroma, const MotionStep& step,
                           const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                           const Decision& decision, uint32_t* bits, cudaStream_t stream);

/// The kernel of enqueue_sigma_delta() whose last argument is the step.
StepKernel sigma_delta_step_kernel(bool has_chroma);

/// Enqueues the writing of the background: luma, U and V of each pixel, dense.
Status read_sigma_delta(const SigmaDeltaPlanes& planes, const SigmaDeltaChromaPlanes& chroma_planes,
                        uint32_t width, uint32_t height, uint8_t* luma, uint8_t* u, uint8_t* v,
                        cudaStream_t stream);

}  // namespace ccl::device::segment
