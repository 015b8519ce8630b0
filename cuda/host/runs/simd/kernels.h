// SPDX-License-Identifier: LGPL-2.1-or-later
/// Kernels that process one row or one pair of rows, written for several instruction sets.
///
/// Vector code is written with intrinsics. Instruction sets differ only in packing 64 bytes to bits and in
/// expanding a few values over 64 pixels: three short functions for each set. The rest of a kernel
/// (row_kernels.h) is compiled once per set, for its bit instructions. A library of portable vectors would be
/// a dependency larger than the code it replaces.
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "host/simd_level.h"

namespace ccl::host {

inline constexpr uint32_t kBitsPerWord = 64;

constexpr uint32_t count_words(uint32_t width) {
  return (width + kBitsPerWord - 1) / kBitsPerWord;
}

inline bool has_bit(const uint64_t* words, uint32_t x) {
  return (words[x / kBitsPerWord] >> (x % kBitsPerWord) & 1) != 0;
}

/// A row with one bit per pixel; the first pixel is the lowest bit. Bits past the row's end are 0.
template <typename Word>
struct BitRow {
  Word* foreground;
  Word* starts;  ///< where a run begins
};

/// Kernels may write lists of runs, and read lists of values, up to this many entries before their first
/// entry and after their last one.
inline constexpr uint32_t kListPadding = 16;

/// A row of pixels to be packed to bits.
struct PackJob {
  const uint8_t* pixels;
  uint32_t width;
  ForegroundRule rule;
  BitRow<uint64_t> bits;  ///< out; `starts` may be null for binary foreground
};

/// A row of bits whose runs are to be listed.
struct ListJob {
  BitRow<const uint64_t> bits;
  uint32_t width;
  uint16_t* begin;  ///< out, per run: first column
  uint16_t* end;    ///< out, per run: the column after the last one
};

/// Two rows of binary foreground whose runs are to be linked. Arrays are indexed by run.
struct LinkJob {
  BitRow<const uint64_t> above;
  BitRow<const uint64_t> row;
  uint32_t n_words;
  uint32_t first_above;  ///< the first run of either row
  uint32_t first_run;
  const uint16_t* begin;
  const uint16_t* end;
  uint32_t* parent;  ///< parent[run] ≤ run; a root is its own parent
  uint32_t* shape;   ///< in and out, per run of the row: links and overlaps are added; see shape.h
};

// Pairs of rows (pair_labeler.h). A run of a pair covers columns that have a pixel in either row. `starts`
// has the starts of these runs.

/// Two rows to be joined into a pair.
struct JoinJob {
  const uint64_t* upper;
  const uint64_t* lower;
  uint32_t n_words;
  uint64_t* starts;  ///< out
};

/// A pair whose runs' pixels are to be counted.
struct CountJob {
  const uint64_t* upper;
  const uint64_t* lower;
  const uint64_t* starts;
  uint32_t n_words;
  uint32_t* n_pixels;  ///< out, per run: in both rows
  uint32_t* n_upper;   ///< out, per run: in the upper row
};

/// A pair whose runs' pixels are to be counted and their columns added up.
struct SumJob {
  const uint64_t* upper;
  const uint64_t* lower;
  const uint64_t* starts;
  uint32_t n_words;
  uint32_t* n_pixels;    ///< out, per run: in both rows
  uint32_t* n_upper;     ///< out, per run: in the upper row
  uint32_t* column_sum;  ///< out, per run: sum of its pixels' columns, at most 2 × kMaxDimension² / 2
};

/// One row of a pair. Its runs get the labels of the pair's runs that they belong to.
struct ListLabelsJob {
  BitRow<const uint64_t> bits;
  uint32_t n_words;
  const uint32_t* label;  ///< per run of the pair
  uint32_t* out;          ///< per run of the row
};

/// A row and the row above it. The shapes (shape.h) of the row's runs are to be found.
struct ShapeJob {
  const uint64_t* above;
  const uint64_t* row;
  uint32_t n_words;
  uint32_t* shape;  ///< out, per run
};

/// A row of pixels to be written: values[i] for the pixels of the i-th run, `background` for all others.
struct ExpandJob {
  BitRow<const uint64_t> bits;
  uint32_t width;
  const uint32_t* values;
  uint32_t background;
};

/// The kernels of one level.
struct Kernels {
  SimdLevel level;

  void (*pack_row)(const PackJob& job);

  /// Returns the number of runs.
  uint32_t (*list_runs)(const ListJob& job);

  /// Unites each run with the runs of the row above that touch it.
  void (*link_rows)(const LinkJob& job, Connectivity connectivity, bool with_shapes);

  /// Returns the number of runs.
  uint32_t (*join_rows)(const JoinJob& job);
  void (*count_pixels)(const CountJob& job);
  void (*sum_runs)(const SumJob& job);
  /// Unites the runs of a pair with the runs of the pair above, where its upper row touches the lower row of
  /// the pair above.
  void (*link_pairs)(const LinkJob& job);
  void (*list_labels)(const ListLabelsJob& job);
  /// Measures shapes for 8-connectivity.
  void (*shape_runs)(const ShapeJob& job);

  // Write pixels of 8, 16 or 32 bits, at any address.
  void (*expand_8)(const ExpandJob& job, void* out);
  void (*expand_16)(const ExpandJob& job, void* out);
  void (*expand_32)(const ExpandJob& job, void* out);
  /// Writes past the caches; `out` must be a multiple of kStreamAlignment.
  void (*stream_32)(const ExpandJob& job, void* out);
  /// To be called before another thread reads what this thread streamed.
  void (*end_stream)();
};

/// Bytes of a vector that is streamed at once.
inline constexpr uint32_t kStreamAlignment = 16;
inline constexpr uint32_t kCacheLine = 64;  // bytes

/// The kernels of a level, which must be supported.
const Kernels& kernels(SimdLevel level);

extern const Kernels kPortableKernels;
#if defined(__aarch64__)
extern const Kernels kNeonKernels;
#elif defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace ccl::host
