// SPDX-License-Identifier: LGPL-2.1-or-later
/// A component has a record if the filter keeps it and its area is above a threshold, or equal to the
/// threshold and among the first components of that area. The threshold is 0 unless more are kept than may
/// have records; then it is found by a radix select from the top digit down. One kernel does it: each of its
/// blocks has consecutive labels, and between the steps all blocks wait for each other.
#include "device/stages/select.h"

#include <cub/block/block_reduce.cuh>
#include <cub/block/block_scan.cuh>

#include <algorithm>

#include "ccl/segment.h"
#include "device/check.h"
#include "device/grid_barrier.cuh"
#include "device/launch.cuh"
#include "device/stages/measure.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kThreads = 1024;  // of select_records()
constexpr uint32_t kMostBlocks = 128;
constexpr uint32_t kItems = 4;  // consecutive labels of a thread
constexpr uint32_t kChunk = kThreads * kItems;
constexpr uint32_t kDigitBits = 8;
constexpr uint32_t kDigits = 1u << kDigitBits;
constexpr uint32_t kAreaDigits = 32 / kDigitBits;
static_assert(kDigits <= kThreads && kMostBlocks <= kThreads);

/// Number of components above the threshold (upper half) and at the threshold (lower half), so that one sum
/// adds both. Each is less than 2³¹.
using Tally = unsigned long long;
constexpr Tally kAbove = Tally{1} << 32;
constexpr Tally kAtThreshold = 1;

struct Threshold {
  uint32_t area;         ///< components of a larger area have a record
  uint32_t n_with_area;  ///< how many components of exactly this area have one, too
};

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
__global__ void __launch_bounds__(kBlockThreads) mark_components(Filter filter, MarkJob job) {
  __shared__ uint32_t n_removed[kFilterConditions];
  const uint32_t n_labels = job.counts->n_labels;
  if (blockIdx.x * kBlockThreads >= n_labels) {
    return;  // the whole block
  }
  if (threadIdx.x < kFilterConditions) {
    n_removed[threadIdx.x] = 0;
  }
  __syncthreads();
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
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

/// Flags the labels of strong pixels: is_strong[label − 1] = 1. All threads that flag a label store the same.
__global__ void __launch_bounds__(kBlockThreads)
    flag_strong(const uint32_t* labels, const uint32_t* strong, uint32_t width, uint32_t height,
                uint32_t* is_strong) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t x = i % width;
  const uint32_t y = i / width;
  if (y < height && labels[i] != 0 && (strong[y * bit_row_words(width) + x / 32] >> x % 32 & 1) != 0) {
    is_strong[labels[i] - 1] = 1;
  }
}

__global__ void __launch_bounds__(kBlockThreads)
    mark_strong(const uint32_t* is_strong, const FrameCounts* counts, uint32_t* marks) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i < counts->n_labels && is_strong[i] == 0) {
    marks[i] = 0;
  }
}

}  // namespace

/// What the blocks of select_records() share. Zero before the first one.
struct SelectMemory {
  uint32_t arrivals;  ///< see GridBarrier
  Tally tallies[kMostBlocks];
  uint32_t histograms[kAreaDigits][kDigits];  ///< zero before and after each kernel
};

namespace {

struct SelectJob {
  uint32_t n_wanted;       ///< the largest ones have an index; ties: the smaller label
  bool drops_others;       ///< the marks of all others become 0, and they are counted as Filter::top_n's
  uint32_t* marks;         ///< per label
  uint32_t* record_index;  ///< out, per label
  FrameCounts* counts;
};

/// All blocks, or one alone.
struct Team {
  GridBarrier barrier;
  uint32_t rank;
  uint32_t n_blocks;

  __device__ void wait() const {
    if (n_blocks == 1) {
      __syncthreads();
    } else {
      barrier.wait(barrier.arrive());
    }
  }
};

/// The labels of a block of a team.
class Share {
 public:
  __device__ Share(const Team& team, uint32_t n_labels) {
    const uint32_t n_chunks = (n_labels + kChunk - 1) / kChunk;
    const uint32_t n_own = (n_chunks + team.n_blocks - 1) / team.n_blocks;
    begin_ = min(team.rank * n_own * kChunk, n_labels);
    end_ = min(begin_ + n_own * kChunk, n_labels);
  }

