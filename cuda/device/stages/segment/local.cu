// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block goes down a strip of columns. Each thread keeps the sums of four columns over the rows of the
/// window: going one row down adds a row below and subtracts one above. A prefix sum over the block's columns
/// then gives the sum of each window as a difference of two. The work does not depend on the radius, except
/// the rows that a block adds up before its first one.
#include "device/stages/segment/local.h"

#include <algorithm>

#include "ccl/segment/local.h"
#include "device/launch.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kColumns = 4;     ///< of a thread
constexpr uint32_t kRowsAtOnce = 4;  ///< rows between two barriers
constexpr uint32_t kRows = 32;       ///< of a block
constexpr uint32_t kWordPixels = 32;

/// The columns that a block adds up, and those that it writes.
template <uint32_t kThreads>
struct Strip {
  static constexpr uint32_t kInputs = kThreads * kColumns;
  static constexpr uint32_t outputs(uint32_t radius) {
    return (kInputs - 2 * radius) / kWordPixels * kWordPixels;
  }
};

/// A sum for each of a thread's columns.
struct ColumnSums {
  uint32_t of[kColumns];
};

struct Row {
  uint32_t values[kColumns];
};

/// A thread's columns of a row, which begin at x; 0 outside the frame. x may be −1 and less, wrapped around.
__device__ Row load_columns(const Plane& frame, uint32_t x, uint32_t y) {
  Row row;
#pragma unroll
  for (uint32_t i = 0; i < kColumns; ++i) {
    const uint32_t column = x + i;
    row.values[i] = column < frame.width ? __ldg(frame.pixels + y * frame.pitch + column) : 0;
  }
  return row;
}

template <bool kIsAdded>
__device__ void change(const Row& row, ColumnSums& sums, ColumnSums& squares) {
#pragma unroll
  for (uint32_t i = 0; i < kColumns; ++i) {
    const uint32_t value = row.values[i];
    sums.of[i] += kIsAdded ? value : 0 - value;
    squares.of[i] += kIsAdded ? value * value : 0 - value * value;
  }
}

/// Writes, for each column of the block, the sum of the columns before it. `warp_sums`: a word per warp.
template <uint32_t kThreads>
__device__ void write_prefix_sums(const ColumnSums& sums, uint32_t* warp_sums, uint32_t* prefix) {
  uint32_t of_thread = 0;
  uint32_t before[kColumns];
#pragma unroll
  for (uint32_t i = 0; i < kColumns; ++i) {
    before[i] = of_thread;
    of_thread += sums.of[i];
  }
  const uint32_t before_in_warp = warp_exclusive_sum(of_thread);
  if (threadIdx.x % kWarpSize == kWarpSize - 1) {
    warp_sums[threadIdx.x / kWarpSize] = before_in_warp + of_thread;
  }
  auto* to = reinterpret_cast<uint4*>(prefix) + threadIdx.x;
  *to = make_uint4(before_in_warp + before[0], before_in_warp + before[1], before_in_warp + before[2],
                   before_in_warp + before[3]);
}

/// The prefix sums of the rows between two barriers, within each warp, and the sums of the warps.
template <uint32_t kThreads>
struct PrefixSums {
  static constexpr uint32_t kWarps = kThreads / kWarpSize;
  uint32_t prefix[kRowsAtOnce][Strip<kThreads>::kInputs + kColumns];
  uint32_t warps[kRowsAtOnce][kWarps];

  /// The sum of columns [begin, end) of the strip.
  __device__ uint32_t sum(uint32_t row, uint32_t begin, uint32_t end) const {
    constexpr uint32_t kWarpColumns = kWarpSize * kColumns;
    uint32_t between = 0;  // what is in whole warps
    for (uint32_t warp = begin / kWarpColumns; warp < end / kWarpColumns; ++warp) {
      between += warps[row][warp];
    }
    return between + prefix[row][end] - prefix[row][begin];
  }
};

