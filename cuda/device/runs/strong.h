// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components have a strong pixel: hysteresis.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/status.h"

namespace ccl::device::runs {

/// A frame whose labels are known. All pointers point to device memory.
struct StrongJob {
  const uint32_t* labels;  ///< per pixel
  const uint32_t* bits;    ///< a bit image of all pixels that have a label
  const uint32_t* strong;  ///< a bit image of the strong ones
  uint32_t width;
  uint32_t height;
  uint32_t* is_strong;  ///< out, per label − 1, of a component with a strong pixel: 1
};

/// Enqueues the writing of all flags that are 1.
Status flag_strong(const StrongJob& job, cudaStream_t stream);

}  // namespace ccl::device::runs
