// SPDX-License-Identifier: LGPL-2.1-or-later
/// What all labelers end with: launching kernels, and choosing them by connectivity.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/check.h"
#include "device/labelers/labeler.h"

namespace ccl::device {

/// The threads that a multiprocessor of the architecture that is compiled for holds. ptxas does not take
/// launch bounds that ask for more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr uint32_t kMultiprocessorThreads = 1024;
#elif defined(__CUDA_ARCH__) && \
    ((__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ == 1010 || __CUDA_ARCH__ >= 1100)
inline constexpr uint32_t kMultiprocessorThreads = 1536;
#else
inline constexpr uint32_t kMultiprocessorThreads = 2048;
#endif

/// Enqueues a kernel without dynamic shared memory; nothing where there are no blocks. `name` is for
/// messages.
template <typename... Parameters, typename... Arguments>
Status launch(const char* name, void (*kernel)(Parameters...), dim3 blocks, uint32_t threads,
              cudaStream_t stream, Arguments... arguments) {
  if (blocks.x == 0 || blocks.y == 0) {
    return {};
  }
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
  return check_launch(name);
}

/// Lets the next kernel, if it is enqueued by launch_early(), begin once all blocks of this one have called
/// it or ended. For the first of a chain of kernels.
__device__ inline void let_next_come() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the kernel enqueued before has ended, and what it and earlier ones wrote can be seen. Then
/// lets the next one come, so that there are never three: what one has in a first-level cache is not there
/// any more for the next but one.
__device__ inline void wait_for_previous() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  let_next_come();
}

/// Enqueues a kernel whose blocks may come before the one enqueued before has ended (programmatic dependent
/// launch), so that it does not begin from nothing. A thread must call wait_for_previous() before it touches
/// what earlier ones read or write; in each block some must.
template <typename... Parameters, typename... Arguments>
Status launch_early(const char* name, void (*kernel)(Parameters...), dim3 blocks, uint32_t threads,
                    cudaStream_t stream, Arguments... arguments) {
  if (blocks.x == 0 || blocks.y == 0) {
    return {};
  }
  cudaFuncAttributes compiled{};
  CCL_RETURN_IF_ERROR(check(cudaFuncGetAttributes(&compiled, kernel), "cudaFuncGetAttributes"));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  // Code compiled for less than 9.0, or from such PTX, does not wait; and not all graphs of CUDA 12 can hold
  // such a launch.
  config.numAttrs = compiled.ptxVersion >= 90 && CUDART_VERSION >= 13000 ? 1 : 0;
  return check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

/// Enqueues a kernel whose blocks are all resident at once, so that they may wait for one another: no
/// more than `most_blocks`, and no more than the GPU holds.
template <typename... Parameters>
Status launch_resident(const char* name, void (*kernel)(Parameters...), uint32_t most_blocks,
                       uint32_t threads, cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  int device = 0;
  int n_multiprocessors = 0;
  int n_resident = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(
      check(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute"));
  CCL_RETURN_IF_ERROR(
      check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n_resident, kernel, static_cast<int>(threads), 0),
            "cudaOccupancyMaxActiveBlocksPerMultiprocessor"));
  const uint32_t blocks = std::min(most_blocks, static_cast<uint32_t>(n_multiprocessors * n_resident));
  void* pointers[] = {&arguments...};
  return check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                                           pointers, 0, stream),
               name);
}

/// The labeler whose two forms are Steps<Connectivity::k4> and Steps<Connectivity::k8>: each has a
/// static member run(frame, root_map, stream) with the contract of Labeler::label(), no workspace and no
/// iterations.
template <template <Connectivity> typename Steps>
class LabelerOf final : public Labeler {
 public:
  Status label(const SegmentSource& frame, Connectivity connectivity, uint32_t* root_map, void* /*workspace*/,
               uint32_t* /*n_iterations*/, cudaStream_t stream) override {
    return connectivity == Connectivity::k8 ? Steps<Connectivity::k8>::run(frame, root_map, stream)
                                            : Steps<Connectivity::k4>::run(frame, root_map, stream);
  }
};

}  // namespace ccl::device
