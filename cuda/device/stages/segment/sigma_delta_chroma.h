// SPDX-License-Identifier: LGPL-2.1-or-later
/// The chroma of the sigma-delta background model: kernels before and after that of the luma.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/engine.h"
#include "ccl/segment/motion.h"
#include "ccl/status.h"
#include "device/stages/segment/sigma_delta.h"

namespace ccl::device::segment {

/// Enqueues the classification.
Status enqueue_chroma_classes(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                              const sigma_delta::Thresholds& thresholds, cudaStream_t stream);

/// Enqueues the learning, as *model has decided. `luma`: as this frame leaves it.
Status enqueue_chroma_learning(const Chroma& chroma, const SigmaDeltaChromaPlanes& planes,
                               const SigmaDeltaPlanes& luma, const sigma_delta::Thresholds& thresholds,
                               const ModelState* model, cudaStream_t stream);

}  // namespace ccl::device::segment
