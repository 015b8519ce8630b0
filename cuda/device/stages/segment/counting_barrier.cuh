// SPDX-License-Identifier: LGPL-2.1-or-later
/// A barrier for all blocks of a kernel that adds up a number of each block.
#pragma once

#include <cstdint>

namespace ccl::device::segment {

/// For a cooperative launch. One addition to one word adds the number and shows that the block has arrived,
/// so that a block that sees all others arrive knows the sum too. It orders nothing else: what a block wrote
/// before may not be visible to others, and what it read before is read only if it has been used.
class CountingBarrier {
 public:
  /// `word` is device memory, zero before the first kernel that uses it.
  explicit __device__ CountingBarrier(unsigned long long* word) : word_(word) {}

  /// For arrive() and wait(). It stays the same until all blocks have arrived, so a block can read it long
  /// before it arrives.
  __device__ bool phase() const { return phase_of(load()); }

  /// One thread of each block calls it, with a number below 2³¹; so is the sum. `last_sum`: that of the
  /// barrier before, which block 0 subtracts.
  __device__ void arrive(uint32_t n, uint32_t last_sum) const {
    // All blocks together flip the highest bit and leave the others of the high half as they were. The low
    // half is at least the last sum until block 0 subtracts it: there is no carry between the halves.
    const bool is_first = blockIdx.x == 0;
    const uint32_t high = is_first ? kPhase - (gridDim.x - 1) : 1;
    add((static_cast<unsigned long long>(high) << 32) + n - (is_first ? last_sum : 0));
  }

  /// The same thread waits until all blocks have arrived. Returns the sum.
  __device__ uint32_t wait(bool phase) const {
    unsigned long long now = load();
    while (phase_of(now) == phase) {
      now = load();
    }
    return static_cast<uint32_t>(now);
  }

 private:
  static constexpr uint32_t kPhase = 0x80000000;

  static __device__ bool phase_of(unsigned long long word) { return word >> 63 != 0; }

  __device__ void add(unsigned long long n) const {
    asm volatile("red.relaxed.gpu.global.add.u64 [%0], %1;" ::"l"(word_), "l"(n) : "memory");
  }

  __device__ unsigned long long load() const {
    unsigned long long now = 0;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(now) : "l"(word_) : "memory");
    return now;
  }

  unsigned long long* word_;
};

}  // namespace ccl::device::segment
