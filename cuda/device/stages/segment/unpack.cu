// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/stages/segment/unpack.h"

#include "device/check.h"
#include "device/launch.cuh"

namespace ccl::device {

namespace {

/// The lowest four bits as bytes that are 0 or 255.
__device__ uint32_t bytes_of(uint32_t bits) {
  constexpr uint32_t kSpread = 0x00204081;  // puts each of the four bits lowest in a byte, among others
  constexpr uint32_t kOnes = 0x01010101;
  return ((bits & 0xf) * kSpread & kOnes) * 255;
}

/// A thread unpacks half a word, so that it stores a vector.
__global__ void __launch_bounds__(kBlockThreads)
    unpack_halves(const uint32_t* bits, uint32_t n_halves, uint4* bytes) {
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= n_halves) {
    return;
  }
  const uint32_t half = bits[i / 2] >> i % 2 * 16;
  bytes[i] = make_uint4(bytes_of(half), bytes_of(half >> 4), bytes_of(half >> 8), bytes_of(half >> 12));
}

}  // namespace

Status unpack_bits(const uint32_t* bits, uint32_t width, uint32_t height, uint8_t* bytes,
                   cudaStream_t stream) {
  const uint32_t n_halves = 2 * bit_row_words(width) * height;
  return launch("unpack_halves", unpack_halves, blocks_for(n_halves, kBlockThreads), kBlockThreads, stream,
                bits, n_halves, reinterpret_cast<uint4*>(bytes));
}

}  // namespace ccl::device
