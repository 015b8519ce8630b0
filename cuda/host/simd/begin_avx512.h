// SPDX-License-Identifier: LGPL-2.1-or-later
/// From here to host/simd/end.h, functions may use AVX-512 F, BW and VL, too; see host/simd/begin_avx2.h.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt"))), \
                             apply_to = function)
#else
// GCC before 13 warns of uninitialized vectors in its own header (bug 105593).
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC push_options
#pragma GCC target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")
#endif
