// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels in C++ for any processor. Tests compare all others with them.
#include "host/runs/simd/row_kernels.h"

namespace ccl::host {

namespace {

static_assert(std::endian::native == std::endian::little, "the first pixel must be the lowest byte");

struct PortableSimd {
  static constexpr uint64_t kEachByte = 0x0101010101010101;
  static constexpr uint64_t kHighBits = 0x80 * kEachByte;

  static uint64_t load_eight(const uint8_t* pixels) {
    uint64_t values;
    std::memcpy(&values, pixels, sizeof(values));
    return values;
  }

  /// Collects the high bits of eight bytes in the lowest byte, the first pixel's in the lowest bit.
  static uint64_t gather_high_bits(uint64_t bytes) {
    return ((bytes & kHighBits) * 0x0002040810204081) >> 56;
  }

  /// Compares the bytes without their high bits by a subtraction, in which no byte borrows from another.
  static uint64_t at_least(const uint8_t* pixels, uint8_t threshold) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      const uint64_t values = load_eight(pixels + i);
      const uint64_t low = (values | kHighBits) - (threshold & 0x7f) * kEachByte;
      word |= gather_high_bits(threshold >= 0x80 ? values & low : values | low) << i;
    }
    return word;
  }

  static uint64_t differs(const uint8_t* a, const uint8_t* b) {
    uint64_t word = 0;
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      const uint64_t difference = load_eight(a + i) ^ load_eight(b + i);
      // The high bit of a byte is set if it differs, or by a carry from its other bits.
      word |= gather_high_bits(difference | ((difference & ~kHighBits) + ~kHighBits)) << i;
    }
    return word;
  }

  template <typename Pixel, bool>
  static void fill(uint32_t value, uint8_t* out) {
    Pixel pixels[kBitsPerWord];
    std::fill_n(pixels, kBitsPerWord, static_cast<Pixel>(value));
    std::memcpy(out, pixels, sizeof(pixels));
  }

  template <typename Pixel, bool>
  static void expand(uint64_t foreground, uint64_t starts, const uint32_t* values, uint32_t background,
                     uint8_t* out) {
    Pixel pixels[kBitsPerWord];
    for (uint32_t i = 0; i < kBitsPerWord; ++i) {
      values += starts >> i & 1;
      pixels[i] = static_cast<Pixel>((foreground >> i & 1) != 0 ? values[-1] : background);
    }
    std::memcpy(out, pixels, sizeof(pixels));
  }

  static void stream_vector(const uint8_t* in, uint8_t* out) { std::memcpy(out, in, kStreamAlignment); }
  static void end_stream() {}
};

}  // namespace

constexpr Kernels kPortableKernels = RowKernels<PortableSimd>::table(SimdLevel::kPortable);

}  // namespace ccl::host
