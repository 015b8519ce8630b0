// SPDX-License-Identifier: LGPL-2.1-or-later
#include "floor.h"

#include "device/check.h"
#include "device/graph.h"
#include "device_timer.h"

namespace ccl::bench {

namespace {

constexpr uint32_t kThreads = 256;

/// A thread reads 16 pixels and writes 4 × 4 of the block's: all accesses are of 16 bytes and coalesced.
__global__ void __launch_bounds__(kThreads) expand_pixels(const uint4* input, uint32_t n, uint4* output) {
  __shared__ uint32_t words[kThreads * 4];
  const uint32_t first = blockIdx.x * kThreads;
  const uint32_t i = first + threadIdx.x;
  if (i < n) {
    reinterpret_cast<uint4*>(words)[threadIdx.x] = input[i];
  }
  __syncthreads();
  for (uint32_t j = threadIdx.x; j < kThreads * 4 && first * 4 + j < n * 4; j += kThreads) {
    const uint32_t word = words[j];
    output[size_t{first} * 4 + j] = {word & 0xff, word >> 8 & 0xff, word >> 16 & 0xff, word >> 24};
  }
}

}  // namespace

Status time_floor(Size size, const device::Stream& stream, const Repetitions& repetitions, Row* row) {
  const size_t n_pixels = size_t{size.width} * size.height;
  const auto n_vectors = static_cast<uint32_t>((n_pixels + sizeof(uint4) - 1) / sizeof(uint4));
  device::DeviceArray<uint4> input;
  device::DeviceArray<uint4> output;
  CCL_RETURN_IF_ERROR(input.allocate(n_vectors));
  CCL_RETURN_IF_ERROR(output.allocate(size_t{n_vectors} * 4));
  CCL_RETURN_IF_ERROR(device::check(cudaMemsetAsync(input.data(), 1, n_vectors * sizeof(uint4), stream.get()),
                                    "cudaMemsetAsync of an image"));
  device::Graph graph;
  CCL_RETURN_IF_ERROR(graph.capture(stream, [&] {
    expand_pixels<<<device::blocks_for(n_vectors, kThreads), kThreads, 0, stream.get()>>>(
        input.data(), n_vectors, output.data());
    return device::check_launch("expand_pixels");
  }));
  *row = {.backend = "cuda",
          .algorithm = "floor-read1-write4",
          .mode = "graph",
          .width = size.width,
          .height = size.height};
  return DeviceTimer(stream).run(
      repetitions, [&] { return graph.launch(stream); }, &row->times);
}

}  // namespace ccl::bench
