// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the segment stage with AVX-512 F, BW and VL.
#if defined(__x86_64__)

#include <immintrin.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "host/stages/segment/simd/kernels.h"

#include "host/simd/begin_avx512.h"
#if !defined(__clang__)
#pragma GCC target("prefer-vector-width=512")
#endif

#include "host/stages/segment/simd/segment_kernels.h"

namespace ccl::host {

namespace {

struct Avx512SegmentSimd {
  static uint64_t gather(const uint8_t* flags) {
    const __m512i v = _mm512_loadu_si512(flags);
    return _mm512_test_epi8_mask(v, v);
  }

  static void take_roots(double* values) {
    for (uint32_t i = 0; i < kBitsPerWord; i += 8) {
      _mm512_storeu_pd(values + i, _mm512_sqrt_pd(_mm512_loadu_pd(values + i)));
    }
  }

  static __m512i widen(const uint16_t* values) {
    return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(values)));
  }

  /// v with its entries moved to places kPlaces later.
  template <int kPlaces>
  static __m512i moved(__m512i v) {
    return _mm512_alignr_epi32(v, _mm512_setzero_si512(), 16 - kPlaces);
  }

  /// Entry i becomes the sum of the entries 0..i.
  static __m512i scan(__m512i v) {
    v = _mm512_add_epi32(v, moved<1>(v));
    v = _mm512_add_epi32(v, moved<2>(v));
    v = _mm512_add_epi32(v, moved<4>(v));
    return _mm512_add_epi32(v, moved<8>(v));
  }

  static uint64_t compare_with_means(const LocalJob& job, uint32_t x, const uint8_t* pixels, uint32_t* sum) {
    const uint16_t* entering = job.sums + x + job.local.radius;
    const uint16_t* leaving = job.sums + x - job.local.radius - 1;
    const __m512i offset = _mm512_set1_epi32(job.local.offset);
    const __m512i last = _mm512_set1_epi32(15);
    __m512i before = _mm512_set1_epi32(static_cast<int32_t>(*sum));
    uint64_t word = 0;
    for (uint32_t i = 0; i < kBitsPerWord; i += 16) {
      const __m512i sums =
          _mm512_add_epi32(before, scan(_mm512_sub_epi32(widen(entering + i), widen(leaving + i))));
      before = _mm512_permutexvar_epi32(last, sums);
      const __m512i values =
          _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pixels + i)));
      const __m512i limits =
          _mm512_mullo_epi32(_mm512_add_epi32(values, offset), _mm512_loadu_si512(job.n + x + i));
      word |= uint64_t{_mm512_cmpge_epi32_mask(limits, sums)} << i;
    }
    *sum = static_cast<uint32_t>(_mm512_cvtsi512_si32(before));
    return word;
  }
};

}  // namespace

constexpr SegmentKernels kAvx512SegmentKernels = SegmentKernelSet<Avx512SegmentSimd>::table();

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
