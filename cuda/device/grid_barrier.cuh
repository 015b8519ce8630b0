// SPDX-License-Identifier: LGPL-2.1-or-later
/// A barrier for all blocks of a kernel.
#pragma once

#include <cstdint>

namespace ccl::device {

/// A barrier across the blocks of a cooperative launch. The barrier of cooperative groups does the same, but
/// each one takes half a microsecond longer on an H200.
class GridBarrier {
 public:
  /// `arrivals` is device memory, zero before the first kernel that uses it.
  explicit __device__ GridBarrier(uint32_t* arrivals) : arrivals_(arrivals) {}

  /// The phase that wait() of the next barrier returns. A block may call it until it arrives there.
  __device__ uint32_t next_phase() const { return load() & kPhase; }

  /// What the block wrote before is visible to all blocks that waited. All threads must call it; the result
  /// goes to wait().
  __device__ uint32_t arrive() const {
    __syncthreads();
    uint32_t before = 0;
    if (is_leader()) {
      // All blocks together add kPhase, which flips the highest bit and leaves the others as they were.
      before = add(blockIdx.x == 0 ? kPhase - (gridDim.x - 1) : 1);
    }
    return before;
  }

  /// Waits until all blocks have arrived. Returns the phase of this barrier. Phases alternate: the next
  /// barrier has the other phase, the one after it has this phase again.
  __device__ uint32_t wait(uint32_t before) const {
    if (is_leader()) {
      wait_alone(before);
    }
    return __syncthreads_or(is_leader() && (before & kPhase) != 0) != 0 ? kPhase : 0;
  }

  /// The same, while all threads call step() again and again.
  template <typename Step>
  __device__ void wait(uint32_t before, Step step) const {
    bool is_over = false;
    do {
      is_over = is_leader() && is_open(before);
      step();
    } while (__syncthreads_or(is_over) == 0);
  }

  /// Waits for the calling thread alone. Its block has arrived at the barrier of this phase, and it is the
  /// last one of the kernel: no block arrives at another barrier meanwhile.
  __device__ void wait_alone(uint32_t phase) const {
    while (!is_open(phase)) {
    }
  }

 private:
  static constexpr uint32_t kPhase = 0x80000000;

  /// The last thread has the least other work.
  __device__ bool is_leader() const { return threadIdx.x == blockDim.x - 1; }

  __device__ bool is_open(uint32_t phase) const { return ((load() ^ phase) & kPhase) != 0; }

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
