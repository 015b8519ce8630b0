// SPDX-License-Identifier: LGPL-2.1-or-later
/// The row kernels with AVX2 and the bit instructions that came with it.
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

#include "host/simd/begin_avx2.h"

#include "host/runs/simd/row_kernels.h"

namespace ccl::host {

namespace {

struct Avx2Simd {
  static __m256i load(const uint8_t* pixels) {
    return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(pixels));
  }

  /// The highest bits of 64 bytes.
  static uint64_t to_word(__m256i low, __m256i high) {
    return static_cast<uint32_t>(_mm256_movemask_epi8(low)) |
           uint64_t{static_cast<uint32_t>(_mm256_movemask_epi8(high))} << 32;
  }

  static uint64_t at_least(const uint8_t* pixels, uint8_t threshold) {
    const __m256i limit = _mm256_set1_epi8(static_cast<char>(threshold));
    const __m256i low = load(pixels);
    const __m256i high = load(pixels + 32);
    return to_word(_mm256_cmpeq_epi8(_mm256_max_epu8(low, limit), low),
                   _mm256_cmpeq_epi8(_mm256_max_epu8(high, limit), high));
  }

  static uint64_t differs(const uint8_t* a, const uint8_t* b) {
    return ~to_word(_mm256_cmpeq_epi8(load(a), load(b)), _mm256_cmpeq_epi8(load(a + 32), load(b + 32)));
  }

  template <bool kStream>
  static void store(__m256i pixels, void* out) {
    if constexpr (kStream) {
      _mm256_stream_si256(static_cast<__m256i*>(out), pixels);
    } else {
      _mm256_storeu_si256(static_cast<__m256i*>(out), pixels);
    }
  }

  static __m256i spread(uint32_t value, uint8_t) { return _mm256_set1_epi8(static_cast<char>(value)); }
  static __m256i spread(uint32_t value, uint16_t) { return _mm256_set1_epi16(static_cast<int16_t>(value)); }
  static __m256i spread(uint32_t value, uint32_t) { return _mm256_set1_epi32(static_cast<int32_t>(value)); }

  template <typename Pixel, bool kStream>
  static void fill(uint32_t value, uint8_t* out) {
    const __m256i pixels = spread(value, Pixel{});
    for (uint32_t i = 0; i < kBitsPerWord; i += sizeof(pixels) / sizeof(Pixel)) {
      store<kStream>(pixels, out + i * sizeof(Pixel));
    }
  }

  /// A word to be expanded.
  struct Source {
    uint64_t foreground;
    uint64_t starts;
    const uint32_t* values;
    __m256i background;

    /// Pixels i..i + 7.
    __m256i eight(uint32_t i) const {
      const auto eight_starts = static_cast<uint32_t>(starts >> i & 0xff);
      const auto before = static_cast<uint32_t>(std::popcount(starts & ((uint64_t{1} << i) - 1)));
      const uint32_t* first = values + before + (eight_starts & 1) - 1;
      const __m256i ranks = _mm256_cvtepu8_epi32(
          _mm_loadl_epi64(reinterpret_cast<const __m128i*>(&kRanksOfEight[eight_starts >> 1])));
      const __m256i runs =
          _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(first)), ranks);
      const __m256i bits = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
      const __m256i word = _mm256_set1_epi32(static_cast<int32_t>(foreground >> i & 0xff));
      return _mm256_blendv_epi8(background, runs, _mm256_cmpeq_epi32(_mm256_and_si256(word, bits), bits));
    }

    __m256i sixteen(uint32_t i) const {
      const __m256i packed = _mm256_packus_epi32(eight(i), eight(i + 8));
      return _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0));  // packing stays within halves
    }

    __m256i thirty_two(uint32_t i) const {
      const __m256i packed = _mm256_packus_epi16(sixteen(i), sixteen(i + 16));
      return _mm256_permute4x64_epi64(packed, _MM_SHUFFLE(3, 1, 2, 0));
    }
  };

  template <typename Pixel, bool kStream>
  static void expand(uint64_t foreground, uint64_t starts, const uint32_t* values, uint32_t background,
                     uint8_t* out) {
    const Source source{foreground, starts, values, _mm256_set1_epi32(static_cast<int32_t>(background))};
    constexpr uint32_t kStep = sizeof(__m256i) / sizeof(Pixel);
    for (uint32_t i = 0; i < kBitsPerWord; i += kStep) {
      if constexpr (kStep == 8) {
        store<kStream>(source.eight(i), out + i * sizeof(Pixel));
      } else if constexpr (kStep == 16) {
        store<kStream>(source.sixteen(i), out + i * sizeof(Pixel));
      } else {
        store<kStream>(source.thirty_two(i), out + i * sizeof(Pixel));
      }
    }
  }

  static void stream_vector(const uint8_t* in, uint8_t* out) {
    _mm_stream_si128(reinterpret_cast<__m128i*>(out), _mm_load_si128(reinterpret_cast<const __m128i*>(in)));
  }

  static void end_stream() { _mm_sfence(); }
};

}  // namespace

constexpr Kernels kAvx2Kernels = RowKernels<Avx2Simd>::table(SimdLevel::kAvx2);

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
