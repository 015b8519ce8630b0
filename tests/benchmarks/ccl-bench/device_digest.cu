// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_digest.h"

#include "device/check.h"
#include "digest.h"

namespace ccl::bench {

namespace {

constexpr uint32_t kThreads = 256;
constexpr uint32_t kBlocks = 1024;

__device__ uint32_t word_at(const uint8_t* bytes, size_t n_bytes, size_t index) {
  if ((index + 1) * sizeof(uint32_t) <= n_bytes) {
    return reinterpret_cast<const uint32_t*>(bytes)[index];
  }
  uint32_t word = 0;
  for (size_t i = index * sizeof(uint32_t); i < n_bytes; ++i) {
    word |= static_cast<uint32_t>(bytes[i]) << (i % sizeof(uint32_t) * 8);
  }
  return word;
}

__device__ void add_digest(const void* data, size_t n_bytes, uint64_t* digest) {
  const size_t n_words = (n_bytes + sizeof(uint32_t) - 1) / sizeof(uint32_t);
  uint64_t sum = 0;
  for (size_t i = blockIdx.x * size_t{kThreads} + threadIdx.x; i < n_words;
       i += size_t{kThreads} * gridDim.x) {
    sum += digest_part(i, word_at(static_cast<const uint8_t*>(data), n_bytes, i));
  }
  for (uint32_t distance = warpSize / 2; distance > 0; distance /= 2) {
    sum += __shfl_down_sync(0xffffffff, sum, distance);
  }
  if (threadIdx.x % warpSize == 0) {
    atomicAdd(reinterpret_cast<unsigned long long*>(digest), static_cast<unsigned long long>(sum));
  }
}

__global__ void __launch_bounds__(kThreads) digest_bytes(const void* data, size_t n_bytes, uint64_t* digest) {
  add_digest(data, n_bytes, digest);
}

__global__ void __launch_bounds__(kThreads)
    digest_records(const CclComponent* records, const FrameCounts* counts, uint32_t max_components,
                   uint64_t* digest) {
  add_digest(records, size_t{min(counts->n_components, max_components)} * sizeof(CclComponent), digest);
}

}  // namespace

Status enqueue_digest(const void* data, size_t n_bytes, uint64_t* digest, cudaStream_t stream) {
  digest_bytes<<<kBlocks, kThreads, 0, stream>>>(data, n_bytes, digest);
  return device::check_launch("digest_bytes");
}

Status enqueue_record_digest(const CclComponent* records, const FrameCounts* counts, uint32_t max_components,
                             uint64_t* digest, cudaStream_t stream) {
  digest_records<<<kBlocks, kThreads, 0, stream>>>(records, counts, max_components, digest);
  return device::check_launch("digest_records");
}

}  // namespace ccl::bench
