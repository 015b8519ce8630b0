// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage in C++ for any processor. Tests compare all others with them.
#include "host/stages/segment/simd/segment_kernels.h"

namespace ccl::host {

namespace {

struct PortableSegmentSimd {
  static uint64_t gather(const uint8_t* flags) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      uint64_t eight;
      std::memcpy(&eight, flags + i, sizeof(eight));
      word |= (eight * 0x0102040810204080) >> 56 << i;
    }
    return word;
  }

  static void take_roots(double* values) {
    for (uint32_t i = 0; i < kBitsPerWord; ++i) {
      values[i] = std::sqrt(values[i]);
    }
  }

  static uint64_t compare_with_means(const LocalJob& job, uint32_t x, const uint8_t* pixels, uint32_t* sum) {
    const uint16_t* entering = job.sums + x + job.local.radius;
    const uint16_t* leaving = job.sums + x - job.local.radius - 1;
    uint32_t sums[kBitsPerWord];
    for (uint32_t i = 0; i < kBitsPerWord; ++i) {
      *sum += uint32_t{entering[i]} - leaving[i];
      sums[i] = *sum;
    }
    uint8_t flags[kBitsPerWord];
    const LocalRule rule(job.local, false);
    const uint32_t* n = job.n + x;
    for (uint32_t i = 0; i < kBitsPerWord; ++i) {
      flags[i] = rule.is_foreground(pixels[i], n[i], sums[i], 0) ? 1 : 0;
    }
    return gather(flags);
  }
};

}  // namespace

constexpr SegmentKernels kPortableSegmentKernels = SegmentKernelSet<PortableSegmentSimd>::table();

}  // namespace ccl::host
