// SPDX-License-Identifier: LGPL-2.1-or-later
/// A component has a record if the filter keeps it and its area is above a threshold, or equal to the
/// threshold and among the first components of that area. Labels are tallied in chunks; one block chooses the
/// threshold and replaces tallies by the first index of each chunk; then each chunk numbers its components.
/// The threshold is 0 unless the table overflows. Only then the one block reads the marks, by a radix select
/// from the top digit down.
#include "device/stages/select.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include "ccl/segment.h"
#include "device/check.h"
#include "device/stages/measure.h"
#include "device/warp.cuh"

namespace ccl::device {

struct Threshold {
  uint32_t area;         ///< components of a larger area have a record
  uint32_t n_with_area;  ///< how many components of exactly this area have one, too
};

namespace {

constexpr uint32_t kChunk = 256;  // labels of one block, one to a thread
constexpr uint32_t kChooseThreads = 512;
constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;
constexpr uint32_t kAreaBits = 32;

/// Number of components above the threshold (upper half) and at the threshold (lower half), so that one sum
/// adds both. Each is less than 2³¹.
using Tally = unsigned long long;
constexpr Tally kAbove = Tally{1} << 32;
constexpr Tally kAtThreshold = 1;

__device__ uint32_t above(Tally tally) {
  return static_cast<uint32_t>(tally >> 32);
}

__device__ uint32_t at_threshold(Tally tally) {
  return static_cast<uint32_t>(tally);
}

__device__ Tally tally_of(uint32_t mark, uint32_t threshold) {
  if (mark == 0 || mark < threshold) {
    return 0;
  }
  return mark > threshold ? kAbove : kAtThreshold;
}

/// Replaces areas by marks, and counts what each condition removes. An area of 0 is that of a weak component,
/// which no condition counts.
__global__ void __launch_bounds__(kChunk) mark_components(Filter filter, MarkJob job) {
  __shared__ uint32_t n_removed[kFilterConditions];
  const uint32_t n_labels = job.counts->n_labels;
  if (blockIdx.x * kChunk >= n_labels) {
    return;  // the whole block
  }
  if (threadIdx.x < kFilterConditions) {
    n_removed[threadIdx.x] = 0;
  }
  __syncthreads();
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const uint32_t area = i < n_labels ? job.marks[i] : 0;
  if (area != 0) {
    const uint32_t failed =
        filter.failed_condition(job.sums == nullptr ? FilterSums{.area = area}
                                                    : filter_sums(area, job.sums[i], job.width, job.height));
    if (failed != kPassed) {
      job.marks[i] = 0;
      atomicAdd(n_removed + failed, 1);
    }
  }
  __syncthreads();
  if (threadIdx.x < kFilterConditions && n_removed[threadIdx.x] != 0) {
    atomicAdd(job.counts->n_removed + threadIdx.x, n_removed[threadIdx.x]);
  }
}

/// Components without an index get the mark 0, and are counted. counts->n_components is the number of marks
/// before, and of those that stay behind.
__global__ void __launch_bounds__(kChunk)
    drop_others(uint32_t top_n, const uint32_t* record_index, uint32_t* marks, FrameCounts* counts) {
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  if (i < counts->n_labels && record_index[i] == kNoRecord) {
    marks[i] = 0;
  }
  if (i == 0) {
    const uint32_t n = counts->n_components;
    counts->n_removed[kTopN] = n > top_n ? n - top_n : 0;
    counts->n_components = min(n, top_n);
  }
}

/// Flags the labels of strong pixels: is_strong[label − 1] = 1. All threads that flag a label store the same.
__global__ void __launch_bounds__(kChunk) flag_strong(const uint32_t* labels, const uint32_t* strong,
                                                      uint32_t width, uint32_t height, uint32_t* is_strong) {
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const uint32_t x = i % width;
  const uint32_t y = i / width;
  if (y < height && labels[i] != 0 && (strong[y * bit_row_words(width) + x / 32] >> x % 32 & 1) != 0) {
    is_strong[labels[i] - 1] = 1;
  }
}

__global__ void __launch_bounds__(kChunk)
    mark_strong(const uint32_t* is_strong, const FrameCounts* counts, uint32_t* marks) {
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  if (i < counts->n_labels && is_strong[i] == 0) {
    marks[i] = 0;
  }
}

__global__ void __launch_bounds__(kChunk)
    tally_chunks(const uint32_t* marks, const FrameCounts* counts, Tally* tallies) {
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const bool is_kept = i < counts->n_labels && marks[i] != 0;
  const int n = __syncthreads_count(is_kept);
  if (threadIdx.x == 0) {
    tallies[blockIdx.x] = kAbove * n;
  }
}

/// Radix select: the area such that fewer than `n_wanted` components are larger, and at least `n_wanted` are
/// as large or larger. The whole block calls it; `histogram` has kDigits counters in shared memory.
__device__ Threshold select_threshold(const uint32_t* marks, uint32_t n_labels, uint32_t n_wanted,
                                      uint32_t* histogram) {
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
      const uint32_t mark = marks[i];
      if (mark != 0 && uint64_t{mark} >> (shift + kDigitBits) == prefix) {
        atomicAdd(histogram + (mark >> shift) % kDigits, 1);
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

/// Tallies again, with the threshold; one warp per chunk.
__device__ void tally_again(const uint32_t* marks, uint32_t n_labels, uint32_t threshold, Tally* tallies) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  for (uint32_t chunk = threadIdx.x / kWarpSize; chunk * kChunk < n_labels;
       chunk += kChooseThreads / kWarpSize) {
    Tally tally = 0;
    for (uint32_t i = chunk * kChunk + lane; i < min((chunk + 1) * kChunk, n_labels); i += kWarpSize) {
      tally += tally_of(marks[i], threshold);
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
    choose_threshold(const uint32_t* marks, uint32_t max_components, Tally* tallies, FrameCounts* counts,
                     Threshold* threshold) {
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
    chosen = select_threshold(marks, n_labels, max_components, histogram);
    tally_again(marks, n_labels, chosen.area, tallies);
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    *threshold = chosen;
  }
  scan_tallies(tallies, n_chunks);
}

__global__ void __launch_bounds__(kChunk)
    assign_records(const uint32_t* marks, const FrameCounts* counts, const Tally* tallies,
                   const Threshold* threshold, uint32_t* record_index) {
  using Scan = cub::BlockScan<Tally, kChunk>;
  __shared__ typename Scan::TempStorage memory;
  const uint32_t n_labels = counts->n_labels;
  if (blockIdx.x * kChunk >= n_labels) {
    return;  // the whole block
  }
  const uint32_t i = blockIdx.x * kChunk + threadIdx.x;
  const Tally own = i < n_labels ? tally_of(marks[i], threshold->area) : 0;
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

/// If no component can be left out, areas are marks already.
Status Selection::mark_and_select(const Filter& filter, const MarkJob& job, cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(Measurement::measure_areas(job.labels, job.width, job.height, job.marks, stream));
  if (job.strong != nullptr) {
    CCL_RETURN_IF_ERROR(drop_weak(job, stream));
  }
  if (filter.is_active(job.width * job.height)) {
    CCL_RETURN_IF_ERROR(
        check(cudaMemsetAsync(job.counts->n_removed, 0, sizeof(FrameCounts::n_removed), stream),
              "cudaMemsetAsync of the counts of removed components"));
    mark_components<<<blocks_for(max_labels_, kChunk), kChunk, 0, stream>>>(filter, job);
    CCL_RETURN_IF_ERROR(check_launch("mark_components"));
  }
  return filter.top_n > 0 ? select_top(filter.top_n, job.marks, job.counts, job.record_index, stream)
                          : select(job.marks, job.counts, job.record_index, stream);
}

/// Makes the areas of components without strong pixels 0.
Status Selection::drop_weak(const MarkJob& job, cudaStream_t stream) {
  uint32_t* is_strong = job.record_index;  // free until records are selected
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(is_strong, 0, size_t{max_labels_} * sizeof(uint32_t), stream),
                            "cudaMemsetAsync of the flags of strong components"));
  flag_strong<<<blocks_for(job.width * job.height, kChunk), kChunk, 0, stream>>>(
      job.labels, job.strong, job.width, job.height, is_strong);
  CCL_RETURN_IF_ERROR(check_launch("flag_strong"));
  mark_strong<<<blocks_for(max_labels_, kChunk), kChunk, 0, stream>>>(is_strong, job.counts, job.marks);
  return check_launch("mark_strong");
}

/// The largest ones have the indices that select() would give them, unless the table overflows.
Status Selection::select_top(uint32_t top_n, uint32_t* marks, FrameCounts* counts, uint32_t* record_index,
                             cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(select_largest(top_n, marks, counts, record_index, stream));
  drop_others<<<blocks_for(max_labels_, kChunk), kChunk, 0, stream>>>(top_n, record_index, marks, counts);
  CCL_RETURN_IF_ERROR(check_launch("drop_others"));
  return top_n <= max_components_ ? Status() : select(marks, counts, record_index, stream);
}

Status Selection::select_largest(uint32_t n_wanted, const uint32_t* marks, FrameCounts* counts,
                                 uint32_t* record_index, cudaStream_t stream) {
  const uint32_t n_chunks = blocks_for(max_labels_, kChunk);
  Tally* tallies = reinterpret_cast<Tally*>(tallies_.data());
  Threshold* threshold = threshold_.data();
  tally_chunks<<<n_chunks, kChunk, 0, stream>>>(marks, counts, tallies);
  CCL_RETURN_IF_ERROR(check_launch("tally_chunks"));
  choose_threshold<<<1, kChooseThreads, 0, stream>>>(marks, n_wanted, tallies, counts, threshold);
  CCL_RETURN_IF_ERROR(check_launch("choose_threshold"));
  assign_records<<<n_chunks, kChunk, 0, stream>>>(marks, counts, tallies, threshold, record_index);
  return check_launch("assign_records");
}

}  // namespace ccl::device
