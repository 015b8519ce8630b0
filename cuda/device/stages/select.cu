// SPDX-License-Identifier: LGPL-2.1-or-later
/// A component has a record if it is left after filtering and its area is above a threshold, or equal to it
/// and among the first so many of that area. Labels are tallied in chunks, one block chooses the threshold
/// and turns tallies into each chunk's first index, and every chunk then numbers its own. The threshold is 0
/// unless the table overflows; only then the one block looks at the areas, by a radix select from the top
/// digit down.
#include "device/stages/select.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "device/check.h"
#include "device/warp.cuh"

namespace ccl::device {

struct Threshold {
  uint32_t area;         ///< components of a larger area have a record
  uint32_t n_with_area;  ///< so many of exactly this area have one, too
};

namespace {

constexpr uint32_t kChunk = 256;  // labels of one block, one to a thread
constexpr uint32_t kChooseThreads = 512;
constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;
constexpr uint32_t kAreaBits = 32;

/// FrameCounts of components above the threshold (upper half) and at the threshold (lower half), so that one
/// sum adds both. Each is less than 2³¹.
using Tally = unsigned long long;
constexpr Tally kAbove = Tally{1} << 32;
constexpr Tally kAtThreshold = 1;

__device__ uint32_t above(Tally tally) {
  return static_cast<uint32_t>(tally >> 32);
}

__device__ uint32_t at_threshold(Tally tally) {
  return static_cast<uint32_t>(tally);
}

__device__ Tally tally_of(const Settings& settings, uint32_t area, uint32_t threshold) {
  if (!settings.filter.keeps({area}) || area < threshold) {
    return 0;
  }
  return area > threshold ? kAbove : kAtThreshold;
}

__global__ void __launch_bounds__(kChunk)
    tally_chunks(Settings settings, const uint32_t* areas, const FrameCounts* counts, Tally* tallies) {
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const bool is_left = i < counts->n_labels && settings.filter.keeps({areas[i]});
  const int n = __syncthreads_count(is_left);
  if (threadIdx.x == 0) {
    tallies[blockIdx.x] = kAbove * n;
  }
}

/// Radix select: the area such that fewer than `n_wanted` components are larger, and at least so many are as
/// large. The whole block calls it; `histogram` has kDigits counters in shared memory.
__device__ Threshold select_threshold(const Settings& settings, const uint32_t* areas, uint32_t n_labels,
                                      uint32_t n_wanted, uint32_t* histogram) {
  __shared__ Threshold found;
  if (threadIdx.x == 0) {
    found = {0, n_wanted};
  }
  for (uint32_t shift = kAreaBits; shift > 0;) {
    shift -= kDigitBits;
    for (uint32_t digit = threadIdx.x; digit < kDigits; digit += kChooseThreads) {
      histogram[digit] = 0;
    }
    __syncthreads();
    const uint64_t prefix = uint64_t{found.area} >> (shift + kDigitBits);
    for (uint32_t i = threadIdx.x; i < n_labels; i += kChooseThreads) {
      const uint32_t area = areas[i];
      if (settings.filter.keeps({area}) && uint64_t{area} >> (shift + kDigitBits) == prefix) {
        atomicAdd(histogram + (area >> shift) % kDigits, 1);
      }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
      uint32_t digit = kDigits - 1;
      for (; digit > 0 && histogram[digit] < found.n_with_area; --digit) {
        found.n_with_area -= histogram[digit];
      }
      found.area |= digit << shift;
    }
    __syncthreads();
  }
  return found;
}

/// Tallies again, now that there is a threshold; one warp to a chunk.
__device__ void tally_again(const Settings& settings, const uint32_t* areas, uint32_t n_labels,
                            uint32_t threshold, Tally* tallies) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t chunk = threadIdx.x / kWarpSize; chunk * kChunk < n_labels;
       chunk += kChooseThreads / kWarpSize) {
    Tally tally = 0;
    for (uint32_t i = chunk * kChunk + lane; i < min((chunk + 1) * kChunk, n_labels); i += kWarpSize) {
      tally += tally_of(settings, areas[i], threshold);
    }
    for (uint32_t step = kWarpSize / 2; step > 0; step /= 2) {
      tally += __shfl_xor_sync(kAllLanes, tally, step);
    }
    if (lane == 0) {
      tallies[chunk] = tally;
    }
  }
}