  /// All threads of the block call visit(i) at the same time, each with the first of kItems labels − 1, which
  /// may lie behind the end.
  template <typename Visit>
  __device__ void for_each_chunk(Visit visit) const {
    for (uint32_t chunk = begin_; chunk < end_; chunk += kChunk) {
      visit(chunk + threadIdx.x * kItems);
    }
  }
  __device__ uint32_t mark(const uint32_t* marks, uint32_t i) const { return i < end_ ? marks[i] : 0; }
  __device__ bool has(uint32_t i) const { return i < end_; }

 private:
  uint32_t begin_;
  uint32_t end_;
};

struct Tallies {
  Tally before;  ///< of the blocks before
  Tally all;
};

/// Tallies of all blocks. The whole block calls it, with what it counted in `own`.
__device__ Tallies add_tallies(const Team& team, Tally own, SelectMemory* memory) {
  using Reduce = cub::BlockReduce<Tally, kThreads>;
  __shared__ typename Reduce::TempStorage scratch;
  __shared__ Tallies sums;
  const Tally of_block = Reduce(scratch).Sum(own);
  if (threadIdx.x == 0) {
    memory->tallies[team.rank] = of_block;
  }
  team.wait();
  const Tally one = threadIdx.x < team.n_blocks ? memory->tallies[threadIdx.x] : 0;
  const Tally before = Reduce(scratch).Sum(threadIdx.x < team.rank ? one : 0);
  __syncthreads();
  const Tally all = Reduce(scratch).Sum(one);
  if (threadIdx.x == 0) {
    sums = {before, all};
  }
  __syncthreads();
  return sums;
}

__device__ Tallies tally(const Team& team, const Share& share, const SelectJob& job, uint32_t threshold,
                         SelectMemory* memory) {
  Tally own = 0;
  share.for_each_chunk([&](uint32_t first) {
    for (uint32_t i = first; i < first + kItems; ++i) {
      own += tally_of(share.mark(job.marks, i), threshold);
    }
  });
  return add_tallies(team, own, memory);
}

/// Adds the digits at `shift` of the block's marks whose higher digits are those of `found`.
__device__ void count_digits(const Share& share, const SelectJob& job, const Threshold& found, uint32_t shift,
                             uint32_t* histogram) {
  __shared__ uint32_t own[kDigits];
  if (threadIdx.x < kDigits) {
    own[threadIdx.x] = 0;
  }
  __syncthreads();
  share.for_each_chunk([&](uint32_t first) {
    for (uint32_t i = first; i < first + kItems; ++i) {
      const uint32_t mark = share.mark(job.marks, i);
      if (mark != 0 && uint64_t{mark ^ found.area} >> (shift + kDigitBits) == 0) {
        atomicAdd(own + (mark >> shift) % kDigits, 1);
      }
    }
  });
  __syncthreads();
  if (threadIdx.x < kDigits && own[threadIdx.x] != 0) {
    atomicAdd(histogram + threadIdx.x, own[threadIdx.x]);
  }
}

/// The digit of the last one that is wanted, from the largest digit down.
__device__ Threshold next_digit(Threshold found, uint32_t shift, const uint32_t* histogram) {
  using Scan = cub::BlockScan<uint32_t, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  __shared__ Threshold next;
  const uint32_t digit = kDigits - 1 - threadIdx.x;  // of the first kDigits threads
  const uint32_t n = threadIdx.x < kDigits ? histogram[digit] : 0;
  uint32_t n_larger = 0;
  Scan(scratch).ExclusiveSum(n, n_larger);
  if (n_larger < found.n_with_area && n_larger + n >= found.n_with_area) {
    next = {found.area | digit << shift, found.n_with_area - n_larger};
  }
  __syncthreads();
  return next;
}

/// Radix select: the area such that fewer than n_wanted components are larger, and at least n_wanted are as
/// large or larger. There are more than n_wanted.
__device__ Threshold select_threshold(const Team& team, const Share& share, const SelectJob& job,
                                      SelectMemory* memory) {
  Threshold found = {0, job.n_wanted};
  for (uint32_t digit = kAreaDigits; digit-- > 0;) {
    const uint32_t shift = digit * kDigitBits;
    count_digits(share, job, found, shift, memory->histograms[digit]);
    team.wait();
    found = next_digit(found, shift, memory->histograms[digit]);
  }
  return found;
}

/// Writes the index of each component of the block, from what is known of the blocks before.
__device__ void assign_records(const Share& share, const SelectJob& job, const Threshold& threshold,
                               Tally before) {
  using Scan = cub::BlockScan<Tally, kThreads>;
  __shared__ typename Scan::TempStorage scratch;
  share.for_each_chunk([&](uint32_t first) {
    Tally own[kItems];
    Tally sums[kItems];
    Tally of_chunk = 0;
    for (uint32_t item = 0; item < kItems; ++item) {
      own[item] = tally_of(share.mark(job.marks, first + item), threshold.area);
    }
    Scan(scratch).ExclusiveSum(own, sums, of_chunk);
    for (uint32_t item = 0; item < kItems && share.has(first + item); ++item) {
      const Tally sum = before + sums[item];
      const uint32_t n_ties = min(at_threshold(sum), threshold.n_with_area);
      const bool has_record =
          own[item] == kAbove || (own[item] == kAtThreshold && at_threshold(sum) < threshold.n_with_area);
      job.record_index[first + item] = has_record ? above(sum) + n_ties : kNoRecord;
      if (job.drops_others && !has_record) {
        job.marks[first + item] = 0;
      }
    }
    before += of_chunk;
    __syncthreads();
  });
}

__global__ void __launch_bounds__(kThreads) select_records(SelectJob job, SelectMemory* memory) {
  const uint32_t n_labels = job.counts->n_labels;
  const bool is_alone = n_labels <= kChunk;
  if (is_alone && blockIdx.x != 0) {
    return;
  }
  const Team team{GridBarrier(&memory->arrivals), blockIdx.x, is_alone ? 1 : gridDim.x};
  const Share share(team, n_labels);
  Tallies tallies = tally(team, share, job, 0, memory);
  const uint32_t n = above(tallies.all);
  Threshold threshold = {0, 0};
  if (n > job.n_wanted) {
    threshold = select_threshold(team, share, job, memory);
    tallies = tally(team, share, job, threshold.area, memory);
    for (uint32_t digit = team.rank; digit < kAreaDigits; digit += team.n_blocks) {
      if (threadIdx.x < kDigits) {
        memory->histograms[digit][threadIdx.x] = 0;
      }
    }
  }
  assign_records(share, job, threshold, tallies.before);
  if (team.rank == 0 && threadIdx.x == 0) {
    job.counts->n_components = job.drops_others ? min(n, job.n_wanted) : n;
    if (job.drops_others) {
      job.counts->n_removed[kTopN] = n - min(n, job.n_wanted);
    }
  }
}

}  // namespace

