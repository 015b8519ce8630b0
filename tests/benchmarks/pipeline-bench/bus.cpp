// SPDX-License-Identifier: LGPL-2.1-or-later
#include "bus.h"

#include <cuda_runtime_api.h>

#include <chrono>

namespace ccl::bench {

namespace {

/// A direction's copies: memory on both sides, and a stream to copy on.
class Lane {
 public:
  explicit Lane(size_t bytes) : bytes_(bytes) {
    is_good_ = cudaMalloc(&device_, bytes + 1) == cudaSuccess &&
               cudaHostAlloc(&host_, bytes + 1, cudaHostAllocDefault) == cudaSuccess &&
               cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking) == cudaSuccess;
  }
  ~Lane() {
    if (is_good_) {
      cudaStreamDestroy(stream_);
    }
    cudaFreeHost(host_);
    cudaFree(device_);
  }
  Lane(const Lane&) = delete;
  Lane& operator=(const Lane&) = delete;

  bool is_good() const { return is_good_; }
  void up() const { copy(device_, host_, cudaMemcpyHostToDevice); }
  void down() const { copy(host_, device_, cudaMemcpyDeviceToHost); }
  void wait() const { cudaStreamSynchronize(stream_); }

 private:
  void copy(void* to, const void* from, cudaMemcpyKind kind) const {
    if (bytes_ > 0) {
      cudaMemcpyAsync(to, from, bytes_, kind, stream_);
    }
  }

  size_t bytes_;
  void* device_ = nullptr;
  void* host_ = nullptr;
  cudaStream_t stream_ = nullptr;
  bool is_good_ = false;
};

}  // namespace

double measure_bus_fps(size_t bytes_up, size_t bytes_down) {
  const Lane up(bytes_up);
  const Lane down(bytes_down);
  if (!up.is_good() || !down.is_good()) {
    return 0;
  }
  const auto run = [&](int n_frames) {
    for (int i = 0; i < n_frames; ++i) {
      up.up();
      down.down();
    }
    up.wait();
    down.wait();
  };
  constexpr int kFrames = 2000;
  run(50);
  const auto start = std::chrono::steady_clock::now();
  run(kFrames);
  return kFrames / std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace ccl::bench
