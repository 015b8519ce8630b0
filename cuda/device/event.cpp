// SPDX-License-Identifier: LGPL-2.1-or-later
// Apart from memory.h, because all kernels include that, and these headers take long to compile.
#include <chrono>
#include <thread>

#include "device/memory.h"

namespace ccl::device {

Status Event::synchronize() const {
  constexpr std::chrono::microseconds kSpinTime{300};
  const auto start = std::chrono::steady_clock::now();
  cudaError_t state = cudaEventQuery(event_);
  while (state == cudaErrorNotReady && std::chrono::steady_clock::now() - start < kSpinTime) {
    std::this_thread::yield();
    state = cudaEventQuery(event_);
  }
  return state != cudaErrorNotReady ? check(state, "cudaEventQuery")
                                    : check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

}  // namespace ccl::device
