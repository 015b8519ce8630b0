// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sums over the runs of a tile, in its coordinates, where each fits 32 bits.
#pragma once

#include "device/runs_tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// The words of such sums; the last holds two.
struct TileSums {
  enum Word : uint32_t {
    kArea,
    kX,
    kY,
    kXMin,
    kXMax,
    kYMax,
    kBasicWords,
    kXX = kBasicWords,
    kXY,
    kYY,
    kPerimeterAndEuler,  ///< perimeter in the lower kPerimeterBits, Euler number in the others
    kAllWords,
  };

  /// Each edge between pixels counts once at most.
  static constexpr uint32_t kPerimeterBits = 17;
  static_assert(kWide * (kMaxRows + 1) + (kWide + 1) * kMaxRows < 1u << kPerimeterBits);
  /// Much more than the greatest Euler number, which is one a slot; the smallest is about minus half the
  /// pixels, and one less than the other bits could hold.
  static constexpr uint32_t kEulerBias = 1u << 13;

  static __device__ uint32_t pack(const PixelShape& shape) {
    return shape.perimeter + (static_cast<uint32_t>(shape.euler) << kPerimeterBits);
  }
  static __device__ uint32_t perimeter(uint32_t packed) { return packed % (1u << kPerimeterBits); }
  static __device__ int32_t euler(uint32_t packed) {
    return (static_cast<int32_t>(packed + (kEulerBias << kPerimeterBits)) >> kPerimeterBits) -
           static_cast<int32_t>(kEulerBias);
  }
};

/// The words that are summed up; those between kXMin and kYMax are extremes.
constexpr bool is_sum(uint32_t word) {
  return word <= TileSums::kY || word >= TileSums::kBasicWords;
}

/// The sums of a stretch of a row but for its perimeter and Euler number.
template <uint32_t kWords>
__device__ void sums_of_stretch(uint32_t x, uint32_t last, uint32_t y, uint32_t (&words)[kWords]) {
  const uint32_t n = last - x + 1;
  const uint32_t steps = n * (n - 1) / 2;  // Σ k for k < n
  const uint32_t sum_x = n * x + steps;
  words[TileSums::kArea] = n;
  words[TileSums::kX] = sum_x;
  words[TileSums::kY] = n * y;
  words[TileSums::kXMin] = x;
  words[TileSums::kXMax] = last;
  words[TileSums::kYMax] = y;
  if constexpr (kWords == TileSums::kAllWords) {
    const uint32_t squares = n * (n - 1) * (2 * n - 1) / 6;  // Σ k² for k < n
    words[TileSums::kXX] = n * x * x + 2 * x * steps + squares;
    words[TileSums::kXY] = sum_x * y;
    words[TileSums::kYY] = n * y * y;
  }
}

/// Perimeter and Euler number of the pixels x .. last of row y of a tile, all foreground of a binary frame:
/// what pixel_shape() sums up to, a word at a time. Only the run's ends can have corners.
template <typename Tile>
__device__ PixelShape shape_of_stretch(const Tile& tile, Connectivity connectivity, uint32_t x, uint32_t last,
                                       uint32_t y) {
  const bool left = tile.is_foreground_around(y, x - 1);
  const bool right = tile.is_foreground_around(y, last + 1);
  bool up_left = tile.is_foreground_around(y - 1, x - 1);
  const bool is_up_left = up_left;
  uint32_t pairs = 0;
  uint32_t windows = 0;
  for (uint32_t word = x / kWordBits; word <= last / kWordBits; ++word) {
    const uint32_t from = word == x / kWordBits ? x % kWordBits : 0;
    const uint32_t to = word == last / kWordBits ? last % kWordBits : kWordBits - 1;
    const uint32_t up = tile.word_around(y - 1, word) & (bits_up_to(to) & ~bits_below(from));
    const uint32_t carry = static_cast<uint32_t>(word == x / kWordBits ? left && up_left : up_left) << from;
    pairs += __popc(up);
    windows += __popc(up & (up << 1 | carry));
    up_left = up >> (kWordBits - 1) != 0;
  }
  PixelShape shape{};
  shape.perimeter = 2 * (last - x + 1) + !left + !right - 2 * pairs;
  shape.euler = static_cast<int32_t>(!left - pairs + windows);
  if (connectivity == Connectivity::k8) {
    shape.euler -= is_up_left && !left && !tile.is_foreground_around(y - 1, x);
    shape.euler -=
        !right && tile.is_foreground_around(y - 1, last + 1) && !tile.is_foreground_around(y - 1, last);
  }
  return shape;
}

