// SPDX-License-Identifier: LGPL-2.1-or-later
/// Calls of the CUDA runtime that fail on purpose. cuda_wraps.py makes what calls these functions, in a
/// libcudaccl of its own, which finds them in the program.
#pragma once

#include <cuda_runtime_api.h>

namespace faults {

/// The error of calls that fail.
void set_cuda_error(cudaError_t error);
/// The function that failed last; null: none has.
const char* failed_cuda_call();
/// The function whose error nobody has cleared, so that the next launch would report it; null: there is none.
/// Clears it.
const char* take_uncleared_cuda_call();

}  // namespace faults

extern "C" {
/// 0: call the function of this name, which is a constant; else it returns this error.
int faults_before_call(const char* name);
/// What the function, which has returned `result`, returns.
int faults_after_call(const char* name, int result);
}
