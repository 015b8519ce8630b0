// SPDX-License-Identifier: LGPL-2.1-or-later
/// What is done to one row of a frame at a time, and is written for several instruction sets.
///
/// The vectors are hand-written intrinsics: what differs between instruction sets is packing 64 bytes to
/// bits and spreading a few values over 64 pixels, three short functions for each, and the rest of a kernel
/// (row_kernels.h) only wants to be compiled with the right bit instructions. A library of portable vectors
/// would be a dependency larger than what it replaced.
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "host/runs/simd/level.h"

namespace ccl::host {

inline constexpr uint32_t kBitsPerWord = 64;

constexpr uint32_t count_words(uint32_t width) {
  return (width + kBitsPerWord - 1) / kBitsPerWord;
}

/// A row with one bit for each pixel, the first pixel's the lowest. Bits past the row's end are 0.
template <typename Word>
struct BitRow {
  Word* foreground;
  Word* starts;  ///< where a run begins
};

/// Lists of runs may be written, and those of values read, so far before their first and behind their last.
inline constexpr uint32_t kListPadding = 16;

/// A row of pixels to become bits.
struct PackJob {
  const uint8_t* pixels;
  uint32_t width;
  ForegroundRule rule;
  BitRow<uint64_t> bits;  ///< out; no starts of binary foreground where they are null
};

/// A row of bits, and where its runs go.
struct ListJob {
  BitRow<const uint64_t> bits;
  uint32_t width;
  uint16_t* begin;  ///< out: each run's first column
  uint16_t* end;    ///< out: the column after its last
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
  uint32_t* parent;  ///< parent[run] ≤ run; a root is its own
  uint32_t* shape;   ///< links and overlaps of the row's runs are added to; see shape.h
};

// Of rows in pairs (pair_labeler.h): a run is one of either row's pixels, and `starts` has those.

/// Two rows to be joined to a pair.
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
  uint32_t* n_pixels;  ///< out, per run: in either row
  uint32_t* n_upper;   ///< out, per run: in the upper one
};

/// A pair whose runs' pixels are to be added up.
struct SumJob {
  const uint64_t* upper;
  const uint64_t* lower;
  const uint64_t* starts;
  uint32_t n_words;
  uint32_t* n_pixels;    ///< out, per run: in either row
  uint32_t* n_upper;     ///< out, per run: in the upper one
  uint32_t* column_sum;  ///< out, per run: sum of its pixels' columns, at most 2 × kMaxDimension² / 2
};

/// The runs of one row of a pair, whose labels are those of the pair's runs.
struct ListLabelsJob {
  BitRow<const uint64_t> bits;
  uint32_t n_words;
  const uint32_t* label;  ///< per run of the pair
  uint32_t* out;          ///< per run of the row
};

/// A row whose runs' shapes (shape.h) are to be found.
struct ShapeJob {
  const uint64_t* above;
  const uint64_t* row;
  uint32_t n_words;
  uint32_t* shape;  ///< out, per run
};

/// A row to be written: the pixels of its i-th run become values[i], all others `background`.
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

  /// Unites each run with those of the row above that touch it.
  void (*link_rows)(const LinkJob& job, Connectivity connectivity, bool with_shapes);

  /// Returns the number of runs.
  uint32_t (*join_rows)(const JoinJob& job);
  void (*count_pixels)(const CountJob& job);
  void (*sum_runs)(const SumJob& job);
  /// Unites the runs of a pair, by its upper row, with those of the pair above, by its lower one.
  void (*link_pairs)(const LinkJob& job);
  void (*list_labels)(const ListLabelsJob& job);
  /// For 8-connectivity.
  void (*shape_runs)(const ShapeJob& job);

  // Each writes pixels of so many bits, at any address.
  void (*expand_8)(const ExpandJob& job, void* out);
  void (*expand_16)(const ExpandJob& job, void* out);
  void (*expand_32)(const ExpandJob& job, void* out);
  /// Past the caches; `out` is a multiple of kStreamAlignment.
  void (*stream_32)(const ExpandJob& job, void* out);
  /// To be called before anything else than this thread reads what was streamed.
  void (*end_stream)();
};

inline constexpr uint32_t kStreamAlignment = 16;
inline constexpr uint32_t kCacheLine = 64;  // bytes

/// `level` is supported.
const Kernels& kernels(SimdLevel level);

extern const Kernels kPortableKernels;
#if defined(__aarch64__)
extern const Kernels kNeonKernels;
#elif defined(__x86_64__)
extern const Kernels kAvx2Kernels;
extern const Kernels kAvx512Kernels;
#endif

}  // namespace ccl::host
