// SPDX-License-Identifier: LGPL-2.1-or-later
/// Bugs planted for compute-sanitizer to find, one for each of its tools: a clean report
/// about the labelers means something only if these bugs are reported.
///
///     planted out-of-bounds|race|uninitialised|divergent-barrier|none
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

constexpr int kThreads = 128;
constexpr int kSkipped = 77;

/// Far out: what lies just behind an array may be another one.
__global__ void write_out_of_bounds(int* values, int n) {
  values[n << 20] = 1;
}

/// Reads what another warp writes, with nothing to wait for it.
__global__ void race(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  values[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

__global__ void read(const int* uninitialised, int* values) {
  values[threadIdx.x] = uninitialised[threadIdx.x] + 1;
}

/// Half of each warp waits for the other half, which does not.
__global__ void diverge(int* values) {
  if (threadIdx.x % 32 < 16) {
    __syncwarp(0xffff0000);
  }
  values[threadIdx.x] = 1;
}

__global__ void no_bug(int* values) {
  __shared__ int shared[kThreads];
  shared[threadIdx.x] = static_cast<int>(threadIdx.x);
  __syncthreads();
  values[threadIdx.x] = shared[kThreads - 1 - threadIdx.x];
}

void require(cudaError_t error) {
  if (error != cudaSuccess) {
    std::fprintf(stderr, "planted: %s\n", cudaGetErrorString(error));
    std::exit(EXIT_FAILURE);
  }
}

bool launch(const char* bug, int* values, const int* uninitialised) {
  const auto is = [bug](const char* name) { return std::strcmp(bug, name) == 0; };
  if (is("out-of-bounds")) {
    write_out_of_bounds<<<1, 1>>>(values, kThreads);
  } else if (is("race")) {
    race<<<1, kThreads>>>(values);
  } else if (is("uninitialised")) {
    read<<<1, kThreads>>>(uninitialised, values);
  } else if (is("divergent-barrier")) {
    diverge<<<1, kThreads>>>(values);
  } else if (is("none")) {
    no_bug<<<1, kThreads>>>(values);
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  int n_devices = 0;
  if (const cudaError_t error = cudaGetDeviceCount(&n_devices); error != cudaSuccess || n_devices == 0) {
    std::printf("skipped: no GPU: %s\n", error != cudaSuccess ? cudaGetErrorString(error) : "none found");
    return kSkipped;
  }
  int* values = nullptr;
  int* uninitialised = nullptr;
  require(cudaMalloc(&values, kThreads * sizeof(int)));
  require(cudaMalloc(&uninitialised, kThreads * sizeof(int)));
  if (argc != 2 || !launch(argv[1], values, uninitialised)) {
    std::fprintf(stderr, "usage: planted out-of-bounds|race|uninitialised|divergent-barrier|none\n");
    return EXIT_FAILURE;
  }
  // The tool may end the kernel, which is an error here and no matter.
  const cudaError_t error = cudaDeviceSynchronize();
  std::printf("%s: %s\n", argv[1], cudaGetErrorString(error));
  cudaFree(values);
  cudaFree(uninitialised);
  return EXIT_SUCCESS;
}
