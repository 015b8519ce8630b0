// SPDX-License-Identifier: LGPL-2.1-or-later
/// The byte operations of background models (ccl/segment/byte_lanes.h) on two pixels at a time.
#pragma once

#include <cstdint>

namespace ccl::device::segment {

/// Two values 0..255 in the halves of a word: GPUs have instructions for halves, not for bytes. (Functions of
/// the host, too, only because the rules are.)
struct HalfLanes {
  using Value = uint32_t;

  static constexpr uint32_t kBytes = 0x00ff00ff;
  static constexpr uint32_t kOnes = 0x00010001;
  static constexpr uint32_t kSigns = 0x80008000;

  static __host__ __device__ Value splat(uint32_t value) { return value * 0x00010001u; }
  static __host__ __device__ Value min(Value a, Value b) { return __vimin3_u16x2(a, b, b); }
  static __host__ __device__ Value max(Value a, Value b) { return __vimax3_u16x2(a, b, b); }
  static __host__ __device__ Value add(Value a, Value b) { return __viaddmin_u16x2(a, b, kBytes); }
  static __host__ __device__ Value subtract(Value a, Value b) { return max(a, b) - b; }
  static __host__ __device__ Value half(Value a) { return a >> 1 & 0x007f007fu; }
  static __host__ __device__ Value at_least(Value a, Value b) { return mask_of_signs(a + kSigns - b); }
  static __host__ __device__ Value above(Value a, Value b) { return mask_of_signs(a + (kSigns - kOnes) - b); }
  static __host__ __device__ Value distance(Value a, Value b) { return max(a, b) - min(a, b); }
  static __host__ __device__ Value move(Value value, Value target, Value up, Value down) {
    return max(__viaddmin_u16x2(value, up, target), subtract(value, down));
  }
  /// 255 in the halves whose highest bit is set.
  static __host__ __device__ Value mask_of_signs(Value signs) {
#ifdef __CUDA_ARCH__
    Value mask = 0;  // bytes 1 and 3 as signs, byte 4 is 0
    asm("prmt.b32 %0, %1, 0, 0x4b49;" : "=r"(mask) : "r"(signs));
    return mask;
#else
    return (signs >> 15 & kOnes) * 255;
#endif
  }
  static __host__ __device__ Value both(Value a, Value b) {
    return a & b;
  }
  static __host__ __device__ Value either(Value a, Value b) {
    return a | b;
  }
  static __host__ __device__ Value without(Value a, Value b) {
    return a & ~b;
  }
  static __host__ __device__ Value select(Value mask, Value a, Value b) {
    return (a & mask) | (b & ~mask);
  }
};

// Four values in the bytes of a word, for the few operations that are fast on bytes.

/// |a - b| in each byte.
__device__ inline uint32_t distance_of_bytes(uint32_t a, uint32_t b) {
  return __vabsdiffu4(a, b);
}

/// 255 in the bytes in which a > b.
__device__ inline uint32_t above_in_bytes(uint32_t a, uint32_t b) {
  return __vcmpgtu4(a, b);
}

/// a in the bytes in which the mask is 255, else b.
__device__ inline uint32_t select_bytes(uint32_t mask, uint32_t a, uint32_t b) {
  return (a & mask) | (b & ~mask);
}

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