/// Replaces each tally by the sum of those before it.
__device__ void scan_tallies(Tally* tallies, uint32_t n) {
  using Scan = cub::BlockScan<Tally, kChooseThreads>;
  __shared__ typename Scan::TempStorage memory;
  Tally before = 0;
  for (uint32_t base = 0; base < n; base += kChooseThreads) {
    const uint32_t i = base + threadIdx.x;
    Tally sum = 0;
    Tally total = 0;
    Scan(memory).ExclusiveSum(i < n ? tallies[i] : 0, sum, total);
    if (i < n) {
      tallies[i] = before + sum;
    }
    before += total;
    __syncthreads();
  }
}

/// One block.
__global__ void __launch_bounds__(kChooseThreads)
    choose_threshold(Settings settings, const uint32_t* areas, uint32_t max_components, Tally* tallies,
                     FrameCounts* counts, Threshold* threshold) {
  using Reduce = cub::BlockReduce<uint32_t, kChooseThreads>;
  __shared__ typename Reduce::TempStorage memory;
  __shared__ uint32_t n_components;
  __shared__ uint32_t histogram[kDigits];
  const uint32_t n_labels = counts->n_labels;
  const uint32_t n_chunks = (n_labels + kChunk - 1) / kChunk;
  uint32_t n = 0;
  for (uint32_t i = threadIdx.x; i < n_chunks; i += kChooseThreads) {
    n += above(tallies[i]);
  }
  n = Reduce(memory).Sum(n);
  if (threadIdx.x == 0) {
    n_components = n;
    counts->n_components = n;
  }
  __syncthreads();
  Threshold chosen{0, 0};
  if (n_components > max_components) {
    chosen = select_threshold(settings, areas, n_labels, max_components, histogram);
    tally_again(settings, areas, n_labels, chosen.area, tallies);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *threshold = chosen;
  }
  scan_tallies(tallies, n_chunks);
}

__global__ void __launch_bounds__(kChunk)
    assign_records(Settings settings, const uint32_t* areas, const FrameCounts* counts, const Tally* tallies,
                   const Threshold* threshold, uint32_t* record_index) {
  using Scan = cub::BlockScan<Tally, kChunk>;
  __shared__ typename Scan::TempStorage memory;
  const uint32_t n_labels = counts->n_labels;
  if (blockIdx.x * kChunk >= n_labels) {
    return;  // the whole block
  }
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const Tally own = i < n_labels ? tally_of(settings, areas[i], threshold->area) : 0;
  Tally before = 0;
  Scan(memory).ExclusiveSum(own, before);
  if (i >= n_labels) {
    return;
  }
  before += tallies[blockIdx.x];
  const uint32_t n_ties = threshold->n_with_area;
  const bool has_record = own == kAbove || (own == kAtThreshold && at_threshold(before) < n_ties);
  record_index[i] = has_record ? above(before) + min(at_threshold(before), n_ties) : kNoRecord;
}

}  // namespace

Status Selection::configure(uint32_t max_labels, uint32_t max_components) {
  max_labels_ = max_labels;
  max_components_ = max_components;
  CCL_RETURN_IF_ERROR(tallies_.allocate(blocks_for(max_labels, kChunk)));
  return threshold_.allocate(1);
}

Status Selection::run(const Settings& settings, const uint32_t* areas, FrameCounts* counts,
                      uint32_t* record_index, cudaStream_t stream) {
  const uint32_t n_chunks = blocks_for(max_labels_, kChunk);
  Tally* tallies = reinterpret_cast<Tally*>(tallies_.data());
  Threshold* threshold = threshold_.data();
  tally_chunks<<<n_chunks, kChunk, 0, stream>>>(settings, areas, counts, tallies);
  CCL_RETURN_IF_ERROR(check_launch("tally_chunks"));
  choose_threshold<<<1, kChooseThreads, 0, stream>>>(settings, areas, max_components_, tallies, counts,
                                                     threshold);
  CCL_RETURN_IF_ERROR(check_launch("choose_threshold"));
  assign_records<<<n_chunks, kChunk, 0, stream>>>(settings, areas, counts, tallies, threshold, record_index);
  return check_launch("assign_records");
}

}  // namespace ccl::device
