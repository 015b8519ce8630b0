// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels with AVX-512 F, BW and VL.
#if defined(__x86_64__)

#include <immintrin.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

#include "host/runs/shape.h"
#include "host/runs/simd/kernels.h"
#include "host/runs/simd/tables.h"
#include "host/unite.h"

#include "host/simd/begin_avx512.h"

#include "host/runs/simd/row_kernels.h"

namespace ccl::host {

namespace {

struct Avx512Simd {
  static uint64_t at_least(const uint8_t* pixels, uint8_t threshold) {
    return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(pixels), _mm512_set1_epi8(static_cast<char>(threshold)));
  }

  static uint64_t differs(const uint8_t* a, const uint8_t* b) {
    return _mm512_cmpneq_epu8_mask(_mm512_loadu_si512(a), _mm512_loadu_si512(b));
  }

  /// Sixteen pixels, as wide as the last argument's type.
  template <bool kStream>
  static void store(__m512i pixels, uint8_t* out, uint32_t) {
    if constexpr (kStream) {
      _mm512_stream_si512(reinterpret_cast<__m512i*>(out), pixels);
    } else {
      _mm512_storeu_si512(out, pixels);
    }
  }

  template <bool>
  static void store(__m512i pixels, uint8_t* out, uint16_t) {
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm512_cvtepi32_epi16(pixels));
  }

  template <bool>
  static void store(__m512i pixels, uint8_t* out, uint8_t) {
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out), _mm512_cvtepi32_epi8(pixels));
  }

  template <typename Pixel, bool kStream>
  static void fill(uint32_t value, uint8_t* out) {
    const __m512i pixels = _mm512_set1_epi32(static_cast<int32_t>(value));
    for (uint32_t i = 0; i < kBitsPerWord; i += 16) {
      store<kStream>(pixels, out + i * sizeof(Pixel), Pixel{});
    }
  }

  /// Ranks as in kRanksOfEight, for sixteen pixels, from the start bits of the last fifteen.
  static __m512i ranks_of_sixteen(uint32_t starts) {
    const uint64_t low = kRanksOfEight[starts & 0x7f];
    const auto n_before = static_cast<uint64_t>(std::popcount(starts & 0xff));
    const uint64_t high = kRanksOfEight[starts >> 8] + n_before * 0x0101010101010101;
    return _mm512_cvtepu8_epi32(_mm_set_epi64x(static_cast<int64_t>(high), static_cast<int64_t>(low)));
  }

  template <typename Pixel, bool kStream>
  static void expand(uint64_t foreground, uint64_t starts, const uint32_t* values, uint32_t background,
                     uint8_t* out) {
    const __m512i ground = _mm512_set1_epi32(static_cast<int32_t>(background));
    for (uint32_t i = 0; i < kBitsPerWord; i += 16) {
      const auto some_starts = static_cast<uint32_t>(starts >> i & 0xffff);
      const auto before = static_cast<uint32_t>(std::popcount(starts & ((uint64_t{1} << i) - 1)));
      const __m512i runs = _mm512_loadu_si512(values + before + (some_starts & 1) - 1);
      const __m512i pixels = _mm512_mask_permutexvar_epi32(ground, static_cast<__mmask16>(foreground >> i),
                                                           ranks_of_sixteen(some_starts >> 1), runs);
      store<kStream>(pixels, out + i * sizeof(Pixel), Pixel{});
    }
  }

  static void stream_vector(const uint8_t* in, uint8_t* out) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out), _mm_load_si128(reinterpret_cast<const __m128i*>(in)));
  }

  static void end_stream() { _mm_sfence(); }
};

}  // namespace

constexpr Kernels kAvx512Kernels = RowKernels<Avx512Simd>::table(SimdLevel::kAvx512);

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
