// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels with NEON, which every AArch64 processor has.
#if defined(__aarch64__)

#include <arm_neon.h>

#include "host/runs/simd/row_kernels.h"

namespace ccl::host {

namespace {

struct NeonSimd {
  /// One bit for each of 64 bytes that are all ones or all zeros. Each byte keeps the bit of its place among
  /// eight bytes, and three rounds of adding neighbours join eight bytes into one.
  static uint64_t to_word(uint8x16_t a, uint8x16_t b, uint8x16_t c, uint8x16_t d) {
    const uint8x16_t places = vreinterpretq_u8_u64(vdupq_n_u64(0x8040201008040201));
    const uint8x16_t ab = vpaddq_u8(vandq_u8(a, places), vandq_u8(b, places));
    const uint8x16_t cd = vpaddq_u8(vandq_u8(c, places), vandq_u8(d, places));
    const uint8x16_t abcd = vpaddq_u8(ab, cd);
    return vgetq_lane_u64(vreinterpretq_u64_u8(vpaddq_u8(abcd, abcd)), 0);
  }

  static uint64_t at_least(const uint8_t* pixels, uint8_t threshold) {
    const uint8x16_t limit = vdupq_n_u8(threshold);
    return to_word(vcgeq_u8(vld1q_u8(pixels), limit), vcgeq_u8(vld1q_u8(pixels + 16), limit),
                   vcgeq_u8(vld1q_u8(pixels + 32), limit), vcgeq_u8(vld1q_u8(pixels + 48), limit));
  }

  static uint8x16_t equal(const uint8_t* a, const uint8_t* b) { return vceqq_u8(vld1q_u8(a), vld1q_u8(b)); }

  static uint64_t differs(const uint8_t* a, const uint8_t* b) {
    return ~to_word(equal(a, b), equal(a + 16, b + 16), equal(a + 32, b + 32), equal(a + 48, b + 48));
  }

  /// Stores eight pixels of the last argument's type, as bytes, since `out` may be any address.
  static void store(uint32x4_t low, uint32x4_t high, uint8_t* out, uint32_t) {
    vst1q_u8(out, vreinterpretq_u8_u32(low));
    vst1q_u8(out + 16, vreinterpretq_u8_u32(high));
  }

  static void store(uint32x4_t low, uint32x4_t high, uint8_t* out, uint16_t) {
    vst1q_u8(out, vreinterpretq_u8_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))));
  }

  static void store(uint32x4_t low, uint32x4_t high, uint8_t* out, uint8_t) {
    vst1_u8(out, vmovn_u16(vcombine_u16(vmovn_u32(low), vmovn_u32(high))));
  }

  /// Never streams: there are no intrinsics for stores past the caches.
  template <typename Pixel, bool>
  static void fill(uint32_t value, uint8_t* out) {
    const uint32x4_t pixels = vdupq_n_u32(value);
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      store(pixels, pixels, out + i * sizeof(Pixel), Pixel{});
    }
  }

  /// Byte indices into four values, for four pixels, from the start bits of the last three; see
  /// kRanksOfEight.
  static uint8x16_t indices_of_four(uint32_t starts) {
    static constexpr uint32_t kRanks[8] = {0x00000000, 0x01010100, 0x01010000, 0x02020100,
                                           0x01000000, 0x02010100, 0x02010000, 0x03020100};
    const uint8x8_t ranks = vcreate_u8(kRanks[starts]);
    const uint8x16_t each = vreinterpretq_u8_u32(vmovl_u16(vget_low_u16(vmovl_u8(ranks))));
    const uint32x4_t times = vmulq_n_u32(vreinterpretq_u32_u8(each), 0x04040404);
    return vaddq_u8(vreinterpretq_u8_u32(times), vreinterpretq_u8_u32(vdupq_n_u32(0x03020100)));
  }

  /// Four pixels. `values` points to the value of the run that is open before the first one.
  static uint32x4_t expand_four(uint32_t foreground, uint32_t starts, const uint32_t* values,
                                uint32x4_t background) {
    const uint8x16_t runs = vreinterpretq_u8_u32(vld1q_u32(values + (starts & 1)));
    const uint32x4_t pixels = vreinterpretq_u32_u8(vqtbl1q_u8(runs, indices_of_four(starts >> 1 & 7)));
    const uint32_t kPlaces[4] = {1, 2, 4, 8};
    return vbslq_u32(vtstq_u32(vdupq_n_u32(foreground), vld1q_u32(kPlaces)), pixels, background);
  }

  template <typename Pixel, bool>
  static void expand(uint64_t foreground, uint64_t starts, const uint32_t* values, uint32_t background,
                     uint8_t* out) {
    const uint32x4_t ground = vdupq_n_u32(background);
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      const auto some = static_cast<uint32_t>(foreground >> i);
      const auto some_starts = static_cast<uint32_t>(starts >> i);
      const uint32_t* open = values + std::popcount(starts & ((uint64_t{1} << i) - 1)) - 1;
      const uint32x4_t low = expand_four(some, some_starts, open, ground);
      const uint32x4_t high =
          expand_four(some >> 4, some_starts >> 4, open + std::popcount(some_starts & 0xf), ground);
      store(low, high, out + i * sizeof(Pixel), Pixel{});
    }
  }

  static void stream_vector(const uint8_t* in, uint8_t* out) { std::memcpy(out, in, kStreamAlignment); }
  static void end_stream() {}
};

}  // namespace

constexpr Kernels kNeonKernels = RowKernels<NeonSimd>::table(SimdLevel::kNeon);

}  // namespace ccl::host

#endif  // __aarch64__
