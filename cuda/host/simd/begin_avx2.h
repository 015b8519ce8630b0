// SPDX-License-Identifier: LGPL-2.1-or-later
/// From here to host/simd/end.h, functions may use AVX2 and the bit instructions that came with it. Only
/// those: a compiler flag would also enable them in functions that are shared with other files (templates of
/// the standard library), which must run on every processor. Included where it is needed, once in a file.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,popcnt"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,bmi,bmi2,popcnt")
#endif