template <uint32_t kThreads, bool kHasSquares>
__global__ void __launch_bounds__(kThreads)
    write_local_bits(Plane frame, LocalRule rule, uint32_t radius, uint32_t row_words, uint32_t* bits) {
  __shared__ alignas(16) PrefixSums<kThreads> sums_of_rows;
  __shared__ alignas(16) PrefixSums<kHasSquares ? kThreads : kWarpSize> squares_of_rows;
  const uint32_t outputs = Strip<kThreads>::outputs(radius);
  const uint32_t x_begin = blockIdx.x * outputs;
  const uint32_t y_begin = blockIdx.y * kRows;
  const uint32_t y_end = min(y_begin + kRows, frame.height);
  const uint32_t column = x_begin - radius + threadIdx.x * kColumns;
  // The column after the last one, for windows that end there.
  if (threadIdx.x < kRowsAtOnce) {
    sums_of_rows.prefix[threadIdx.x][Strip<kThreads>::kInputs] = 0;
    if constexpr (kHasSquares) {
      squares_of_rows.prefix[threadIdx.x][Strip<kThreads>::kInputs] = 0;
    }
  }

  ColumnSums sums{};
  ColumnSums squares{};
  // The window of the row before the first one.
  const WindowSpan first = window_span(y_begin, radius, frame.height);
  for (uint32_t y = first.begin; y + 1 < first.end || (y < first.end && y_begin + radius >= frame.height);
       ++y) {
    change<true>(load_columns(frame, column, y), sums, squares);
  }
  for (uint32_t y0 = y_begin; y0 < y_end; y0 += kRowsAtOnce) {
#pragma unroll
    for (uint32_t i = 0; i < kRowsAtOnce; ++i) {
      const uint32_t y = y0 + i;
      if (y + radius < frame.height) {
        change<true>(load_columns(frame, column, y + radius), sums, squares);
      }
      if (y > radius && y > y_begin && y < frame.height) {
        change<false>(load_columns(frame, column, y - radius - 1), sums, squares);
      }
      write_prefix_sums<kThreads>(sums, sums_of_rows.warps[i], sums_of_rows.prefix[i]);
      if constexpr (kHasSquares) {
        write_prefix_sums<kThreads>(squares, squares_of_rows.warps[i], squares_of_rows.prefix[i]);
      }
    }
    __syncthreads();
    const uint32_t words = outputs / kWordPixels;
    for (uint32_t i = threadIdx.x / kWarpSize; i < words * kRowsAtOnce; i += kThreads / kWarpSize) {
      const uint32_t row = i / words;
      const uint32_t y = y0 + row;
      const uint32_t x = x_begin + i % words * kWordPixels + threadIdx.x % kWarpSize;
      bool is_foreground = false;
      if (x < frame.width && y < y_end) {
        const WindowSpan across = window_span(x, radius, frame.width);
        const uint32_t n = across.size() * window_span(y, radius, frame.height).size();
        const uint32_t begin = x - x_begin;  // the strip begins `radius` columns earlier
        const uint32_t end = begin + 2 * radius + 1;
        uint32_t square_sum = 0;
        if constexpr (kHasSquares) {
          square_sum = squares_of_rows.sum(row, begin, end);
        }
        is_foreground = rule.is_foreground(__ldg(frame.pixels + y * frame.pitch + x), n,
                                           sums_of_rows.sum(row, begin, end), square_sum);
      }
      const uint32_t word = __ballot_sync(kAllLanes, is_foreground);
      const uint32_t column_word = x / kWordPixels;
      if (threadIdx.x % kWarpSize == 0 && y < y_end && column_word < row_words) {
        bits[size_t{y} * row_words + column_word] = word;
      }
    }
    __syncthreads();
  }
}

template <uint32_t kThreads>
Status write(const Plane& frame, const LocalRule& rule, uint32_t radius, uint32_t* bits,
             cudaStream_t stream) {
  const uint32_t row_words = bit_row_words(frame.width);
  const uint32_t outputs = Strip<kThreads>::outputs(radius);
  const dim3 blocks((row_words * kWordPixels + outputs - 1) / outputs, (frame.height + kRows - 1) / kRows);
  const auto kernel =
      rule.needs_squares() ? write_local_bits<kThreads, true> : write_local_bits<kThreads, false>;
  return launch("write_local_bits", kernel, blocks, kThreads, stream, frame, rule, radius, row_words, bits);
}

}  // namespace

Status local_bits(const Plane& frame, const LocalThreshold& local, bool invert, uint32_t* bits,
                  cudaStream_t stream) {
  // Narrow strips give more blocks; wide ones lose fewer columns to a large radius.
  constexpr uint32_t kNarrow = 64;
  constexpr uint32_t kWide = 256;
  constexpr uint32_t kNarrowRadius = 32;
  const LocalRule rule(local, invert);
  return local.radius <= kNarrowRadius ? write<kNarrow>(frame, rule, local.radius, bits, stream)
                                       : write<kWide>(frame, rule, local.radius, bits, stream);
}

}  // namespace ccl::device::segment
