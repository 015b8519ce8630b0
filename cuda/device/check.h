// SPDX-License-Identifier: LGPL-2.1-or-later
/// Conversion of the results of CUDA runtime calls to a Status.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <new>
#include <string>
#include <string_view>

#include "ccl/status.h"

namespace ccl::device {

/// The path of a source file relative to the project: the last directory cuda/ and what follows it, or the
/// file's name if it is elsewhere. A compiler's own path depends on the machine that built the library.
constexpr std::string_view project_path(std::string_view file) {
  const size_t library = file.rfind("/cuda/");
  if (library != std::string_view::npos) {
    return file.substr(library + 1);
  }
  return file.starts_with("cuda/") ? file : file.substr(file.rfind('/') + 1);
}

static_assert(project_path("/home/user/cuda/cudaccl/cuda/device/slot.cu") == "cuda/device/slot.cu");
static_assert(project_path("../cuda/device/context.cpp") == "cuda/device/context.cpp");
static_assert(project_path("cuda/device/memory.h") == "cuda/device/memory.h");
static_assert(project_path("/home/user/cudaccl/tests/benchmarks/npp.cpp") == "npp.cpp");

/// Returns the Status of the CUDA runtime call named `call`: ok, or kOutOfMemory or kDeviceError with the
/// place of the call and CUDA's text. Clears the error, so that the next call does not report it again.
inline Status check(cudaError_t error, const char* call, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (error == cudaSuccess) {
    return {};
  }
  cudaGetLastError();
  const StatusCode code =
      error == cudaErrorMemoryAllocation ? StatusCode::kOutOfMemory : StatusCode::kDeviceError;
  return {code, std::string(call) + " (" + std::string(project_path(file)) + ":" + std::to_string(line) +
                    "): " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")"};
}

/// For a call that gives something back, whose failure nobody can use. Clears the error, so that the launch
/// after it does not report it.
inline void ignore(cudaError_t error) {
  if (error != cudaSuccess) {
    cudaGetLastError();
  }
}

/// Returns the Status of the launch of `kernel` immediately before.
inline Status check_launch(const char* kernel, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  return check(cudaGetLastError(), kernel, file, line);
}

/// Returns the Status of `call`, which allocates `bytes` of the memory named `kind`. kOutOfMemory says how
/// much was requested, how much the GPU has free, and what needs less. The context must be current.
inline Status check_allocation(cudaError_t error, const char* call, const char* kind, size_t bytes,
                               const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  Status status = check(error, call, file, line);
  if (status.code() != StatusCode::kOutOfMemory) {
    return status;
  }
  constexpr size_t kMiB = size_t{1} << 20;
  const auto in_mib = [](size_t size) { return std::to_string((size + kMiB - 1) / kMiB) + " MiB"; };
  size_t free = 0;
  size_t total = 0;
  std::string gpu;
  if (cudaMemGetInfo(&free, &total) == cudaSuccess) {
    gpu = "; the GPU has " + in_mib(free) + " of " + in_mib(total) + " free";
  } else {
    cudaGetLastError();
  }
  return {
      StatusCode::kOutOfMemory,
      "not enough " + std::string(kind) + " for " + in_mib(bytes) + gpu +
          "; smaller frames, a lower pipeline-depth or fewer other processes need less: " + status.message()};
}

/// Returns the Status of call(), kOutOfMemory if the host runs out of memory in it.
template <typename Call>
Status catch_bad_alloc(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "out of memory"};  // short enough for a string that allocates nothing
  }
}

/// The number of blocks of `size` elements that cover `n` elements.
constexpr uint32_t blocks_for(uint32_t n, uint32_t size) {
  return (n + size - 1) / size;
}

}  // namespace ccl::device
