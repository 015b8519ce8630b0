// SPDX-License-Identifier: LGPL-2.1-or-later
/// Ends what host/simd/begin_avx2.h or begin_avx512.h began.
#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif
