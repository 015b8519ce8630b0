// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/number.h"

#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <cub/device/device_scan.cuh>

#include "device/check.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

/// 1 for a component's first pixel, else 0.
struct IsRoot {
  const uint32_t* root_map;

  __host__ __device__ uint32_t operator()(uint32_t pixel) const { return root_map[pixel] == pixel + 1; }
};

cudaError_t scan_roots(void* memory, size_t& bytes, const uint32_t* root_map, uint32_t* ranks,
                       uint32_t n_pixels, cudaStream_t stream) {
  const auto flags =
      thrust::make_transform_iterator(thrust::make_counting_iterator(uint32_t{0}), IsRoot{root_map});
  return cub::DeviceScan::InclusiveSum(memory, bytes, flags, ranks, static_cast<int>(n_pixels), stream);
}

__global__ void __launch_bounds__(kBlockThreads)
    write_labels(const uint32_t* root_map, const uint32_t* ranks, uint32_t n_pixels, uint32_t* labels,
                 uint32_t* n_labels) {
  const uint32_t pixel = blockIdx.x * kBlockThreads + threadIdx.x;
  if (pixel >= n_pixels) {
    return;
  }
  const uint32_t root = root_map[pixel];
  labels[pixel] = root != 0 ? ranks[root - 1] : 0;
  if (pixel == n_pixels - 1) {
    *n_labels = ranks[pixel];
  }
}

}  // namespace

Status Numbering::configure(uint32_t n_pixels) {
  n_pixels_ = n_pixels;
  CCL_RETURN_IF_ERROR(
      check(scan_roots(nullptr, scan_bytes_, nullptr, nullptr, n_pixels, nullptr), "cub::DeviceScan"));
  CCL_RETURN_IF_ERROR(ranks_.allocate(n_pixels));
  return scan_memory_.allocate(scan_bytes_);
}

Status Numbering::run(const uint32_t* root_map, uint32_t* labels, uint32_t* n_labels, cudaStream_t stream) {
  size_t bytes = scan_bytes_;
  CCL_RETURN_IF_ERROR(check(
      scan_roots(scan_memory_.data(), bytes, root_map, ranks_.data(), n_pixels_, stream), "cub::DeviceScan"));
  write_labels<<<blocks_for(n_pixels_, kBlockThreads), kBlockThreads, 0, stream>>>(
      root_map, ranks_.data(), n_pixels_, labels, n_labels);
  return check_launch("write_labels");
}

}  // namespace ccl::device
