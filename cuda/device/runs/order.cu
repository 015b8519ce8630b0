// SPDX-License-Identifier: LGPL-2.1-or-later
/// The index of a record is the number of bits before its label's bit.
#include "device/runs/order.h"

#include "device/check.h"
#include "device/runs/tiles.h"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

constexpr uint32_t kThreads = 512;
constexpr uint32_t kBlocks = 64;

/// Counts the bits before each word. A block counts its share of the words, and adds the words before its
/// share.
__global__ void __launch_bounds__(kThreads)
    count_kept(const FrameCounts* counts, const uint32_t* is_kept, uint32_t* kept_before) {
  __shared__ uint32_t warp_sums[kWarpSize];
  const uint32_t n_words = counts->n_labels / kWordBits + 1;
  const uint32_t share = (n_words + kBlocks - 1) / kBlocks;
  const uint32_t begin = min(blockIdx.x * share, n_words);
  const uint32_t end = min(begin + share, n_words);
  uint32_t n = 0;
  for (uint32_t word = threadIdx.x; word < begin; word += kThreads) {
    n += __popc(is_kept[word]);
  }
  uint32_t before = 0;
  block_exclusive_sum(n, warp_sums, &before);
  for (uint32_t first = begin; first < end; first += kThreads) {
    __syncthreads();
    const uint32_t word = first + threadIdx.x;
    uint32_t total = 0;
    const uint32_t sum = block_exclusive_sum(word < end ? __popc(is_kept[word]) : 0, warp_sums, &total);
    if (word < end) {
      kept_before[word] = before + sum;
    }
    before += total;
  }
}

__global__ void __launch_bounds__(kThreads)
    place_records(const FrameCounts* counts, uint32_t max_components, const CclComponent* appended,
                  const uint32_t* is_kept, const uint32_t* kept_before, CclComponent* records) {
  const uint32_t n = counts->n_components;
  if (n > max_components) {
    return;
  }
  for (uint32_t i = blockIdx.x * kThreads + threadIdx.x; i < n; i += kBlocks * kThreads) {
    const uint32_t label = appended[i].label;
    const uint32_t word = label / kWordBits;
    records[kept_before[word] + __popc(is_kept[word] & bits_below(label % kWordBits))] = appended[i];
  }
}

}  // namespace

Status RecordOrder::configure(uint32_t max_components, uint32_t max_labels) {
  max_components_ = max_components;
  const uint32_t n_words = max_labels / kWordBits + 1;
  CCL_RETURN_IF_ERROR(appended_.allocate(max_components));
  CCL_RETURN_IF_ERROR(is_kept_.allocate(n_words));
  return kept_before_.allocate(n_words);
}

Status RecordOrder::run(const FrameCounts* counts, CclComponent* records, cudaStream_t stream) const {
  count_kept<<<kBlocks, kThreads, 0, stream>>>(counts, is_kept_.data(), kept_before_.data());
  CCL_RETURN_IF_ERROR(check_launch("count_kept"));
  place_records<<<kBlocks, kThreads, 0, stream>>>(counts, max_components_, appended_.data(), is_kept_.data(),
                                                  kept_before_.data(), records);
  return check_launch("place_records");
}

}  // namespace ccl::device::runs
