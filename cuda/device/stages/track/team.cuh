// SPDX-License-Identifier: LGPL-2.1-or-later
/// Threads of a kernel as teams of the rules (track/team.h).
#pragma once

#include <cooperative_groups.h>

#include <cstdint>

#include "device/warp.cuh"
#include "track/team.h"

namespace ccl::device {

inline constexpr uint32_t kTeamBlocks = 8;  ///< as many as a cluster may have on every GPU that has clusters
inline constexpr uint32_t kTeamThreads = 1024;

/// Waits for all threads of a grid that is one cluster of blocks, or one block.
__device__ inline void sync_cluster() {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
  cooperative_groups::this_cluster().sync();
#else
  __syncthreads();
#endif
}

/// What all teams have.
struct AtomicWords {
  __device__ uint32_t load(const uint32_t* word) const { return *const_cast<const volatile uint32_t*>(word); }
  __device__ uint32_t add(uint32_t* word, uint32_t value) const { return atomicAdd(word, value); }
  __device__ uint32_t min(uint32_t* word, uint32_t value) const { return atomicMin(word, value); }
  __device__ uint32_t max(uint32_t* word, uint32_t value) const { return atomicMax(word, value); }
  __device__ uint64_t max(uint64_t* word, uint64_t value) const {
    return atomicMax(reinterpret_cast<unsigned long long*>(word), static_cast<unsigned long long>(value));
  }
  __device__ uint32_t exchange(uint32_t* word, uint32_t value) const { return atomicExch(word, value); }
};

/// Shared memory of a block of a team.
struct TeamMemory {
  uint32_t warp_sums[kWarpSize];
  uint32_t block_sum;
};

/// All threads of a grid that is one cluster of blocks of kTeamThreads threads. A warp is a group.
struct ClusterThreads : AtomicWords {
  static constexpr bool kSorts = true;
  static constexpr uint32_t kLanes = kWarpSize;

  TeamMemory* memory;

  __device__ explicit ClusterThreads(TeamMemory* shared) : memory(shared) {}
  __device__ uint32_t rank() const { return blockIdx.x * blockDim.x + threadIdx.x; }
  __device__ uint32_t size() const { return gridDim.x * blockDim.x; }
  __device__ void sync() const { sync_cluster(); }

  __device__ uint64_t min_of_lanes(uint64_t value) const {
    const auto high = static_cast<uint32_t>(value >> 32);
    const uint32_t least_high = warp_min(kAllLanes, high);
    const uint32_t low = high == least_high ? static_cast<uint32_t>(value) : UINT32_MAX;
    return uint64_t{least_high} << 32 | warp_min(kAllLanes, low);
  }

  __device__ uint32_t scan(uint32_t n, uint32_t* total) const {
    sync();  // the sums of the scan before are read
    const uint32_t before_in_block = block_exclusive_sum(n, memory->warp_sums, total);
    if (threadIdx.x == 0) {
      memory->block_sum = *total;
    }
    sync();
    uint32_t before = before_in_block;
    *total = 0;
    for (uint32_t block = 0; block < gridDim.x; ++block) {
      const uint32_t of_block = sum_of(block);
      before += block < blockIdx.x ? of_block : 0;
      *total += of_block;
    }
    return before;
  }

 private:
  __device__ uint32_t sum_of([[maybe_unused]] uint32_t block) const {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
    return *cooperative_groups::this_cluster().map_shared_rank(&memory->block_sum, block);
#else
    return memory->block_sum;
#endif
  }
};

/// All threads of a block. It decides about as many objects as fit in its shared memory, and looks at all
/// pairs of them: code that sorts would take registers from it.
struct BlockThreads : AtomicWords {
  static constexpr bool kSorts = false;
  static constexpr uint32_t kLanes = 1;

  TeamMemory* memory;

  __device__ explicit BlockThreads(TeamMemory* shared) : memory(shared) {}
  __device__ uint32_t rank() const { return threadIdx.x; }
  __device__ uint32_t size() const { return blockDim.x; }
  __device__ uint64_t min_of_lanes(uint64_t value) const { return value; }
  __device__ void sync() const { __syncthreads(); }

  __device__ uint32_t scan(uint32_t n, uint32_t* total) const {
    sync();  // the sums of the scan before are read
    return block_exclusive_sum(n, memory->warp_sums, total);
  }
};

/// All threads of a grid, for steps without sync(). Warps with neighbouring items are in different blocks, so
/// that few items are spread over many multiprocessors.
struct SpreadWarps {
  __device__ uint32_t rank() const {
    const uint32_t warp = threadIdx.x / kWarpSize * gridDim.x + blockIdx.x;
    return warp * kWarpSize + threadIdx.x % kWarpSize;
  }
  __device__ uint32_t size() const { return gridDim.x * blockDim.x; }
};

/// Likewise, but neighbouring items are in different blocks: for large records, of which each access of a
/// warp takes as many cycles as it has items.
struct SpreadThreads {
  __device__ uint32_t rank() const { return threadIdx.x * gridDim.x + blockIdx.x; }
  __device__ uint32_t size() const { return gridDim.x * blockDim.x; }
};

/// The rules are functions of the host, too. The host's compilation of a kernel needs a team that it can
/// call.
#ifdef __CUDA_ARCH__
using ClusterTeam = ClusterThreads;
using BlockTeam = BlockThreads;
using WarpTeam = SpreadWarps;
using SpreadTeam = SpreadThreads;
#else
struct HostTeam : track::HostTeam {
  constexpr explicit HostTeam(TeamMemory*) {}
};
using ClusterTeam = HostTeam;
using BlockTeam = HostTeam;
using WarpTeam = track::HostTeam;
using SpreadTeam = track::HostTeam;
#endif

}  // namespace ccl::device
