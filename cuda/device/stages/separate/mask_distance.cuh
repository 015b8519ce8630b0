// SPDX-License-Identifier: LGPL-2.1-or-later
/// The kernels of the distance transform for masks, whose components do not touch.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/parts.h"
#include "device/launch.cuh"
#include "device/stages/separate/region_table.h"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

/// A block measures so many columns, each by so many threads, which share its rows.
constexpr uint32_t kMaskColumns = 16;
constexpr uint32_t kMaskParts = 64;

/// A thread has the background of its part of a column in a word.
constexpr uint32_t kMostPartRows = 64;
constexpr uint32_t kMostMaskRows = kMaskParts * kMostPartRows;

/// Of a pixel whose whole column belongs to its component.
constexpr uint16_t kNoColumnDistance = 0xffff;

/// The nearest row of the background in a column, seen from a part without one.
constexpr int32_t kFarAbove = -0x10000;
constexpr int32_t kFarBelow = 0x20000;

/// Distances to the nearest background of the columns. `part_rows`: rows of each part but the last ones.
__global__ void __launch_bounds__(kMaskColumns* kMaskParts)
    measure_mask_columns(Mask mask, uint32_t width, uint32_t height, uint32_t part_rows,
                         uint16_t* distances) {
  __shared__ int32_t first[kMaskParts][kMaskColumns];  // of the background in a part; kFarBelow
  __shared__ int32_t last[kMaskParts][kMaskColumns];   // likewise; kFarAbove
  const uint32_t column = threadIdx.x % kMaskColumns;
  const uint32_t part = threadIdx.x / kMaskColumns;
  const uint32_t x = blockIdx.x * kMaskColumns + column;
  const uint32_t begin = min(part * part_rows, height);
  const uint32_t n_rows = x < width ? min(part_rows, height - begin) : 0;
  uint64_t background = 0;  // bit i: of row begin + i
#pragma unroll 4
  for (uint32_t i = 0; i < n_rows; ++i) {
    background |= uint64_t{mask(x, begin + i) == 0 ? 1u : 0u} << i;
  }
  const auto top = static_cast<int32_t>(begin);
  first[part][column] = background != 0 ? top + __ffsll(static_cast<int64_t>(background)) - 1 : kFarBelow;
  last[part][column] = background != 0 ? top + 63 - __clzll(static_cast<int64_t>(background)) : kFarAbove;
  __syncthreads();

  int32_t above = kFarAbove;
  for (uint32_t i = part; i-- > 0 && above == kFarAbove;) {
    above = last[i][column];
  }
  int32_t below = kFarBelow;
  for (uint32_t i = part + 1; i < kMaskParts && below == kFarBelow; ++i) {
    below = first[i][column];
  }
  for (uint32_t i = 0; i < n_rows; ++i) {
    const int32_t y = top + static_cast<int32_t>(i);
    const uint64_t rest = background >> i;
    above = (rest & 1) != 0 ? y : above;
    const int32_t next = rest != 0 ? y + __ffsll(static_cast<int64_t>(rest)) - 1 : below;
    distances[size_t{begin + i} * width + x] =
        static_cast<uint16_t>(min(min(y - above, next - y), int32_t{kNoColumnDistance}));
  }
}

/* Rows. Most distances are short: a thread searches for two pixels at once, with 16 bits for each square. */

constexpr uint32_t kMaskRowThreads = 128;
constexpr uint32_t kMostShortWay = 180;  ///< pixels to each side, at aspect 1
constexpr uint32_t kWaysTogether = 4;    ///< between two questions whether all is found
constexpr uint32_t kBothHalves = 0x10001;

/// Squares above are too long for a search. Its sum with the square of kMostShortWay fits into 16 bits.
constexpr uint32_t kLongSquare = 33000;

/// min(a + b, c) of both halves; no sum overflows.
__device__ inline uint32_t add_and_min(uint32_t a, uint32_t b, uint32_t c) {
#if CUDART_VERSION >= 12000
  return __viaddmin_u16x2(a, b, c);
#else
  return __vminu2(__vadd2(a, b), c);
#endif
}

/// A row in shared memory: column x in the lower half of a word, column x + half in the upper one.
struct ShortRow {
  uint32_t* pairs;  ///< from column −kMostShortWay on
  uint32_t width;
  uint32_t half;
  uint32_t aspect;

  static constexpr uint32_t size(uint32_t width) { return (width + 1) / 2 + 2 * kMostShortWay; }

  /// A multiple of kWaysTogether.
  __device__ uint32_t most_way() const { return kMostShortWay / aspect / kWaysTogether * kWaysTogether; }
  __device__ uint32_t aside(uint32_t way) const { return aspect * way * aspect * way; }

  __device__ void load(const uint16_t* distances) const {
    const auto square_at = [&](uint32_t x) {  // outside the frame, x is large, too
      const uint32_t distance = x < width ? distances[x] : kNoColumnDistance;
      return min(distance * distance, kLongSquare);
    };
    for (uint32_t i = threadIdx.x; i < size(width); i += kMaskRowThreads) {
      const uint32_t x = i - kMostShortWay;
      pairs[i] = square_at(x) | square_at(x + half) << 16;
    }
  }

  /// The squares of two pixels. Those of at most aside(most_way()) are exact.
  __device__ uint32_t search(uint32_t x) const {
    const uint32_t* here = pairs + kMostShortWay + x;
    uint32_t best = *here;
    for (uint32_t way = 1; way <= most_way(); way += kWaysTogether) {
      const uint32_t nearest = aside(way) * kBothHalves;
      if (__vmaxu2(best, nearest) == nearest) {
        break;
      }
#pragma unroll
      for (uint32_t k = 0; k < kWaysTogether; ++k) {
        const auto to = static_cast<int32_t>(way + k);
        best = add_and_min(__vminu2(here[-to], here[to]), aside(way + k) * kBothHalves, best);
      }
    }
    return best;
  }
};

