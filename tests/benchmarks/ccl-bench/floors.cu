// SPDX-License-Identifier: LGPL-2.1-or-later
#include "floors.h"

#include "device/check.h"
#include "device/graph.h"
#include "device_timer.h"

namespace ccl::bench {

namespace {

using device::check;

constexpr uint32_t kThreads = 256;

__global__ void nothing() {}

/// The sum is written where it is one that no image gives, so that the reads are not optimised away.
__global__ void __launch_bounds__(kThreads) read_pixels(const uint4* input, uint32_t n, uint32_t* output) {
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
  if (i < n) {
    const uint4 pixels = input[i];
    if ((pixels.x ^ pixels.y ^ pixels.z ^ pixels.w) == 0x12345678) {
      output[0] = i;
    }
  }
}

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

class Floors {
 public:
  Floors(Size size, const device::Stream& stream, const Repetitions& repetitions, std::vector<Row>* rows)
      : size_(size), stream_(stream), repetitions_(repetitions), rows_(rows), timer_(stream) {}

  Status run() {
    const size_t n_pixels = size_t{size_.width} * size_.height;
    const auto n_vectors = static_cast<uint32_t>((n_pixels + sizeof(uint4) - 1) / sizeof(uint4));
    CCL_RETURN_IF_ERROR(input_.allocate(n_vectors));
    CCL_RETURN_IF_ERROR(output_.allocate(size_t{n_vectors} * 4));
    CCL_RETURN_IF_ERROR(host_.allocate(n_pixels * 4));
    CCL_RETURN_IF_ERROR(check(cudaMemsetAsync(input_.data(), 1, n_vectors * sizeof(uint4), stream_.get()),
                              "cudaMemsetAsync of an image"));
    CCL_RETURN_IF_ERROR(time_kernels(n_vectors));
    CCL_RETURN_IF_ERROR(time_copy("upload1", n_pixels, cudaMemcpyHostToDevice));
    CCL_RETURN_IF_ERROR(time_copy("download1", n_pixels, cudaMemcpyDeviceToHost));
    CCL_RETURN_IF_ERROR(time_copy("download2", n_pixels * 2, cudaMemcpyDeviceToHost));
    return time_copy("download4", n_pixels * 4, cudaMemcpyDeviceToHost);
  }

 private:
  Status time_kernels(uint32_t n_vectors) {
    const uint32_t n_blocks = device::blocks_for(n_vectors, kThreads);
    CCL_RETURN_IF_ERROR(time_graph("floor-launch", [&] {
      nothing<<<1, 1, 0, stream_.get()>>>();
      return device::check_launch("nothing");
    }));
    CCL_RETURN_IF_ERROR(time_graph("floor-read1", [&] {
      read_pixels<<<n_blocks, kThreads, 0, stream_.get()>>>(input_.data(), n_vectors,
                                                            reinterpret_cast<uint32_t*>(output_.data()));
      return device::check_launch("read_pixels");
    }));
    return time_graph("floor-read1-write4", [&] {
      expand_pixels<<<n_blocks, kThreads, 0, stream_.get()>>>(input_.data(), n_vectors, output_.data());
      return device::check_launch("expand_pixels");
    });
  }

  Status time_graph(const char* name, const std::function<Status()>& enqueue) {
    CCL_RETURN_IF_ERROR(graph_.capture(stream_, enqueue));
    return timer_.run(
        repetitions_, [this](StageEvents*) { return graph_.launch(stream_); }, &add_row(name, "graph"));
  }

  Status time_copy(const char* name, size_t n_bytes, cudaMemcpyKind kind) {
    const bool is_upload = kind == cudaMemcpyHostToDevice;
    void* to = is_upload ? static_cast<void*>(output_.data()) : host_.data();
    const void* from = is_upload ? static_cast<const void*>(host_.data()) : output_.data();
    return timer_.run(
        repetitions_,
        [&](StageEvents*) {
          return check(cudaMemcpyAsync(to, from, n_bytes, kind, stream_.get()), "cudaMemcpyAsync");
        },
        &add_row(name, "copy"));
  }

  Times& add_row(const char* name, const char* mode) {
    rows_->push_back(
        {.backend = "cuda", .algorithm = name, .mode = mode, .width = size_.width, .height = size_.height});
    return rows_->back().times;
  }

  Size size_;
  const device::Stream& stream_;
  Repetitions repetitions_;
  std::vector<Row>* rows_;
  DeviceTimer timer_;
  device::Graph graph_;
  device::DeviceArray<uint4> input_;
  device::DeviceArray<uint4> output_;
  device::PinnedArray<uint8_t> host_;
};

}  // namespace

Status time_floors(Size size, const device::Stream& stream, const Repetitions& repetitions,
                   std::vector<Row>* rows) {
  return Floors(size, stream, repetitions, rows).run();
}

}  // namespace ccl::bench
