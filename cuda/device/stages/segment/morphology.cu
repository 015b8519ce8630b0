// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block loads a tile with a halo of all radii together, from pixels or from bits, and works on 32 pixels
/// at a time. A thread owns kThreadRows words of a column. In each step it combines words above and below,
/// which it reads in shared memory, and then words to the left and right, which neighbouring lanes have. So a
/// step takes one barrier.
///
/// All steps are erosions here: a dilation is the erosion of the complement, and both see 1 outside the frame
/// then.
///
/// Words at the edges of what is loaded become wrong from step to step, by as many pixels as the radius. The
/// halo is as large as all radii together, and a word to the left and right, so the tile's own words are
/// right.
#include "device/stages/segment/morphology.h"

#include <limits>

#include "ccl/segment/morphology.h"
#include "device/check.h"
#include "device/launch.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kTileWords = 6;
constexpr uint32_t kLoadedWords = kTileWords + 2;  // of a row, by neighbouring lanes
constexpr uint32_t kThreadRows = 2;
constexpr uint32_t kMaxStepRadius = 2 * kMaxMorphologyRadius;
constexpr uint32_t kMaxLoadedRows = 144;  // of a tile with its halo
constexpr uint32_t kMaxThreads = kMaxLoadedRows / kThreadRows * kLoadedWords;
static_assert(kWarpSize % kLoadedWords == 0 && kMaxThreads % kWarpSize == 0);
static_assert(4 * kMaxMorphologyRadius <= kWordBits && 2 * kMaxStepRadius <= kWordBits);
static_assert(kMaxLoadedRows > 8 * kMaxMorphologyRadius);

/// Words from one row's start to the next one's: four lanes' rows, kThreadRows apart, lie in different banks.
constexpr uint32_t kPitch = 12;
static_assert(kPitch >= kLoadedWords &&
              kThreadRows * kPitch % kWordBits % (2 * kLoadedWords) == kLoadedWords);

/// Rows are read up to a radius beyond those loaded; what they have there reaches wrong words only.
using LoadedRows = uint32_t[kMaxStepRadius + kMaxLoadedRows + kMaxStepRadius][kPitch];

/// Where words of pixels come from. load() is called for words with pixels in the frame, in its rows; bits()
/// turns what it loaded into bits, of which those outside the frame are undefined.
struct BitSource {
  using Loaded = uint32_t;

  const uint32_t* words;
  uint32_t row_words;

  __device__ Loaded load(uint32_t word, uint32_t y) const { return words[size_t{y} * row_words + word]; }
  __device__ uint32_t bits(const Loaded& loaded) const { return loaded; }
};

struct PixelSource {
  struct Loaded {
    uint4 first;
    uint4 second;
  };

  segment::Plane frame;
  bool is_aligned;
  ThresholdRule rule;

  __device__ Loaded load(uint32_t word, uint32_t y) const {
    const uint32_t x = word * kWordBits;
    return {segment::load_vector(frame, is_aligned, x, y),
            segment::load_vector(frame, is_aligned, x + segment::kVectorPixels, y)};
  }

  __device__ uint32_t bits(const Loaded& loaded) const {
    const uint32_t found = segment::bits_at_least(loaded.first, rule.threshold) |
                           segment::bits_at_least(loaded.second, rule.threshold) << segment::kVectorPixels;
    return rule.invert ? ~found : found;
  }
};

/// MorphologySteps in few words, which stay in registers.
struct Plan {
  uint32_t n_steps;
  uint32_t radii;         ///< a byte per step
  uint32_t are_erosions;  ///< a bit per step
  bool is_cross;
  uint32_t halo;  ///< rows above and below a tile

  __device__ uint32_t radius(uint32_t step) const { return radii >> 8 * step & 0xff; }
  __device__ bool is_erosion(uint32_t step) const { return (are_erosions >> step & 1) != 0; }
};

Plan plan_of(const Morphology& morphology) {
  const MorphologySteps steps = morphology_steps(morphology);
  Plan plan{.n_steps = steps.count,
            .radii = 0,
            .are_erosions = 0,
            .is_cross = morphology.element == Element::kCross,
            .halo = morphology_reach(morphology)};
  for (uint32_t i = 0; i < steps.count; ++i) {
    plan.radii |= uint32_t{steps.steps[i].radius} << 8 * i;
    plan.are_erosions |= uint32_t{steps.steps[i].is_erosion} << i;
  }
  return plan;
}

/// The bits of a word that lie right of the frame, or all bits of a word left of it, whose number wraps
/// around.
__device__ uint32_t bits_outside(uint32_t word, uint32_t width) {
  const uint32_t x = word * kWordBits;
  return x >= width ? kAllLanes : width - x >= kWordBits ? 0 : ~bits_below(width - x);
}

