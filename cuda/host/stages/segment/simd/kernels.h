// SPDX-License-Identifier: LGPL-2.1-or-later
/// Kernels of the segment stage, written for several instruction sets as those of `runs` are
/// (host/runs/simd/kernels.h). Plain loops are compiled once per set (segment_kernels.h). The sums of local
/// windows depend on each other along a row, so they are written with intrinsics.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/segment/local.h"
#include "host/runs/simd/kernels.h"

namespace ccl::host {

/// Arrays with one entry per column have this many entries of 0 before their first entry, and after their
/// last one.
inline constexpr uint32_t kWindowPadding = 2 * kBitsPerWord;
static_assert(kWindowPadding > kMaxLocalRadius);

/// A row of pixels to be compared with its windows. Arrays are indexed by column. They may be read up to the
/// end of the row's last word.
struct LocalJob {
  const uint8_t* pixels;
  uint32_t width;
  LocalThreshold local;
  bool invert;
  const uint16_t* sums;     ///< of the rows of the window; padded
  const uint32_t* squares;  ///< the same of squares; padded; read with LocalThreshold::deviation only
  const uint32_t* n;        ///< pixels of the window
  uint64_t* bits;           ///< out
};

struct SegmentKernels {
  /// sums[x] += added[x] − removed[x].
  void (*move_sums)(const uint8_t* added, const uint8_t* removed, uint32_t width, uint16_t* sums);
  /// squares[x] += added[x]² − removed[x]².
  void (*move_squares)(const uint8_t* added, const uint8_t* removed, uint32_t width, uint32_t* squares);
  void (*compare_with_windows)(const LocalJob& job);

  // Words of bits. Arrays do not overlap.

  /// out[i] = a[i] | b[i].
  void (*unite)(const uint64_t* a, const uint64_t* b, size_t n, uint64_t* out);
  /// Unites bits with those `shift` places later, 1..63. Reads in[n].
  void (*unite_with_later)(const uint64_t* in, uint32_t shift, size_t n, uint64_t* out);
  /// Moves bits to places `shift` later, 1..63. Reads in[−1].
  void (*move_later)(const uint64_t* in, uint32_t shift, size_t n, uint64_t* out);
};

/// The kernels of a level, which must be supported.
const SegmentKernels& segment_kernels(SimdLevel level);

extern const SegmentKernels kPortableSegmentKernels;
#if defined(__x86_64__)
extern const SegmentKernels kAvx2SegmentKernels;
extern const SegmentKernels kAvx512SegmentKernels;
#endif

}  // namespace ccl::host
