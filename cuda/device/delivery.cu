// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/delivery.h"

#include <algorithm>

#include "device/check.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kBlocks = 32;      ///< of a launch, unless it has more frames
constexpr uint32_t kLeastBlocks = 2;  ///< of a frame

/// Copies the counts, and as many records as there are, to page-locked host memory. Frames have few records,
/// and the whole table would cost each frame a megabyte on the bus. A row of the grid copies those of a
/// frame.
__global__ void __launch_bounds__(kBlockThreads)
    deliver(const FrameCounts* counts, const CclComponent* records, uint32_t max_components,
            bool defers_overflow, FrameCounts* host_counts, CclComponent* host_records) {
  static_assert(sizeof(CclComponent) % sizeof(uint4) == 0);
  constexpr uint32_t kVectors = sizeof(CclComponent) / sizeof(uint4);
  const uint32_t frame = blockIdx.y;
  const uint32_t thread = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t n_components = counts[frame].n_components;
  if (thread == 0) {
    host_counts[frame] = counts[frame];
  }
  if (n_components > max_components && defers_overflow) {
    return;
  }
  const size_t table = size_t{frame} * max_components;
  const auto* from = reinterpret_cast<const uint4*>(records + table);
  auto* to = reinterpret_cast<uint4*>(host_records + table);
  const size_t n_vectors = size_t{min(n_components, max_components)} * kVectors;
  for (size_t i = thread; i < n_vectors; i += gridDim.x * kBlockThreads) {
    to[i] = from[i];
  }
}

}  // namespace

Status Delivery::configure(uint32_t max_components, uint32_t n_frames, const Stream& stream) {
  max_components_ = max_components;
  const size_t n_records = size_t{max_components} * n_frames;
  CCL_RETURN_IF_ERROR(records_.allocate(n_records));
  CCL_RETURN_IF_ERROR(counts_.allocate(n_frames));
  CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(counts_.data(), 0, n_frames * sizeof(FrameCounts), stream.get()),
                            "cudaMemsetAsync of the counts"));
  CCL_RETURN_IF_ERROR(host_counts_.allocate(n_frames));
  return host_records_.allocate(n_records);
}

Status Delivery::enqueue(bool defers_overflow, uint32_t n_frames, const Stream& stream) const {
  const dim3 blocks(std::max(kBlocks / n_frames, kLeastBlocks), n_frames);
  deliver<<<blocks, kBlockThreads, 0, stream.get()>>>(counts_.data(), records_.data(), max_components_,
                                                      defers_overflow, host_counts_.data(),
                                                      host_records_.data());
  return check_launch("deliver");
}

Status Delivery::enqueue_table(const Stream& stream) const {
  return check(cudaMemcpyAsync(host_records_.data(), records_.data(), max_components_ * sizeof(CclComponent),
                               cudaMemcpyDeviceToHost, stream.get()),
               "cudaMemcpyAsync of the records");
}

std::span<const CclComponent> Delivery::records(uint32_t frame) const {
  return {host_records_.data() + size_t{frame} * max_components_,
          std::min(counts(frame).n_components, max_components_)};
}

}  // namespace ccl::device
