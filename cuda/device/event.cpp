// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/event.h"

#include <thread>

namespace ccl::device {

bool has_ended(const Event& event) {
  const cudaError_t state = cudaEventQuery(event.get());
  ignore(state);
  return state != cudaErrorNotReady;
}

Status synchronize(const Event& event, std::chrono::microseconds polled) {
  const auto start = std::chrono::steady_clock::now();
  cudaError_t state = cudaEventQuery(event.get());
  while (state == cudaErrorNotReady && std::chrono::steady_clock::now() - start < polled) {
    std::this_thread::yield();
    state = cudaEventQuery(event.get());
  }
  return state != cudaErrorNotReady ? check(state, "cudaEventQuery")
                                    : check(cudaEventSynchronize(event.get()), "cudaEventSynchronize");
}

Status Event::synchronize() const {
  return device::synchronize(*this, std::chrono::microseconds{300});
}

}  // namespace ccl::device