/// The same for a stretch of a value, a pixel at a time.
__device__ inline PixelShape shape_of_value_stretch(const SegmentSource& frame, Connectivity connectivity,
                                                    uint32_t x, uint32_t last, uint32_t y) {
  const uint8_t own = frame.segment(x, y);
  const auto is_own = [&](uint32_t u, uint32_t v) { return frame.segment_or_background(u, v) == own; };
  PixelShape sum{};
  for (; x <= last; ++x) {
    const PixelShape shape = pixel_shape({.left = is_own(x - 1, y),
                                          .right = is_own(x + 1, y),
                                          .up = is_own(x, y - 1),
                                          .down = is_own(x, y + 1),
                                          .up_left = is_own(x - 1, y - 1),
                                          .up_right = is_own(x + 1, y - 1)},
                                         connectivity);
    sum.perimeter += shape.perimeter;
    sum.euler += shape.euler;
  }
  return sum;
}

/// Σ of the numbers of a word's bits that are set.
__device__ inline uint32_t sum_of_bits(uint32_t bits) {
  return __popc(bits & 0xaaaaaaaa) + 2 * __popc(bits & 0xcccccccc) + 4 * __popc(bits & 0xf0f0f0f0) +
         8 * __popc(bits & 0xff00ff00) + 16 * __popc(bits & 0xffff0000);
}

/// The sums of the columns `column` .. `end`, a whole run, of two rows, y and y + 1.
template <typename Tile>
__device__ void sums_of_pair(const Tile& tile, uint32_t y, uint32_t column, uint32_t end,
                             uint32_t (&words)[TileSums::kBasicWords]) {
  uint32_t n_upper = 0;
  uint32_t n_lower = 0;
  uint32_t x = 0;
#pragma unroll 1
  for (uint32_t word = column / kWordBits; word <= end / kWordBits; ++word) {
    const uint32_t in_run = (word == column / kWordBits ? ~bits_below(column % kWordBits) : kAllLanes) &
                            (word == end / kWordBits ? bits_up_to(end % kWordBits) : kAllLanes);
    const uint32_t upper = tile.bits[y * Tile::kRowWords + word] & in_run;
    const uint32_t lower = tile.bits[(y + 1) * Tile::kRowWords + word] & in_run;
    const uint32_t n = __popc(upper) + __popc(lower);
    n_upper += __popc(upper);
    n_lower += __popc(lower);
    x += n * word * kWordBits + sum_of_bits(upper) + sum_of_bits(lower);
  }
  words[TileSums::kArea] = n_upper + n_lower;
  words[TileSums::kX] = x;
  words[TileSums::kY] = (n_upper + n_lower) * y + n_lower;
  words[TileSums::kXMin] = column;
  words[TileSums::kXMax] = end;
  words[TileSums::kYMax] = n_lower != 0 ? y + 1 : y;
}

/// The sums of a run; all words only of those of one row.
template <typename Tile, uint32_t kWords>
__device__ void sums_of_run(const Tiles& tiles, Connectivity connectivity, const Place& place,
                            const Tile& tile, TileRun run, uint32_t (&words)[kWords]) {
  const uint32_t x = run.first();
  const uint32_t last = tile.last_column(run);
  if constexpr (Tile::kKind == RunKind::kPair) {
    sums_of_pair(tile, run.row() / 2 * 2, x, last, words);
  } else {
    sums_of_stretch(x, last, run.row(), words);
  }
  if constexpr (kWords == TileSums::kAllWords) {
    PixelShape shape{};
    if constexpr (Tile::kKind == RunKind::kValue) {
      shape =
          shape_of_value_stretch(tiles.frame, connectivity, place.x + x, place.x + last, place.y + run.row());
    } else {
      shape = shape_of_stretch(tile, connectivity, x, last, run.row());
    }
    words[TileSums::kPerimeterAndEuler] = TileSums::pack(shape);
  }
}

/// Adds up the words over `lanes`, all of which must call it.
template <uint32_t kWords>
__device__ void reduce(uint32_t lanes, uint32_t (&words)[kWords]) {
  for (uint32_t i = 0; i < kWords; ++i) {
    words[i] = is_sum(i)              ? warp_sum(lanes, words[i])
               : i == TileSums::kXMin ? warp_min(lanes, words[i])
                                      : warp_max(lanes, words[i]);
  }
}

/// Adds to sums in shared memory.
template <uint32_t kWords>
__device__ void add(const uint32_t (&words)[kWords], uint32_t* sums) {
  for (uint32_t i = 0; i < kWords; ++i) {
    if (is_sum(i)) {
      atomicAdd(sums + i, words[i]);
    } else if (i == TileSums::kXMin) {
      atomicMin(sums + i, words[i]);
    } else {
      atomicMax(sums + i, words[i]);
    }
  }
}

}  // namespace ccl::device::runs
