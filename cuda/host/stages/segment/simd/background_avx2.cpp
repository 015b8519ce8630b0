// SPDX-License-Identifier: LGPL-2.1-or-later
/// The background models with AVX2. The rules are templates, so they are behind
/// host/simd/begin_avx2.h, too.
#if defined(__x86_64__)

#include <immintrin.h>

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "host/simd/begin_avx2.h"

#include "host/stages/segment/simd/background.h"
#include "host/stages/segment/simd/background_rows.h"
#include "host/stages/segment/simd/background_vectors.h"

namespace ccl::host {

namespace {

struct Avx2Bytes {
  using Value = __m256i;
  static constexpr uint32_t kWidth = sizeof(Value);

  static Value load(const uint8_t* from) { return _mm256_loadu_si256(reinterpret_cast<const Value*>(from)); }
  static void store(Value value, uint8_t* to) { _mm256_storeu_si256(reinterpret_cast<Value*>(to), value); }
  static Value splat(uint32_t value) { return _mm256_set1_epi8(static_cast<char>(value)); }
  static Value min(Value a, Value b) { return _mm256_min_epu8(a, b); }
  static Value max(Value a, Value b) { return _mm256_max_epu8(a, b); }
  static Value add(Value a, Value b) { return _mm256_adds_epu8(a, b); }
  static Value subtract(Value a, Value b) { return _mm256_subs_epu8(a, b); }
  static Value half(Value a) { return _mm256_and_si256(_mm256_srli_epi16(a, 1), _mm256_set1_epi8(0x7f)); }
  static Value at_least(Value a, Value b) { return _mm256_cmpeq_epi8(_mm256_max_epu8(a, b), a); }
  static Value both(Value a, Value b) { return _mm256_and_si256(a, b); }
  static Value either(Value a, Value b) { return _mm256_or_si256(a, b); }
  static Value without(Value a, Value b) { return _mm256_andnot_si256(b, a); }
  static Value select(Value mask, Value a, Value b) { return _mm256_blendv_epi8(b, a, mask); }
  static uint32_t bits(Value mask) { return static_cast<uint32_t>(_mm256_movemask_epi8(mask)); }
};

struct Avx2Words : VectorWords<Vectors32> {
  static bool any(const Value& mask) { return bits(mask) != 0; }
  static uint32_t bits(const Value& mask) {
    return static_cast<uint32_t>(_mm256_movemask_ps(reinterpret_cast<__m256>(mask)));
  }
};

}  // namespace

constexpr BackgroundKernels kAvx2BackgroundKernels = BackgroundRows<Avx2Bytes, Avx2Words>::table();

}  // namespace ccl::host

#include "host/simd/end.h"

#endif  // __x86_64__
