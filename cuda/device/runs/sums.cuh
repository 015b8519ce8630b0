// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sums over the runs of a tile, in the tile's coordinates, in which each sum fits 32 bits; and in the
/// frame's.
#pragma once

#include "ccl/filter.h"
#include "ccl/sums.h"
#include "device/runs/forest.cuh"
#include "device/runs/pack.cuh"
#include "device/runs/tile.cuh"
#include "device/warp.cuh"

namespace ccl::device::runs {

/// The words of the sums of a component. The first and the last word hold two sums.
struct TileSums {
  enum Word : uint32_t {
    kArea,  ///< in the lower kAreaBits, strong pixels in the others
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
  static_assert(kAllWords == kMaxSumWords);

  static constexpr uint32_t kAreaBits = 16;
  static_assert(kWide * kMaxRows < 1u << kAreaBits);
  /// Each edge between pixels counts once at most.
  static constexpr uint32_t kPerimeterBits = 17;
  static_assert(kWide * (kMaxRows + 1) + (kWide + 1) * kMaxRows < 1u << kPerimeterBits);
  /// Much more than the greatest Euler number, which is one per node. The smallest is about minus half the
  /// pixels, one less than the upper bits could hold without the bias.
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

/// How many bits of a word are set, and Σ of their numbers and of the squares of these.
struct BitSums {
  uint32_t n, x, xx;
};

/// The sums of bits `first` .. `first` + n − 1.
__device__ inline BitSums sums_of_consecutive(uint32_t first, uint32_t n) {
  const uint32_t steps = n * (n - 1) / 2;                  // Σ k for k < n
  const uint32_t squares = n * (n - 1) * (2 * n - 1) / 6;  // Σ k² for k < n
  return {n, n * first + steps, first * (n * first + 2 * steps) + squares};
}

/// The sums of a stretch of a row, without its perimeter and Euler number.
template <uint32_t kWords>
__device__ void sums_of_stretch(uint32_t x, uint32_t last, uint32_t y, uint32_t (&words)[kWords]) {
  const BitSums columns = sums_of_consecutive(x, last - x + 1);
  words[TileSums::kArea] = columns.n;
  words[TileSums::kX] = columns.x;
  words[TileSums::kY] = columns.n * y;
  words[TileSums::kXMin] = x;
  words[TileSums::kXMax] = last;
  words[TileSums::kYMax] = y;
  if constexpr (kWords == TileSums::kAllWords) {
    words[TileSums::kXX] = columns.xx;
    words[TileSums::kXY] = columns.x * y;
    words[TileSums::kYY] = columns.n * y * y;
  }
}

/// A word of a row, with the left and the right neighbour of each pixel.
struct WordNeighbors {
  uint32_t own, left, right;

  /// The foreground in or next to a tile.
  template <typename Tile>
  __device__ WordNeighbors(const Tile& tile, uint32_t row, uint32_t word)
      : WordNeighbors(tile.word_around(row, word), tile.word_around(row, word - 1) >> (kWordBits - 1),
                      tile.word_around(row, word + 1) & 1) {}

  /// The pixels of this value, from (x, y) of the frame on.
  static __device__ WordNeighbors of_value(const Tiles& tiles, uint32_t value, uint32_t x, uint32_t y) {
    const auto is_equal = [&](uint32_t at_x) {
      return tiles.frame.segment_or_background(at_x, y) == value ? 1u : 0u;
    };
    const uint32_t four = value * 0x01010101u;
    const uint4 all = make_uint4(four, four, four, four);
    return {equal_bytes(load_pixels(tiles, x, y), all) | equal_bytes(load_pixels(tiles, x + kChunk, y), all)
                                                             << kChunk,
            is_equal(x - 1), is_equal(x + kWordBits)};
  }