constexpr uint32_t kFirstStep = 128;  ///< pixels between those that warps search for

/// What a pixel has found: the first column with the smallest square.
struct Nearest {
  uint32_t square;
  uint32_t column;

  __device__ void take(uint32_t other_square, uint32_t other_column) {
    if (other_square < square || (other_square == square && other_column < column)) {
      *this = {other_square, other_column};
    }
  }
};

/// A row with long distances, in shared memory. The columns that are nearest to pixels of a row are in the
/// order of the pixels (Felzenszwalb and Huttenlocher 2012), so that a pixel searches between those that are
/// nearest to the pixels beside it, which were found before.
struct MonotoneRow {
  uint16_t* distances;
  uint16_t* nearest;  ///< per pixel, the column with the smallest square
  uint32_t width;
  uint32_t aspect;

  __device__ uint32_t square(uint32_t x, uint32_t column) const {
    const uint32_t distance = distances[column];
    const uint32_t aside = aspect * (x > column ? x - column : column - x);
    return distance == kNoColumnDistance ? kNoSquare : aside * aside + distance * distance;
  }

  /// The columns that can be nearest to pixel x, of those from `first` to `last`.
  __device__ uint32_t first_column(uint32_t x, uint32_t first) const {
    return max(first, x - min(x, uint32_t{distances[x]}));
  }
  __device__ uint32_t last_column(uint32_t x, uint32_t last) const {
    return min(last, min(width - 1, x + distances[x]));
  }

  /// A warp searches for one pixel.
  __device__ void search_together(uint32_t x) const {
    Nearest best{kNoSquare, x};
    for (uint32_t column = first_column(x, 0) + threadIdx.x % kWarpSize; column <= last_column(x, width - 1);
         column += kWarpSize) {
      best.take(square(x, column), column);
    }
    for (uint32_t step = kWarpSize / 2; step > 0; step /= 2) {
      best.take(__shfl_xor_sync(kAllLanes, best.square, step), __shfl_xor_sync(kAllLanes, best.column, step));
    }
    nearest[x] = static_cast<uint16_t>(best.column);
  }

  /// A thread searches for a pixel between two others.
  __device__ void search_between(uint32_t x, uint32_t step) const {
    Nearest best{kNoSquare, x};
    const uint32_t last = last_column(x, x + step < width ? nearest[x + step] : width - 1);
    for (uint32_t column = first_column(x, nearest[x - step]); column <= last; ++column) {
      best.take(square(x, column), column);
    }
    nearest[x] = static_cast<uint16_t>(best.column);
  }

  /// All threads of the block call it.
  __device__ void search() const {
    for (uint32_t x = threadIdx.x / kWarpSize * kFirstStep; x < width;
         x += kMaskRowThreads / kWarpSize * kFirstStep) {
      search_together(x);
    }
    for (uint32_t step = kFirstStep / 2; step > 0; step /= 2) {
      __syncthreads();
      for (uint32_t x = step + 2 * step * threadIdx.x; x < width; x += 2 * step * kMaskRowThreads) {
        search_between(x, step);
      }
    }
    __syncthreads();
  }
};

/// The most columns of a row that measure_mask_rows() takes.
constexpr uint32_t kMostMaskColumns = 12288;
constexpr uint32_t kMostAside = 32768;  ///< so that sums of two squares are 32-bit numbers

constexpr uint32_t mask_row_bytes(uint32_t width) {
  const uint32_t of_long = 2 * width * sizeof(uint16_t);
  const uint32_t of_short = ShortRow::size(width) * sizeof(uint32_t);
  return of_long > of_short ? of_long : of_short;
}

/// Heights of the rows of a mask, a block for each row.
__global__ void __launch_bounds__(kMaskRowThreads)
    measure_mask_rows(const uint16_t* distances, uint32_t width, uint32_t aspect, uint16_t* heights) {
  extern __shared__ uint32_t memory[];
  distances += size_t{blockIdx.x} * width;
  heights += size_t{blockIdx.x} * width;
  const ShortRow row{.pairs = memory, .width = width, .half = (width + 1) / 2, .aspect = aspect};
  row.load(distances);
  __syncthreads();
  const uint32_t longest = row.aside(row.most_way());
  bool is_found = true;
  for (uint32_t x = threadIdx.x; x < row.half; x += kMaskRowThreads) {
    const uint32_t squares = row.search(x);
    heights[x] = height_of(squares & 0xffff);
    is_found = is_found && (squares & 0xffff) <= longest;
    if (x + row.half < width) {
      heights[x + row.half] = height_of(squares >> 16);
      is_found = is_found && squares >> 16 <= longest;
    }
  }
  if (__syncthreads_or(is_found ? 0 : 1) == 0) {
    return;
  }
  auto* words = reinterpret_cast<uint16_t*>(memory);
  const MonotoneRow all{.distances = words, .nearest = words + width, .width = width, .aspect = aspect};
  for (uint32_t x = threadIdx.x; x < width; x += kMaskRowThreads) {
    all.distances[x] = distances[x];
  }
  __syncthreads();
  all.search();
  for (uint32_t x = threadIdx.x; x < width; x += kMaskRowThreads) {
    heights[x] = height_of(all.square(x, all.nearest[x]));
  }
}

}  // namespace

}  // namespace ccl::device
