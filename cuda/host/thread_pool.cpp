// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/thread_pool.h"

#include <algorithm>

#include "ccl/config.h"
#include "host/processors.h"

namespace ccl::host {

namespace {

/// A second thread pays from frames of 1024×768 pixels on: the latency falls by a third, the CPU time rises
/// by a fifth. With 800×600 pixels, the CPU time rises by a third or more. More threads pay in the same
/// proportion (tests/benchmarks/results/xeon/threads.csv).
constexpr uint64_t kPixelsPerThread = 1024 * 768 / 2;

}  // namespace

uint32_t choose_thread_count(uint32_t width, uint32_t height) {
  const uint64_t n_useful = uint64_t{width} * height / kPixelsPerThread;
  return static_cast<uint32_t>(std::clamp<uint64_t>(n_useful, 1, std::min(count_processors(), kMaxThreads)));
}

void ThreadPool::run(const Loop& loop) {
  if (workers_ != nullptr && loop.count > 1 && !workers_->is_lost()) {
    workers_->run(job_, loop, n_threads_ - 1);
    return;
  }
  for (uint32_t index = 0; index < loop.count; ++index) {
    loop.call(loop.context, index);
  }
}

}  // namespace ccl::host
