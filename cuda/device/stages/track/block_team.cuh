// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block as the team of the rules (track/team.h).
#pragma once

#include <cstdint>

#include "device/warp.cuh"
#include "track/team.h"

namespace ccl::device {

inline constexpr uint32_t kTeamThreads = 1024;

/// All threads of a block of whole warps, at most kTeamThreads.
struct BlockTeam {
  uint32_t* warp_sums;  ///< shared memory, a word per warp

  __device__ uint32_t rank() const { return threadIdx.x; }
  __device__ uint32_t size() const { return blockDim.x; }
  __device__ void sync() const { __syncthreads(); }
  __device__ uint32_t load(const uint32_t* word) const { return *const_cast<const volatile uint32_t*>(word); }

  __device__ uint32_t add(uint32_t* word, uint32_t value) const { return atomicAdd(word, value); }
  __device__ uint32_t min(uint32_t* word, uint32_t value) const { return atomicMin(word, value); }
  __device__ uint32_t max(uint32_t* word, uint32_t value) const { return atomicMax(word, value); }
  __device__ uint64_t max(uint64_t* word, uint64_t value) const {
    return atomicMax(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
  }
  __device__ uint32_t exchange(uint32_t* word, uint32_t value) const { return atomicExch(word, value); }

  __device__ uint32_t scan(uint32_t n, uint32_t* total) const {
    __syncthreads();  // the sums of the scan before are read
    return block_exclusive_sum(n, warp_sums, total);
  }
};

/// The rules are functions of the host, too. The host's compilation of a kernel needs a team that it can
/// call.
#ifdef __CUDA_ARCH__
using KernelTeam = BlockTeam;
__device__ inline KernelTeam kernel_team(uint32_t* warp_sums) {
  return {warp_sums};
}
#else
using KernelTeam = track::HostTeam;
__device__ inline KernelTeam kernel_team(uint32_t*) {
  return {};
}
#endif

}  // namespace ccl::device
