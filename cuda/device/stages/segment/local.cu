// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block writes a tile in two steps with running sums. First each thread goes down four columns and stores,
/// for each row, the sums of their pixels over the window's rows. Then each thread goes along a word of a row
/// and adds those sums over the window's columns. So a pixel costs as much with any radius, except for the
/// first window of each thread and for the halo of a tile.
#include "device/stages/segment/local.h"

#include "ccl/segment/local.h"
#include "device/launch.cuh"
#include "device/stages/segment/lanes.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

namespace {

constexpr uint32_t kWordPixels = 32;
constexpr uint32_t kQuad = 4;         ///< columns of a thread in the first step
constexpr uint32_t kChunkRows = 8;    ///< rows of a thread in the first step
constexpr uint32_t kRows = 16;        ///< of a tile
constexpr uint32_t kRowsAtOnce = 16;  ///< rows of the first window that a thread loads before it adds them

/// The sums of a tile's columns, its halo included, over the rows of each row's window. A column of 255 rows
/// fits 16 bits, its squares fit 32. Rows begin in different banks: lanes read different rows.
template <uint32_t kColumns, bool kHasSquares>
struct TileSums {
  uint32_t values[kRows][kColumns / 2 + 1];  ///< two columns a word
  uint32_t squares[kHasSquares ? kRows : 1][kHasSquares ? kColumns + 1 : 1];
  static_assert(kColumns % 4 == 0);
};
static_assert((2 * kMaxLocalRadius + 1) * 255 <= 0xffff);

/// The sums of four columns. Those of the values are halves of words.
template <bool kHasSquares>
struct QuadSums {
  Quad values;
  uint32_t squares[kHasSquares ? kQuad : 1];

  template <bool kIsAdded>
  __device__ void change(uint32_t pixels) {
    const Quad quad{__byte_perm(pixels, 0, 0x4240), __byte_perm(pixels, 0, 0x4341)};
    values.even += kIsAdded ? quad.even : 0 - quad.even;
    values.odd += kIsAdded ? quad.odd : 0 - quad.odd;
    if constexpr (kHasSquares) {
#pragma unroll
      for (uint32_t i = 0; i < kQuad; ++i) {
        const uint32_t value = pixels >> 8 * i & 0xff;
        squares[i] += kIsAdded ? value * value : 0 - value * value;
      }
    }
  }

  template <typename Sums>
  __device__ void store(uint32_t row, uint32_t quad, Sums& tile) const {
    tile.values[row][2 * quad] = __byte_perm(values.even, values.odd, 0x5410);
    tile.values[row][2 * quad + 1] = __byte_perm(values.even, values.odd, 0x7632);
    if constexpr (kHasSquares) {
#pragma unroll
      for (uint32_t i = 0; i < kQuad; ++i) {
        tile.squares[row][kQuad * quad + i] = squares[i];
      }
    }
  }
};

/// Four columns of a frame, or as many as it has from there on: the others are 0.
template <bool kIsWord>
struct QuadColumns {
  const uint8_t* pixels;
  size_t pitch;
  uint32_t n_columns;  ///< not with kIsWord

  /// Loads the rows from `y` on. With kIsChecked those that do not lie before `end` are 0, and `y` may wrap
  /// around above the frame.
  template <bool kIsChecked, uint32_t kCount>
  __device__ void load(uint32_t y, uint32_t end, uint32_t (&rows)[kCount]) const {
    const uint8_t* from = pixels + static_cast<int32_t>(y) * static_cast<ptrdiff_t>(pitch);
#pragma unroll
    for (uint32_t i = 0; i < kCount; ++i, from += pitch) {
      rows[i] = !kIsChecked || y + i < end ? load_row(from) : 0;
    }
  }