 private:
  __device__ WordNeighbors(uint32_t word, uint32_t before, uint32_t after)
      : own(word), left(word << 1 | before), right(word >> 1 | after << (kWordBits - 1)) {}
};

/// Perimeter and Euler number of some pixels of a word of `row`: the sum of pixel_shape() over these pixels.
/// Both rows are of the foreground, or of the pixels' value.
__device__ inline PixelShape shape_of_word(Connectivity connectivity, uint32_t pixels,
                                           const WordNeighbors& row, const WordNeighbors& above) {
  const uint32_t first = pixels & ~row.left;
  const uint32_t last = pixels & ~row.right;
  const uint32_t n_pairs = __popc(pixels & above.own);
  const uint32_t n_windows = __popc(pixels & above.own & row.left & above.left);
  const uint32_t n_corners = connectivity == Connectivity::k8 ? __popc(first & above.left & ~above.own) +
                                                                    __popc(last & above.right & ~above.own)
                                                              : 0;
  PixelShape shape{};
  shape.perimeter = 2 * __popc(pixels) + __popc(first) + __popc(last) - 2 * n_pairs;
  shape.euler = static_cast<int32_t>(__popc(first) - n_pairs + n_windows - n_corners);
  return shape;
}

__device__ inline void add(const PixelShape& shape, PixelShape* sum) {
  sum->perimeter += shape.perimeter;
  sum->euler += shape.euler;
}

/// Σ of the numbers of the bits of a word that are set.
__device__ inline uint32_t sum_of_bits(uint32_t bits) {
  return __popc(bits & 0xaaaaaaaa) + 2 * __popc(bits & 0xcccccccc) + 4 * __popc(bits & 0xf0f0f0f0) +
         8 * __popc(bits & 0xff00ff00) + 16 * __popc(bits & 0xffff0000);
}

/// The sums of a byte's bits.
__device__ inline BitSums sums_of_byte(uint32_t bits) {
  constexpr uint32_t kSpread = 0x00204081;  // puts four bits into a byte each, among others
  constexpr uint32_t kOnes = 0x01010101;
  const uint32_t low = (bits & 0xf) * kSpread & kOnes;
  const uint32_t high = (bits >> 4) * kSpread & kOnes;
  return {static_cast<uint32_t>(__popc(bits)), __dp4a(low, 0x03020100u, __dp4a(high, 0x07060504u, 0u)),
          __dp4a(low, 0x09040100u, __dp4a(high, 0x31241910u, 0u))};
}

/// The sums of a word's bits, which are mostly one stretch.
__device__ inline BitSums sums_of_word(uint32_t bits) {
  const uint32_t first = __ffs(static_cast<int>(bits)) - 1;
  const uint32_t from_first = bits >> first % kWordBits;
  if ((from_first & (from_first + 1)) == 0) {
    return sums_of_consecutive(first, __popc(bits));
  }
  BitSums sum{};
#pragma unroll 1
  for (uint32_t bit = first / 8 * 8; bit < kWordBits && bits >> bit != 0; bit += 8) {
    const BitSums byte = sums_of_byte(bits >> bit & 0xff);
    sum.n += byte.n;
    sum.x += byte.n * bit + byte.x;
    sum.xx += bit * (byte.n * bit + 2 * byte.x) + byte.xx;
  }
  return sum;
}

/// The part of a run that lies in one word: columns `first` .. `last` of a band.
struct WordSpan {
  uint32_t band, first, last;