/// Erodes the thread's words in the direction of rows. All lanes of the warp must call it.
__device__ void erode_rows(const uint32_t (&words)[kThreadRows], uint32_t radius,
                           uint32_t (&eroded)[kThreadRows]) {
  constexpr uint32_t kBefore = kMaxStepRadius;  // pixels before those of a word
  static_assert(2 * kBefore == kWordBits);
  uint64_t pixels[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const uint32_t left = __shfl_up_sync(kAllLanes, words[i], 1);
    const uint32_t right = __shfl_down_sync(kAllLanes, words[i], 1);
    pixels[i] =
        uint64_t{__byte_perm(words[i], right, 0x5432)} << kWordBits | __byte_perm(left, words[i], 0x5432);
  }
  const uint32_t n = 2 * radius + 1;
  uint32_t length = 1;  // a bit is the conjunction of this many pixels from there on
  while (length < n) {
    const uint32_t shift = next_window_shift(length, n);
#pragma unroll
    for (uint32_t i = 0; i < kThreadRows; ++i) {
      pixels[i] &= pixels[i] >> shift;
    }
    length += shift;
  }
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    eroded[i] = static_cast<uint32_t>(pixels[i] >> (kBefore - radius));
  }
}

/// Erodes the thread's words in the direction of columns; `stored` points to the first of them in shared
/// memory.
__device__ void erode_columns(const uint32_t (&words)[kThreadRows], const uint32_t* stored, int radius,
                              uint32_t (&eroded)[kThreadRows]) {
  static_assert(kThreadRows == 2);
  const auto row = [stored](int y) { return stored[y * static_cast<int>(kPitch)]; };
  uint32_t common = words[0] & words[1];  // rows in the windows of both words
#pragma unroll 2
  for (int distance = 1; distance < radius; ++distance) {
    common &= row(-distance) & row(1 + distance);
  }
  eroded[0] = common & row(-radius);
  eroded[1] = common & row(1 + radius);
}

/// Stores the thread's words for the other threads, and erodes them. All threads of the block must call it.
__device__ void erode(uint32_t (&words)[kThreadRows], uint32_t radius, bool is_cross, uint32_t* stored) {
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    stored[i * kPitch] = words[i];
  }
  __syncthreads();
  uint32_t eroded[kThreadRows];
  erode_columns(words, stored, static_cast<int>(radius), eroded);
  uint32_t across[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    across[i] = is_cross ? words[i] : eroded[i];
  }
  erode_rows(across, radius, across);
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    words[i] = eroded[i] & across[i];
  }
}

template <typename Source>
__global__ void __launch_bounds__(kMaxThreads)
    morph_tiles(Plan plan, Source source, uint32_t width, uint32_t height, uint32_t tile_rows, BitMasks masks,
                uint32_t* result) {
  __shared__ LoadedRows memory[2];
  wait_for_previous_kernel();
  const uint32_t column = threadIdx.x % kLoadedWords;
  const uint32_t first_row = threadIdx.x / kLoadedWords * kThreadRows;
  const uint32_t row_words = bit_row_words(width);
  const uint32_t word = blockIdx.x * kTileWords + column - 1;
  const uint32_t first_y = blockIdx.y * tile_rows + first_row - plan.halo;  // wraps around above the frame
  const uint32_t outside = bits_outside(word, width);
  const bool is_cleared = masks.is_cleared != nullptr && *masks.is_cleared != 0;

  typename Source::Loaded loaded[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const bool has_pixels = first_y + i < height && outside != kAllLanes;
    loaded[i] = has_pixels ? source.load(word, first_y + i) : typename Source::Loaded{};
  }
  // What steps must see outside the frame, and the final pixels that may be foreground.
  uint32_t outside_row[kThreadRows];
  uint32_t mask[kThreadRows];
  uint32_t words[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const uint32_t y = first_y + i;
    outside_row[i] = y < height ? outside : kAllLanes;
    mask[i] = is_cleared ? 0 : ~outside_row[i];
    if (masks.regions != nullptr && mask[i] != 0) {
      mask[i] &= masks.regions[size_t{y} * row_words + word];
    }
    words[i] = source.bits(loaded[i]);
  }
  bool is_complement = false;
#pragma unroll 1
  for (uint32_t step = 0; step < plan.n_steps; ++step) {
    const uint32_t flips = plan.is_erosion(step) == is_complement ? kAllLanes : 0;
    is_complement = !plan.is_erosion(step);
#pragma unroll
    for (uint32_t i = 0; i < kThreadRows; ++i) {
      words[i] = (words[i] ^ flips) | outside_row[i];
    }
    // Two buffers, so that a warp may store for a step while others still read for the one before.
    erode(words, plan.radius(step), plan.is_cross, &memory[step % 2][kMaxStepRadius + first_row][column]);
  }
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const uint32_t row = first_row + i - plan.halo;  // of the tile; wraps around above it
    const uint32_t y = first_y + i;
    if (column - 1 < kTileWords && row < tile_rows && y < height && word < row_words) {
      result[size_t{y} * row_words + word] = (is_complement ? ~words[i] : words[i]) & mask[i];
    }
  }
}

