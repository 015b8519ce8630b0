// SPDX-License-Identifier: LGPL-2.1-or-later
/// Launching kernels: one after the other, overlapped, or with all blocks resident.
#pragma once

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "device/check.h"

namespace ccl::device {

/// The most threads that are resident on a multiprocessor of the compiled architecture. ptxas rejects launch
/// bounds that need more.
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 750
inline constexpr uint32_t kMultiprocessorThreads = 1024;
#elif defined(__CUDA_ARCH__) && \
    ((__CUDA_ARCH__ >= 860 && __CUDA_ARCH__ < 900) || __CUDA_ARCH__ == 1010 || __CUDA_ARCH__ >= 1100)
inline constexpr uint32_t kMultiprocessorThreads = 1536;
#else
inline constexpr uint32_t kMultiprocessorThreads = 2048;
#endif

/// The threads of a block, where a kernel has no reason for another number.
inline constexpr uint32_t kBlockThreads = 256;

/// Enqueues a kernel without dynamic shared memory; does nothing if there are no blocks. Messages contain
/// `name`.
template <typename... Parameters, typename... Arguments>
Status launch(const char* name, void (*kernel)(Parameters...), dim3 blocks, uint32_t threads,
              cudaStream_t stream, Arguments... arguments) {
  if (blocks.x == 0 || blocks.y == 0) {
    return {};
  }
  kernel<<<blocks, threads, 0, stream>>>(arguments...);
  return check_launch(name);
}

/// Allows the next kernel, if launch_overlapped() enqueued it, to start when all blocks of this kernel have
/// called this function or ended. The first of a chain of kernels calls it.
__device__ inline void allow_next_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

/// Waits until the previous kernel has ended and its writes, and those of the kernels before it, are visible.
/// Then allows the next kernel to start. At most two kernels of a chain run at a time, so that a kernel never
/// reads what the kernel before the previous one left in a first-level cache.
__device__ inline void wait_for_previous_kernel() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  allow_next_kernel();
}

/// Whether a kernel that calls wait_for_previous_kernel() may start before the previous one has ended. Code
/// that was compiled for an architecture before 9.0, or from PTX for one, does not wait. Graphs of some CUDA
/// 12 versions cannot contain such a launch.
inline Status can_overlap(const void* kernel, bool* can) {
  cudaFuncAttributes compiled{};
  CCL_RETURN_IF_ERROR(check(cudaFuncGetAttributes(&compiled, kernel), "cudaFuncGetAttributes"));
  *can = compiled.ptxVersion >= 90 && CUDART_VERSION >= 13000;
  return {};
}

/// Enqueues a kernel whose blocks may start before the previous kernel has ended (programmatic dependent
/// launch), which hides the latency of its launch. A thread must call wait_for_previous_kernel() before it
/// reads what the previous kernel writes, and before it writes what the previous kernel reads or writes. At
/// least one thread of each block must call it.
template <typename... Parameters, typename... Arguments>
Status launch_overlapped(const char* name, void (*kernel)(Parameters...), dim3 blocks, uint32_t threads,
                         cudaStream_t stream, Arguments... arguments) {
  if (blocks.x == 0 || blocks.y == 0) {
    return {};
  }
  bool is_overlapped = false;
  CCL_RETURN_IF_ERROR(can_overlap(reinterpret_cast<const void*>(kernel), &is_overlapped));
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = blocks;
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = &attribute;
  config.numAttrs = is_overlapped ? 1 : 0;
  return check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), name);
}

/// Writes how many blocks of a kernel the GPU holds at the same time, at most `most_blocks`.
inline Status limit_to_resident(const void* kernel, uint32_t most_blocks, uint32_t threads,
                                uint32_t* n_blocks) {
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
  *n_blocks = std::min(most_blocks, static_cast<uint32_t>(n_multiprocessors * n_resident));
  return {};
}

/// Enqueues a kernel whose blocks are all resident at the same time, so that they may wait for each other:
/// as many as the GPU holds, at most `most_blocks`.
template <typename... Parameters>
Status launch_resident(const char* name, void (*kernel)(Parameters...), uint32_t most_blocks,
                       uint32_t threads, cudaStream_t stream, std::type_identity_t<Parameters>... arguments) {
  uint32_t blocks = 0;
  CCL_RETURN_IF_ERROR(
      limit_to_resident(reinterpret_cast<const void*>(kernel), most_blocks, threads, &blocks));
  void* pointers[] = {&arguments...};
  return check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks), dim3(threads),
                                           pointers, 0, stream),
               name);
}

/// Both launch_overlapped() and launch_resident().
template <typename... Parameters>
Status launch_resident_overlapped(const char* name, void (*kernel)(Parameters...), uint32_t most_blocks,
                                  uint32_t threads, cudaStream_t stream,
                                  std::type_identity_t<Parameters>... arguments) {
  uint32_t blocks = 0;
  bool is_overlapped = false;
  CCL_RETURN_IF_ERROR(
      limit_to_resident(reinterpret_cast<const void*>(kernel), most_blocks, threads, &blocks));
  CCL_RETURN_IF_ERROR(can_overlap(reinterpret_cast<const void*>(kernel), &is_overlapped));
  cudaLaunchAttribute attributes[2]{};
  attributes[0].id = cudaLaunchAttributeCooperative;
  attributes[0].val.cooperative = 1;
  attributes[1].id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attributes[1].val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = dim3(blocks);
  config.blockDim = dim3(threads);
  config.stream = stream;
  config.attrs = attributes;
  config.numAttrs = is_overlapped ? 2 : 1;
  return check(cudaLaunchKernelEx(&config, kernel, arguments...), name);
}

}  // namespace ccl::device
