// SPDX-License-Identifier: LGPL-2.1-or-later
/// The byte operations of background models (ccl/segment/byte_lanes.h) on two pixels at a time.
#pragma once

#include <cstdint>

namespace ccl::device::segment {

/// Two values 0..255 in the halves of a word: GPUs have instructions for halves, not for bytes. In a mask,
/// the low bytes of the halves count. (Functions of the host, too, only because the rules are.)
struct HalfLanes {
  using Value = uint32_t;

  static constexpr uint32_t kBytes = 0x00ff00ff;

  static __host__ __device__ Value splat(uint32_t value) { return value * 0x00010001u; }
  static __host__ __device__ Value min(Value a, Value b) { return __vimin3_u16x2(a, b, b); }
  static __host__ __device__ Value max(Value a, Value b) { return __vimax3_u16x2(a, b, b); }
  static __host__ __device__ Value add(Value a, Value b) { return min(a + b, kBytes); }
  static __host__ __device__ Value subtract(Value a, Value b) { return max(a, b) - b; }
  static __host__ __device__ Value half(Value a) { return a >> 1 & 0x007f007fu; }
  static __host__ __device__ Value at_least(Value a, Value b) {
    return (((a | 0x01000100u) - b) >> 8 & 0x00010001u) * 255;
  }
  static __host__ __device__ Value both(Value a, Value b) { return a & b; }
  static __host__ __device__ Value either(Value a, Value b) { return a | b; }
  static __host__ __device__ Value without(Value a, Value b) { return a & ~b; }
  static __host__ __device__ Value select(Value mask, Value a, Value b) { return (a & mask) | (b & ~mask); }
};

/// Four pixels: those with even and with odd places.
struct Quad {
  uint32_t even;
  uint32_t odd;

  static __device__ Quad of(uint32_t word) {
    return {word & HalfLanes::kBytes, word >> 8 & HalfLanes::kBytes};
  }
  __device__ uint32_t word() const { return even | odd << 8; }
};

}  // namespace ccl::device::segment