  __device__ uint32_t word() const { return first / kWordBits; }
  /// Its columns, as bits of the word.
  __device__ uint32_t columns() const {
    return bits_up_to(last % kWordBits) & ~bits_below(first % kWordBits);
  }
};

/// The span that begins at a column of a run.
template <typename Tile>
__device__ WordSpan span_from(const Tile& tile, uint32_t band, uint32_t first) {
  const uint32_t stops = tile.stops_in(band, first / kWordBits) & ~bits_up_to(first % kWordBits);
  const uint32_t n_before = stops != 0 ? __ffs(static_cast<int>(stops)) - 1 : kWordBits;
  return {band, first, first / kWordBits * kWordBits + n_before - 1};
}

/// The sums of a span of a run of two rows.
template <typename Tile, uint32_t kWords>
__device__ void sums_of_pair(const Tile& tile, const WordSpan& span, uint32_t (&words)[kWords]) {
  const uint32_t y = span.band * Tile::kBandRows;
  const uint32_t word = span.word();
  const uint32_t begin = word * kWordBits;
  const uint32_t upper = tile.bits[y * Tile::kRowWords + word] & span.columns();
  const uint32_t lower = tile.bits[(y + 1) * Tile::kRowWords + word] & span.columns();
  const uint32_t n_lower = __popc(lower);
  const uint32_t n = __popc(upper) + n_lower;
  words[TileSums::kArea] = n;
  words[TileSums::kY] = n * y + n_lower;
  words[TileSums::kXMin] = span.first;
  words[TileSums::kXMax] = span.last;
  words[TileSums::kYMax] = n_lower != 0 ? y + 1 : y;
  if constexpr (kWords == TileSums::kBasicWords) {
    words[TileSums::kX] = n * begin + sum_of_bits(upper) + sum_of_bits(lower);
  } else {
    const BitSums up = sums_of_word(upper);
    const BitSums low = sums_of_word(lower);
    const uint32_t in_word = up.x + low.x;
    const uint32_t x = n * begin + in_word;
    words[TileSums::kX] = x;
    words[TileSums::kXX] = begin * (x + in_word) + up.xx + low.xx;
    words[TileSums::kXY] = x * y + n_lower * begin + low.x;
    words[TileSums::kYY] = n * y * y + n_lower * (2 * y + 1);
    const WordNeighbors first(tile, y, word);
    PixelShape shape = shape_of_word(Connectivity::k8, upper, first, WordNeighbors(tile, y - 1, word));
    add(shape_of_word(Connectivity::k8, lower, WordNeighbors(tile, y + 1, word), first), &shape);
    words[TileSums::kPerimeterAndEuler] = TileSums::pack(shape);
  }
}

/// With hysteresis: how many pixels of a span are strong. `strong`: a bit image.
template <typename Tile>
__device__ uint32_t count_strong(const uint32_t* strong, const Tiles& tiles, const Place& place,
                                 const Tile& tile, const WordSpan& span) {
  const uint32_t x = place.x / kWordBits + span.word();
  uint32_t n = 0;
  for (uint32_t row = span.band * Tile::kBandRows; row < (span.band + 1) * Tile::kBandRows; ++row) {
    const uint32_t own = tile.bits[row * Tile::kRowWords + span.word()] & span.columns();
    if (own != 0) {
      n += __popc(own & strong[size_t{place.y + row} * bit_row_words(tiles.frame.width) + x]);
    }
  }
  return n;
}

/// The sums of a span of a run.
template <typename Tile, uint32_t kWords>
__device__ void sums_of_span(const Tiles& tiles, Connectivity connectivity, const Place& place,
                             const Tile& tile, const WordSpan& span, uint32_t (&words)[kWords]) {
  if constexpr (Tile::kKind == RunKind::kPair) {
    sums_of_pair(tile, span, words);
    return;
  }
  const uint32_t row = span.band;
  sums_of_stretch(span.first, span.last, row, words);
  if constexpr (kWords == TileSums::kAllWords) {
    const auto neighbors = [&](uint32_t of_row) {
      if constexpr (Tile::kKind == RunKind::kValue) {
        const uint32_t value = tiles.frame.segment(place.x + span.first, place.y + row);
        return WordNeighbors::of_value(tiles, value, place.x + span.word() * kWordBits, place.y + of_row);
      } else {
        return WordNeighbors(tile, of_row, span.word());
      }
    };
    const PixelShape shape = shape_of_word(connectivity, span.columns(), neighbors(row), neighbors(row - 1));
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

/// Adds up the words of those of `lanes` that have the same value as the first of them, if they are at least
/// `n_least`. Returns whether the caller must add the lane's words: no other lane's words contain them.
template <uint32_t kWords>
__device__ bool reduce_alike(uint32_t lanes, uint32_t value, uint32_t n_least, uint32_t (&words)[kWords]) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t leader = __ffs(static_cast<int>(lanes)) - 1;
  const uint32_t alike = __ballot_sync(lanes, value == __shfl_sync(lanes, value, leader));
  if ((alike >> lane & 1) == 0 || __popc(alike) < n_least) {
    return true;
  }
  reduce(alike, words);
  return lane == leader;
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

/// The words of sums in the frame's coordinates. Where a word holds two sums, they have 32 bits each.
template <uint32_t kWords>
using FrameSums = uint64_t[kWords];

/// Moves sums from the tile's coordinates to the frame's.
template <uint32_t kWords>
__device__ void to_frame(const Place& place, const uint32_t (&words)[kWords], FrameSums<kWords>& sums) {
  const uint64_t n = words[TileSums::kArea] % (1u << TileSums::kAreaBits);
  const uint64_t x = words[TileSums::kX];
  const uint64_t y = words[TileSums::kY];
  const uint64_t x0 = place.x;
  const uint64_t y0 = place.y;
  sums[TileSums::kArea] = n + (uint64_t{words[TileSums::kArea] >> TileSums::kAreaBits} << kWordBits);
  sums[TileSums::kX] = n * x0 + x;
  sums[TileSums::kY] = n * y0 + y;
  sums[TileSums::kXMin] = x0 + words[TileSums::kXMin];
  sums[TileSums::kXMax] = x0 + words[TileSums::kXMax];
  sums[TileSums::kYMax] = y0 + words[TileSums::kYMax];
  if constexpr (kWords == TileSums::kAllWords) {
    sums[TileSums::kXX] = n * x0 * x0 + 2 * x0 * x + words[TileSums::kXX];
    sums[TileSums::kXY] = n * x0 * y0 + x0 * y + y0 * x + words[TileSums::kXY];
    sums[TileSums::kYY] = n * y0 * y0 + 2 * y0 * y + words[TileSums::kYY];
    const uint32_t shape = words[TileSums::kPerimeterAndEuler];
    sums[TileSums::kPerimeterAndEuler] =
        TileSums::perimeter(shape) + (static_cast<uint64_t>(TileSums::euler(shape)) << kWordBits);
  }
}

/// `y_min` is the row of the component's first pixel.
template <uint32_t kWords>
__device__ Sums as_sums(const FrameSums<kWords>& words, uint32_t y_min) {
  Sums sums;
  sums.x_min = static_cast<uint32_t>(words[TileSums::kXMin]);
  sums.y_min = y_min;
  sums.x_max = static_cast<uint32_t>(words[TileSums::kXMax]);
  sums.y_max = static_cast<uint32_t>(words[TileSums::kYMax]);
  sums.x = words[TileSums::kX];
  sums.y = words[TileSums::kY];
  if constexpr (kWords == TileSums::kAllWords) {
    sums.xx = words[TileSums::kXX];
    sums.xy = words[TileSums::kXY];
    sums.yy = words[TileSums::kYY];
    sums.perimeter = static_cast<uint32_t>(words[TileSums::kPerimeterAndEuler]);
    sums.euler = static_cast<int32_t>(words[TileSums::kPerimeterAndEuler] >> kWordBits);
  }
  return sums;
}

/// What the filter reads. `y_min` is the row of the component's first pixel.
template <uint32_t kWords>
__device__ FilterSums filter_sums(const FrameSums<kWords>& sums, uint32_t y_min, const SegmentSource& frame) {
  return ccl::filter_sums(static_cast<uint32_t>(sums[TileSums::kArea]), as_sums(sums, y_min), frame.width,
                          frame.height);
}

/// With hysteresis: how many pixels of a component are strong.
template <uint32_t kWords>
__device__ uint32_t n_strong_of(const FrameSums<kWords>& sums) {
  return static_cast<uint32_t>(sums[TileSums::kArea] >> kWordBits);
}

/// The area of a root node whose sums are complete.
__device__ inline uint32_t area_of_node(const Tiles& tiles, uint32_t node) {
  return static_cast<uint32_t>(*tiles.node_sum(TileSums::kArea, node));
}

/// The sums of a root node that a filter may read, once they are complete. A filter that reads more than the
/// basic words has a kernel that adds up all.
__device__ inline void load_sums_of_node(const Tiles& tiles, const Filter& filter, uint32_t node,
                                         FrameSums<TileSums::kAllWords>& sums) {
  const bool needs_all = features_of(filter) != 0;
  for (uint32_t word = 0; word < TileSums::kAllWords; ++word) {
    sums[word] = word < TileSums::kBasicWords || needs_all ? *tiles.node_sum(word, node) : 0;
  }
}

}  // namespace ccl::device::runs
