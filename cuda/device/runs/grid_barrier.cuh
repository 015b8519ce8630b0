// SPDX-License-Identifier: LGPL-2.1-or-later
/// Blocks that wait for one another.
#pragma once

#include <cstdint>

namespace ccl::device {

/// A barrier across the blocks of a cooperative launch. That of cooperative groups does the same, and costs
/// more than half a microsecond each time on an H200.
class GridBarrier {
 public:
  /// `arrivals` is device memory, zero before the first kernel that uses it.
  explicit __device__ GridBarrier(uint32_t* arrivals) : arrivals_(arrivals) {}

  /// What the block wrote before it can be seen by all blocks that wait. All threads call it; the result goes
  /// to wait().
  __device__ uint32_t arrive() const {
    __syncthreads();
    uint32_t before = 0;
    if (is_speaker()) {
      // All blocks together add kTurn, which flips the highest bit and leaves the others as they were.
      before = add(blockIdx.x == 0 ? kTurn - (gridDim.x - 1) : 1);
    }
    return before;
  }

  /// Waits until all blocks have arrived. Tells all threads the barrier's turn, which the next but one has,
  /// too.
  __device__ uint32_t wait(uint32_t before) const {
    if (is_speaker()) {
      wait_alone(before);
    }
    return __syncthreads_or(is_speaker() && (before & kTurn) != 0) != 0 ? kTurn : 0;
  }

  /// Waits as well; all threads call step() meanwhile, over and over.
  template <typename Step>
  __device__ void wait(uint32_t before, Step step) const {
    bool is_over = false;
    do {
      is_over = is_speaker() && is_open(before);
      step();
    } while (__syncthreads_or(is_over) == 0);
  }

  /// A thread waits without the others of its block, which has arrived at the barrier of this turn: the last
  /// one, since nobody arrives at another meanwhile.
  __device__ void wait_alone(uint32_t turn) const {
    while (!is_open(turn)) {
    }
  }

 private:
  static constexpr uint32_t kTurn = 0x80000000;

  /// The last thread has the least to do besides.
  __device__ bool is_speaker() const { return threadIdx.x == blockDim.x - 1; }

  __device__ bool is_open(uint32_t turn) const { return ((load() ^ turn) & kTurn) != 0; }

  __device__ uint32_t add(uint32_t n) const {
    uint32_t before = 0;
    asm volatile("atom.add.release.gpu.global.u32 %0, [%1], %2;"
                 : "=r"(before)
                 : "l"(arrivals_), "r"(n)
                 : "memory");
    return before;
  }

  __device__ uint32_t load() const {
    uint32_t now = 0;
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(now) : "l"(arrivals_) : "memory");
    return now;
  }

  uint32_t* arrivals_;
};

}  // namespace ccl::device
