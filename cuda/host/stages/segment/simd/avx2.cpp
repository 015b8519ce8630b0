// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage with AVX2.
#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "host/stages/segment/simd/kernels.h"

#include "host/simd/begin_avx2.h"

#include "host/stages/segment/simd/segment_kernels.h"

namespace ccl::host {

namespace {

struct Avx2SegmentSimd {
  static __m256i load(const void* address) {
    return _mm256_loadu_si256(static_cast<const __m256i*>(address));
  }

  static uint64_t gather(const uint8_t* flags) {
    const auto half = [flags](uint32_t i) {
      return static_cast<uint32_t>(_mm256_movemask_epi8(_mm256_slli_epi16(load(flags + i), 7)));
    };
    return half(0) | uint64_t{half(32)} << 32;
  }

  static void take_roots(double* values) {
    for (uint32_t i = 0; i < kBitsPerWord; i += 4) {
      _mm256_storeu_pd(values + i, _mm256_sqrt_pd(_mm256_loadu_pd(values + i)));
    }
  }

  static __m256i widen(const uint16_t* values) {
    return _mm256_cvtepu16_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(values)));
  }

  /// Entry i becomes the sum of the entries 0..i.
  static __m256i scan(__m256i v) {
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 4));
    v = _mm256_add_epi32(v, _mm256_slli_si256(v, 8));  // within halves
    const __m256i low_half = _mm256_permute2x128_si256(v, v, 0x08);
    return _mm256_add_epi32(v, _mm256_shuffle_epi32(low_half, 0xff));
  }

  static uint64_t compare_with_means(const LocalJob& job, uint32_t x, const uint8_t* pixels, uint32_t* sum) {
    const uint16_t* entering = job.sums + x + job.local.radius;
    const uint16_t* leaving = job.sums + x - job.local.radius - 1;
    const __m256i offset = _mm256_set1_epi32(job.local.offset);
    const __m256i last = _mm256_set1_epi32(7);
    __m256i before = _mm256_set1_epi32(static_cast<int32_t>(*sum));
    uint64_t word = 0;
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      const __m256i sums =
          _mm256_add_epi32(before, scan(_mm256_sub_epi32(widen(entering + i), widen(leaving + i))));
      before = _mm256_permutevar8x32_epi32(sums, last);
      const __m256i values =
          _mm256_cvtepu8_epi32(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(pixels + i)));
      const __m256i limits = _mm256_mullo_epi32(_mm256_add_epi32(values, offset), load(job.n + x + i));
      const __m256i is_below = _mm256_cmpgt_epi32(sums, limits);
      word |= uint64_t{static_cast<uint32_t>(_mm256_movemask_ps(_mm256_castsi256_ps(is_below)))} << i;
    }
    *sum = static_cast<uint32_t>(_mm256_cvtsi256_si32(before));
    return ~word;
  }
};

}  // namespace

constexpr SegmentKernels kAvx2SegmentKernels = SegmentKernelSet<Avx2SegmentSimd>::table();

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