/// The masks alone.
__global__ void __launch_bounds__(kBlockThreads)
    mask_vectors(const uint4* bits, uint32_t n, BitMasks masks, uint4* result) {
  wait_for_previous_kernel();
  const uint32_t i = blockIdx.x * kBlockThreads + threadIdx.x;
  if (i >= n) {
    return;
  }
  uint4 words = bits[i];
  if (masks.regions != nullptr) {
    const uint4 mask = reinterpret_cast<const uint4*>(masks.regions)[i];
    words = make_uint4(words.x & mask.x, words.y & mask.y, words.z & mask.z, words.w & mask.w);
  }
  if (masks.is_cleared != nullptr && *masks.is_cleared != 0) {
    words = make_uint4(0, 0, 0, 0);
  }
  result[i] = words;
}

/// The rows of a tile for which the busiest multiprocessor loads the fewest rows.
uint32_t choose_tile_rows(uint32_t n_columns, uint32_t height, uint32_t halo, uint32_t n_multiprocessors) {
  uint32_t best_rows = 0;
  uint32_t least_cost = std::numeric_limits<uint32_t>::max();
  for (uint32_t rows = kThreadRows; rows + 2 * halo <= kMaxLoadedRows; rows += kThreadRows) {
    const uint32_t n_tiles = n_columns * blocks_for(height, rows);
    const uint32_t cost = blocks_for(n_tiles, n_multiprocessors) * (rows + 2 * halo);
    if (cost < least_cost) {
      least_cost = cost;
      best_rows = rows;
    }
  }
  return best_rows;
}

template <typename Source>
Status morph(const Morphology& morphology, const Source& source, uint32_t width, uint32_t height,
             const BitMasks& masks, uint32_t* result, cudaStream_t stream) {
  int device = 0;
  int n_multiprocessors = 0;
  CCL_RETURN_IF_ERROR(check(cudaGetDevice(&device), "cudaGetDevice"));
  CCL_RETURN_IF_ERROR(
      check(cudaDeviceGetAttribute(&n_multiprocessors, cudaDevAttrMultiProcessorCount, device),
            "cudaDeviceGetAttribute"));
  const Plan plan = plan_of(morphology);
  const uint32_t n_columns = blocks_for(bit_row_words(width), kTileWords);
  const uint32_t tile_rows =
      choose_tile_rows(n_columns, height, plan.halo, static_cast<uint32_t>(n_multiprocessors));
  const uint32_t n_threads = blocks_for(tile_rows + 2 * plan.halo, kThreadRows) * kLoadedWords;
  return launch_overlapped("morph_tiles", morph_tiles<Source>, dim3(n_columns, blocks_for(height, tile_rows)),
                           blocks_for(n_threads, kWarpSize) * kWarpSize, stream, plan, source, width, height,
                           tile_rows, masks, result);
}

}  // namespace

Status open_and_close(const Morphology& morphology, const uint32_t* bits, uint32_t width, uint32_t height,
                      const BitMasks& masks, uint32_t* result, cudaStream_t stream) {
  const uint32_t row_words = bit_row_words(width);
  if (morphology.open_radius > 0 || morphology.close_radius > 0) {
    return morph(morphology, BitSource{bits, row_words}, width, height, masks, result, stream);
  }
  const uint32_t n_vectors = row_words / kBitRowAlignment * height;
  const bool changes = result != bits || masks.regions != nullptr || masks.is_cleared != nullptr;
  return changes ? launch_overlapped("mask_vectors", mask_vectors, blocks_for(n_vectors, kBlockThreads),
                                     kBlockThreads, stream, reinterpret_cast<const uint4*>(bits), n_vectors,
                                     masks, reinterpret_cast<uint4*>(result))
                 : Status();
}

Status open_and_close(const Morphology& morphology, const segment::Plane& frame, const ThresholdRule& rule,
                      const BitMasks& masks, uint32_t* result, cudaStream_t stream) {
  return morph(morphology, PixelSource{frame, segment::is_aligned(frame), rule}, frame.width, frame.height,
               masks, result, stream);
}

}  // namespace ccl::device
