// SPDX-License-Identifier: LGPL-2.1-or-later
/// The beginning of the mixture, and what it does after a change of light: a kernel behind that of the frame.
#pragma once

#include <cuda_runtime_api.h>

#include "ccl/engine.h"
#include "ccl/status.h"
#include "device/stages/segment/mixture.h"
#include "device/stages/segment/model.h"
#include "device/stages/segment/vectors.h"

namespace ccl::device::segment {

/// Enqueues a kernel that begins the model again if that was decided; mostly it ends at once. The model and
/// the planes are as the kernel of the frame has left them.
Status enqueue_mixture_beginning(const Plane& frame, const Chroma& chroma, const MixturePlanes& planes,
                                 const Decision& decision, cudaStream_t stream);

}  // namespace ccl::device::segment
