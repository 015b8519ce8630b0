// SPDX-License-Identifier: LGPL-2.1-or-later
/// Calls of the CUDA runtime that fail on purpose. cuda_wraps.py makes what calls these functions.
#pragma once

#include <cuda_runtime_api.h>

namespace faults {

/// The functions of the runtime that the library calls.
extern const char* const kCudaCalls[];
extern const int kCudaCallCount;

/// The error of calls that fail.
void set_cuda_error(cudaError_t error);
/// The function that failed last; null: none has.
const char* failed_cuda_call();

}  // namespace faults

extern "C" {
/// 0: call the function; else it returns this error.
int faults_before_call(int index);
/// What the function, which has returned `result`, returns.
int faults_after_call(int index, int result);
}
