// SPDX-License-Identifier: LGPL-2.1-or-later
/// Pixels that follow each other in a row have one label, unless components are cut (stages/select.cu flags
/// those), so a thread reads one label for each stretch of strong pixels in its word. Threads of a warp that
/// flag the same label store at once.
#include "device/runs/strong.h"

#include "ccl/segment.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

namespace {

__global__ void __launch_bounds__(kBlockThreads) flag_strong_runs(StrongJob job) {
  const uint32_t word = blockIdx.x * kBlockThreads + threadIdx.x;
  const uint32_t row_words = bit_row_words(job.width);
  const uint32_t y = word / row_words;
  if (y >= job.height) {
    return;
  }
  const uint32_t* labels = job.labels + size_t{y} * job.width + word % row_words * kWordBits;
  for (uint32_t rest = job.strong[word] & job.bits[word]; rest != 0;) {
    const uint32_t first = static_cast<uint32_t>(__ffs(static_cast<int>(rest))) - 1;
    job.is_strong[labels[first] - 1] = 1;
    rest &= rest + (1u << first);  // without the stretch
  }
}

}  // namespace

Status flag_strong(const StrongJob& job, cudaStream_t stream) {
  return launch("flag_strong_runs", flag_strong_runs,
                blocks_for(bit_row_words(job.width) * job.height, kBlockThreads), kBlockThreads, stream, job);
}

}  // namespace ccl::device::runs
