// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/thread_pool.h"

#include <algorithm>

#include "ccl/config.h"
#include "host/processors.h"

namespace ccl::host {

namespace {

constexpr uint64_t kPixelsPerThread = 400'000;

}  // namespace

uint32_t choose_thread_count(uint32_t width, uint32_t height) {
  const uint64_t n_useful = uint64_t{width} * height / kPixelsPerThread;
  return static_cast<uint32_t>(std::clamp<uint64_t>(n_useful, 1, std::min(count_processors(), kMaxThreads)));
}

}  // namespace ccl::host