  __device__ uint32_t load_row(const uint8_t* from) const {
    if constexpr (kIsWord) {
      return __ldg(reinterpret_cast<const uint32_t*>(from));
    }
    uint32_t word = 0;
#pragma unroll
    for (uint32_t i = 0; i < kQuad; ++i) {
      word |= i < n_columns ? uint32_t{__ldg(from + i)} << 8 * i : 0;
    }
    return word;
  }
};

/// Stores the sums of four columns for the rows from `y` on, which is in the frame.
template <bool kHasSquares, bool kIsWord, typename Sums>
__device__ void sum_columns(const QuadColumns<kIsWord>& columns, uint32_t height, uint32_t radius, uint32_t y,
                            uint32_t quad, Sums& tile) {
  // Loaded first, so that the thread does not wait for these rows later.
  uint32_t entering[kChunkRows];
  uint32_t leaving[kChunkRows - 1];
  columns.template load<true>(y + radius, height, entering);
  columns.template load<true>(y - radius, height, leaving);
  QuadSums<kHasSquares> sums{};
  uint32_t rows[kRowsAtOnce];
  const auto add_rows = [&] {
#pragma unroll
    for (const uint32_t row : rows) {
      sums.template change<true>(row);
    }
  };
  // The first window without its last row.
  const uint32_t end = min(y + radius, height);
  uint32_t first = y > radius ? y - radius : 0;
  for (; first + kRowsAtOnce <= end; first += kRowsAtOnce) {
    columns.template load<false>(first, end, rows);
    add_rows();
  }
  columns.template load<true>(first, end, rows);
  add_rows();
#pragma unroll
  for (uint32_t i = 0; i < kChunkRows; ++i) {
    sums.template change<true>(entering[i]);
    if (i > 0) {
      sums.template change<false>(leaving[i - 1]);
    }
    sums.store(y % kRows + i, quad, tile);
  }
}

/// The same for the columns from `x` on, which may lie outside the frame.
template <bool kHasSquares, typename Sums>
__device__ void sum_quad(const Plane& frame, bool has_aligned_words, uint32_t radius, uint32_t x, uint32_t y,
                         uint32_t quad, Sums& tile) {
  if (x >= frame.width) {
    const QuadSums<kHasSquares> none{};
    for (uint32_t i = 0; i < kChunkRows; ++i) {
      none.store(y % kRows + i, quad, tile);
    }
  } else if (has_aligned_words && x + kQuad <= frame.width) {
    const QuadColumns<true> columns{frame.pixels + x, frame.pitch, kQuad};
    sum_columns<kHasSquares>(columns, frame.height, radius, y, quad, tile);
  } else {
    const QuadColumns<false> columns{frame.pixels + x, frame.pitch, frame.width - x};
    sum_columns<kHasSquares>(columns, frame.height, radius, y, quad, tile);
  }
}

/// A word of a row.
struct Word {
  uint32_t x;  ///< of the first pixel
  uint32_t y;
  uint32_t column;  ///< of the tile's sums: the first one in the window of the first pixel
  uint32_t values[kWordPixels / 4];
};

__device__ void load_values(const Plane& frame, bool is_aligned, Word& word) {
#pragma unroll
  for (uint32_t i = 0; i < kWordPixels / kVectorPixels; ++i) {
    const uint4 vector = load_vector(frame, is_aligned, word.x + i * kVectorPixels, word.y);
    word.values[4 * i] = vector.x;
    word.values[4 * i + 1] = vector.y;
    word.values[4 * i + 2] = vector.z;
    word.values[4 * i + 3] = vector.w;
  }
}

/// The bits of a word. With kIsInside the windows of all its pixels lie in the frame's columns.
template <bool kHasSquares, bool kIsInside, typename Sums>
__device__ uint32_t find_bits(const Plane& frame, const LocalRule& rule, uint32_t radius, const Word& word,
                              const Sums& tile) {
  const uint16_t* values = reinterpret_cast<const uint16_t*>(tile.values[word.y % kRows]) + word.column;
  const uint32_t* squares = kHasSquares ? tile.squares[word.y % kRows] + word.column : nullptr;
  const uint32_t n_rows = window_span(word.y, radius, frame.height).size();
  // The first window without its last column.
  uint32_t sum = 0;
  uint32_t square_sum = 0;
#pragma unroll 8
  for (uint32_t i = 0; i < 2 * radius; ++i) {
    sum += values[i];
    square_sum += kHasSquares ? squares[i] : 0;
  }
  uint32_t found = 0;
#pragma unroll
  for (uint32_t i = 0; i < kWordPixels; ++i) {
    sum += values[i + 2 * radius];
    square_sum += kHasSquares ? squares[i + 2 * radius] : 0;
    const uint32_t n_columns =
        kIsInside ? 2 * radius + 1 : window_span(word.x + i, radius, frame.width).size();
    const uint32_t value = __byte_perm(word.values[i / 4], 0, 0x4440 + i % 4);
    found |= uint32_t{rule.is_foreground<kHasSquares>(value, n_columns * n_rows, sum, square_sum)} << i;
    sum -= values[i];
    square_sum -= kHasSquares ? squares[i] : 0;
  }
  return found;
}

/// A tile is `words` words wide. The result is flipped where `flips` has bits.
template <uint32_t kThreads, uint32_t kColumns, bool kHasSquares>
__global__ void __launch_bounds__(kThreads)
    write_local_bits(Plane frame, bool has_aligned_words, bool is_aligned, LocalRule rule, uint32_t flips,
                     uint32_t radius, uint32_t words, uint32_t row_words, uint32_t* bits) {
  constexpr uint32_t kQuads = kThreads * kChunkRows / kRows;  // threads side by side in the first step
  static_assert(kQuads * kQuad >= kColumns && kThreads >= kColumns / kWordPixels * kRows);
  __shared__ TileSums<kColumns, kHasSquares> tile;
  wait_for_previous_kernel();
  const uint32_t halo = (radius + kQuad - 1) / kQuad * kQuad;  // left of the tile
  const uint32_t first_x = blockIdx.x * words * kWordPixels;
  const uint32_t first_y = blockIdx.y * kRows;

  // The word of the second step, whose pixels are loaded first.
  const uint32_t column = threadIdx.x / kRows * kWordPixels;
  Word word{.x = first_x + column, .y = first_y + threadIdx.x % kRows, .column = column + halo - radius};
  const bool has_word =
      threadIdx.x / kRows < words && word.y < frame.height && word.x < row_words * kWordPixels;
  const bool has_pixels = has_word && word.x < frame.width;
  if (has_pixels) {
    load_values(frame, is_aligned, word);
  }

  const uint32_t quad = threadIdx.x % kQuads;
  const uint32_t x = first_x - halo + quad * kQuad;  // wraps around left of the frame
  const uint32_t y = first_y + threadIdx.x / kQuads * kChunkRows;
  if (quad * kQuad < kColumns && y < frame.height) {
    sum_quad<kHasSquares>(frame, has_aligned_words, radius, x, y, quad, tile);
  }
  __syncthreads();
  if (!has_word) {
    return;
  }
  uint32_t found = 0;
  if (has_pixels) {
    const bool is_inside = word.x >= radius && word.x + kWordPixels + radius <= frame.width;
    found = is_inside ? find_bits<kHasSquares, true>(frame, rule, radius, word, tile)
                      : find_bits<kHasSquares, false>(frame, rule, radius, word, tile);
    found ^= flips;
    found &= frame.width - word.x >= kWordPixels ? kAllLanes : bits_below(frame.width - word.x);
  }
  bits[size_t{word.y} * row_words + word.x / kWordPixels] = found;
}

template <uint32_t kThreads, uint32_t kColumns>
Status write(const Plane& frame, const LocalThreshold& local, bool invert, uint32_t* bits,
             cudaStream_t stream) {
  const LocalRule rule(local, false);  // inverts words, not pixels
  const uint32_t radius = local.radius;
  const uint32_t row_words = bit_row_words(frame.width);
  const uint32_t most_words = (kColumns - 2 * radius - (kQuad - 1)) / kWordPixels;
  const uint32_t n_tiles = blocks_for(row_words, most_words);  // of a row
  const uint32_t words = blocks_for(row_words, n_tiles);
  const bool has_aligned_words = (reinterpret_cast<uintptr_t>(frame.pixels) | frame.pitch) % kQuad == 0;
  const auto kernel = rule.needs_squares() ? write_local_bits<kThreads, kColumns, true>
                                           : write_local_bits<kThreads, kColumns, false>;
  return launch_overlapped("write_local_bits", kernel, dim3(n_tiles, blocks_for(frame.height, kRows)),
                           kThreads, stream, frame, has_aligned_words, is_aligned(frame), rule,
                           invert ? kAllLanes : 0, radius, words, row_words, bits);
}

}  // namespace

Status local_bits(const Plane& frame, const LocalThreshold& local, bool invert, uint32_t* bits,
                  cudaStream_t stream) {
  // Narrow tiles give more blocks; wide ones have less halo.
  constexpr uint32_t kNarrowRadius = 32;
  return local.radius <= kNarrowRadius ? write<128, 256>(frame, local, invert, bits, stream)
                                       : write<256, 480>(frame, local, invert, bits, stream);
}

}  // namespace ccl::device::segment
