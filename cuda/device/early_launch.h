// SPDX-License-Identifier: LGPL-2.1-or-later
/// Launches of kernels that follow one another closely.
#pragma once

#include <cuda_runtime.h>

#include "device/check.h"

namespace ccl::device {

/// A grid of blocks on a stream.
struct EarlyLaunch {
  dim3 blocks;
  uint32_t threads;
  size_t shared_bytes;  ///< dynamic shared memory of a block
  cudaStream_t stream;
  /// Blocks may take their places while the kernel before this one still runs (programmatic dependent
  /// launch, compute capability 9 or newer).
  bool is_early;

  /// An early `kernel` must call wait_for_kernel_before() before it touches what others write. `name` is for
  /// errors.
  template <typename... Parameters, typename... Arguments>
  Status operator()(const char* name, void (*kernel)(Parameters...), const Arguments&... arguments) const {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = blocks;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared_bytes;
    config.stream = stream;
    config.attrs = &attribute;
    config.numAttrs = is_early ? 1 : 0;
    return check(cudaLaunchKernelEx(&config, kernel, Parameters(arguments)...), name);
  }
};

#ifdef __CUDACC__

/// Waits until all that the kernels before this one wrote can be seen.
__device__ inline void wait_for_kernel_before() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// Lets the next kernel's blocks take the places that this one leaves free. Says nothing about memory.
__device__ inline void let_next_kernel_start() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
  cudaTriggerProgrammaticLaunchCompletion();
#endif
}

#endif  // __CUDACC__

}  // namespace ccl::device