Status Selection::configure(uint32_t max_labels, uint32_t max_components) {
  max_labels_ = max_labels;
  max_components_ = max_components;
  Stream stream;
  CCL_RETURN_IF_ERROR(stream.create());
  CCL_RETURN_IF_ERROR(memory_.allocate(1));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(memory_.data(), 0, sizeof(SelectMemory), stream.get()),
                            "cudaMemsetAsync of what selects records"));
  return stream.synchronize();
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
    mark_components<<<blocks_for(max_labels_, kBlockThreads), kBlockThreads, 0, stream>>>(filter, job);
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
  flag_strong<<<blocks_for(job.width * job.height, kBlockThreads), kBlockThreads, 0, stream>>>(
      job.labels, job.strong, job.width, job.height, is_strong);
  CCL_RETURN_IF_ERROR(check_launch("flag_strong"));
  mark_strong<<<blocks_for(max_labels_, kBlockThreads), kBlockThreads, 0, stream>>>(is_strong, job.counts,
                                                                                    job.marks);
  return check_launch("mark_strong");
}

/// The largest ones have the indices that select() would give them, unless the table overflows.
Status Selection::select_top(uint32_t top_n, uint32_t* marks, FrameCounts* counts, uint32_t* record_index,
                             cudaStream_t stream) {
  CCL_RETURN_IF_ERROR(enqueue(top_n, /*drops_others=*/true, marks, counts, record_index, stream));
  return top_n <= max_components_ ? Status() : select(marks, counts, record_index, stream);
}

Status Selection::enqueue(uint32_t n_wanted, bool drops_others, uint32_t* marks, FrameCounts* counts,
                          uint32_t* record_index, cudaStream_t stream) {
  return launch_resident("select_records", select_records,
                         std::min(blocks_for(max_labels_, kChunk), kMostBlocks), kThreads, stream,
                         SelectJob{n_wanted, drops_others, marks, record_index, counts}, memory_.data());
}

}  // namespace ccl::device
