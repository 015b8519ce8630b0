// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/delivery.h"

#include <algorithm>

#include "device/check.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kBlocks = 32;

/// Copies the counts, and as many records as there are, to page-locked host memory. Frames have few records,
/// and the whole table would cost each frame a megabyte on the bus.
__global__ void __launch_bounds__(kBlockThreads)
    deliver(const FrameCounts* counts, const CclComponent* records, uint32_t max_components,
            bool defers_overflow, FrameCounts* host_counts, CclComponent* host_records) {
  static_assert(sizeof(CclComponent) % sizeof(uint4) == 0);
  constexpr uint32_t kVectors = sizeof(CclComponent) / sizeof(uint4);
  const uint32_t thread = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t n_components = counts->n_components;
  if (thread == 0) {
    *host_counts = *counts;
  }
  if (n_components > max_components && defers_overflow) {
    return;
  }
  const auto* from = reinterpret_cast<const uint4*>(records);
  auto* to = reinterpret_cast<uint4*>(host_records);
  const size_t n_vectors = size_t{min(n_components, max_components)} * kVectors;
  for (size_t i = thread; i < n_vectors; i += kBlocks * kBlockThreads) {
    to[i] = from[i];
  }
}

}  // namespace

Status Delivery::configure(uint32_t max_components, const Stream& stream) {
  max_components_ = max_components;
  CCL_RETURN_IF_ERROR(records_.allocate(max_components));
  CCL_RETURN_IF_ERROR(counts_.allocate(1));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(counts_.data(), 0, sizeof(FrameCounts), stream.get()),
                            "cudaMemsetAsync of the counts"));
  CCL_RETURN_IF_ERROR(host_counts_.allocate(1));
  return host_records_.allocate(max_components);
}

void Delivery::place(FrameBuffers* frame) const {
  frame->records = records_.data();
  frame->counts = counts_.data();
}

Status Delivery::enqueue(bool defers_overflow, const Stream& stream) const {
  deliver<<<kBlocks, kBlockThreads, 0, stream.get()>>>(counts_.data(), records_.data(), max_components_,
                                                       defers_overflow, host_counts_.data(),
                                                       host_records_.data());
  return check_launch("deliver");
}

Status Delivery::enqueue_table(const Stream& stream) const {
  return check(cudaMemcpyAsync(host_records_.data(), records_.data(), max_components_ * sizeof(CclComponent),
                               cudaMemcpyDeviceToHost, stream.get()),
               "cudaMemcpyAsync of the records");
}

std::span<const CclComponent> Delivery::records() const {
  return {host_records_.data(), std::min(counts().n_components, max_components_)};
}

}  // namespace ccl::device
