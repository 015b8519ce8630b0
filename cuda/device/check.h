// SPDX-License-Identifier: LGPL-2.1-or-later
/// The one way in which results of CUDA runtime calls become a Status.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <new>
#include <string>

#include "ccl/status.h"

namespace ccl::device {

/// Status of the CUDA runtime call named `call`: ok, kOutOfMemory or kDeviceError with the place it was
/// made from and CUDA's own text. An error that CUDA would report again is taken off its record.
inline Status check(cudaError_t error, const char* call, const char* file = __builtin_FILE(),
                    int line = __builtin_LINE()) {
  if (error == cudaSuccess) {
    return {};
  }
  cudaGetLastError();
  const StatusCode code =
      error == cudaErrorMemoryAllocation ? StatusCode::kOutOfMemory : StatusCode::kDeviceError;
  return {code, std::string(call) + " (" + file + ":" + std::to_string(line) +
                    "): " + cudaGetErrorString(error) + " (" + cudaGetErrorName(error) + ")"};
}

/// Whether the launch of `kernel` just before was accepted.
inline Status check_launch(const char* kernel, const char* file = __builtin_FILE(),
                           int line = __builtin_LINE()) {
  return check(cudaGetLastError(), kernel, file, line);
}

/// The call's Status, also where the host runs out of memory on the way.
template <typename Call>
Status catch_bad_alloc(Call call) {
  try {
    return call();
  } catch (const std::bad_alloc&) {
    return {StatusCode::kOutOfMemory, "out of memory"};  // so short that it takes none
  }
}

/// How many blocks of `size` cover `n`.
constexpr uint32_t blocks_for(uint32_t n, uint32_t size) {
  return (n + size - 1) / size;
}

}  // namespace ccl::device
