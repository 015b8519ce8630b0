// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background models with AVX-512. The rules are templates, so they are behind
/// host/simd/begin_avx512.h, too.
#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/simd/begin_avx512.h"

#include "host/stages/segment/simd/background.h"
#include "host/stages/segment/simd/background_rows.h"
#include "host/stages/segment/simd/background_vectors.h"

namespace ccl::host {

namespace {

struct Avx512Bytes {
  using Value = __m512i;
  static constexpr uint32_t kWidth = sizeof(Value);

  static Value load(const uint8_t* from) { return _mm512_loadu_si512(from); }
  static void store(Value value, uint8_t* to) { _mm512_storeu_si512(to, value); }
  static Value splat(uint32_t value) { return _mm512_set1_epi8(static_cast<char>(value)); }
  static Value min(Value a, Value b) { return _mm512_min_epu8(a, b); }
  static Value max(Value a, Value b) { return _mm512_max_epu8(a, b); }
  static Value add(Value a, Value b) { return _mm512_adds_epu8(a, b); }
  static Value subtract(Value a, Value b) { return _mm512_subs_epu8(a, b); }
  static Value half(Value a) { return _mm512_and_si512(_mm512_srli_epi16(a, 1), _mm512_set1_epi8(0x7f)); }
  static Value at_least(Value a, Value b) { return _mm512_movm_epi8(_mm512_cmpge_epu8_mask(a, b)); }
  static Value both(Value a, Value b) { return a & b; }
  static Value either(Value a, Value b) { return a | b; }
  static Value without(Value a, Value b) { return a & ~b; }
  static Value select(Value mask, Value a, Value b) {
    return _mm512_mask_blend_epi8(_mm512_movepi8_mask(mask), b, a);
  }
  static uint64_t bits(Value mask) { return _mm512_movepi8_mask(mask); }
};

struct Avx512Words : VectorWords<Vectors64> {
  static bool any(const Value& mask) { return bits(mask) != 0; }
  static uint32_t bits(const Value& mask) {
    const auto value = reinterpret_cast<__m512i>(mask);
    return _mm512_cmplt_epi32_mask(value, _mm512_setzero_si512());
  }
};

}  // namespace

constexpr BackgroundKernels kAvx512BackgroundKernels = BackgroundRows<Avx512Bytes, Avx512Words>::table();

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
