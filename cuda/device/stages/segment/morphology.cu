// SPDX-License-Identifier: LGPL-2.1-or-later
/// A block loads a tile with a halo of all radii together, and works on 32 pixels at a time. A thread owns
/// kThreadRows words of a column. In each step it combines words above and below, which it reads in shared
/// memory, and then words to the left and right, which neighbouring lanes have. So a step takes one barrier.
///
/// All steps are erosions here: a dilation is the erosion of the complement, and both see 1 outside the frame
/// then.
///
/// Words at the edges of what is loaded become wrong from step to step, by as many pixels as the radius. The
/// halo is as large as all radii together, and a word to the left and right, so the tile's own words are
/// right.
#include "device/stages/segment/morphology.h"

#include "ccl/segment/morphology.h"
#include "device/check.h"
#include "device/launch.cuh"
#include "device/warp.cuh"

namespace ccl::device {

namespace {

constexpr uint32_t kWordBits = 32;
constexpr uint32_t kThreads = 256;

constexpr uint32_t kTileWords = 6;
constexpr uint32_t kTileRows = 48;
constexpr uint32_t kLoadedWords = kTileWords + 2;  // of a row, by neighbouring lanes
constexpr uint32_t kThreadRows = 4;
constexpr uint32_t kMaxStepRadius = 2 * kMaxMorphologyRadius;
constexpr uint32_t kMaxHalo = 4 * kMaxMorphologyRadius;
constexpr uint32_t kMaxLoadedRows = kTileRows + 2 * kMaxHalo;
constexpr uint32_t kMaxThreads = kMaxLoadedRows / kThreadRows * kLoadedWords;
static_assert(kWarpSize % kLoadedWords == 0 && kMaxThreads % kWarpSize == 0);
static_assert(kMaxHalo <= kWordBits && 2 * kMaxStepRadius <= kWordBits);

/// Words from one row's start to the next one's: four lanes' rows, kThreadRows apart, lie in different banks.
constexpr uint32_t kPitch = kLoadedWords + 2;
static_assert(kThreadRows * kPitch % kWordBits == kLoadedWords);

/// Rows are read up to a radius beyond those loaded; what they have there reaches wrong words only.
using LoadedRows = uint32_t[kMaxStepRadius + kMaxLoadedRows + kMaxStepRadius][kPitch];

/// MorphologySteps, of which there is at least one, in few words, which stay in registers.
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
  uint64_t pixels[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const uint32_t left = __shfl_up_sync(kAllLanes, words[i], 1);
    const uint32_t right = __shfl_down_sync(kAllLanes, words[i], 1);
    pixels[i] = left >> (kWordBits - kBefore) | uint64_t{words[i]} << kBefore |
                uint64_t{right} << (kBefore + kWordBits);
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

/// Erodes the thread's words in the direction of columns; `words` points to the first of them in shared
/// memory.
__device__ void erode_columns(const uint32_t* words, int radius, uint32_t (&eroded)[kThreadRows]) {
  static_assert(kThreadRows == 4);
  const auto row = [words](int y) { return words[y * static_cast<int>(kPitch)]; };
  uint32_t common = kAllLanes;  // rows in the windows of all four words
  for (int y = 3 - radius; y <= radius; ++y) {
    common &= row(y);
  }
  const uint32_t above[] = {row(-radius), row(1 - radius), row(2 - radius)};
  const uint32_t below[] = {row(radius + 1), row(radius + 2), row(radius + 3)};
  eroded[0] = common & above[0] & above[1] & above[2];
  eroded[1] = common & above[1] & above[2] & below[0];
  eroded[2] = common & above[2] & below[0] & below[1];
  eroded[3] = common & below[0] & below[1] & below[2];
}

/// Stores the thread's words for the other threads, and erodes them. All threads of the block must call it.
__device__ void erode(uint32_t (&words)[kThreadRows], uint32_t radius, bool is_cross, uint32_t* stored) {
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    stored[i * kPitch] = words[i];
  }
  __syncthreads();
  uint32_t eroded[kThreadRows];
  erode_columns(stored, static_cast<int>(radius), eroded);
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

__global__ void __launch_bounds__(kMaxThreads)
    morph_tiles(Plan plan, const uint32_t* bits, uint32_t width, uint32_t height, BitMasks masks,
                uint32_t* result) {
  __shared__ LoadedRows memory[2];
  wait_for_previous_kernel();
  const uint32_t column = threadIdx.x % kLoadedWords;
  const uint32_t first_row = threadIdx.x / kLoadedWords * kThreadRows;
  const uint32_t row_words = bit_row_words(width);
  const uint32_t word = blockIdx.x * kTileWords + column - 1;
  const uint32_t first_y = blockIdx.y * kTileRows + first_row - plan.halo;  // wraps around above the frame
  const uint32_t outside = bits_outside(word, width);
  const bool is_cleared = masks.is_cleared != nullptr && *masks.is_cleared != 0;

  // What steps must see outside the frame, and the final pixels that may be foreground.
  uint32_t outside_row[kThreadRows];
  uint32_t mask[kThreadRows];
  uint32_t words[kThreadRows];
#pragma unroll
  for (uint32_t i = 0; i < kThreadRows; ++i) {
    const uint32_t y = first_y + i;
    const bool has_pixels = y < height && outside != kAllLanes;
    const size_t at = size_t{y} * row_words + word;
    words[i] = has_pixels ? bits[at] : 0;
    mask[i] =
        has_pixels && !is_cleared ? ~outside & (masks.regions != nullptr ? masks.regions[at] : kAllLanes) : 0;
    outside_row[i] = y < height ? outside : kAllLanes;
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
    if (column - 1 < kTileWords && row < kTileRows && y < height && word < row_words) {
      result[size_t{y} * row_words + word] = (is_complement ? ~words[i] : words[i]) & mask[i];
    }
  }
}

/// The masks alone.
__global__ void __launch_bounds__(kThreads)
    mask_vectors(const uint4* bits, uint32_t n, BitMasks masks, uint4* result) {
  wait_for_previous_kernel();
  const uint32_t i = blockIdx.x * kThreads + threadIdx.x;
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

}  // namespace

Status open_and_close(const Morphology& morphology, const uint32_t* bits, uint32_t width, uint32_t height,
                      const BitMasks& masks, uint32_t* result, cudaStream_t stream) {
  const Plan plan = plan_of(morphology);
  const uint32_t row_words = bit_row_words(width);
  if (plan.n_steps == 0) {
    const uint32_t n_vectors = row_words / kBitRowAlignment * height;
    const bool changes = result != bits || masks.regions != nullptr || masks.is_cleared != nullptr;
    return changes ? launch_overlapped("mask_vectors", mask_vectors, blocks_for(n_vectors, kThreads),
                                       kThreads, stream, reinterpret_cast<const uint4*>(bits), n_vectors,
                                       masks, reinterpret_cast<uint4*>(result))
                   : Status();
  }
  const uint32_t n_threads = blocks_for(kTileRows + 2 * plan.halo, kThreadRows) * kLoadedWords;
  return launch_overlapped(
      "morph_tiles", morph_tiles, dim3(blocks_for(row_words, kTileWords), blocks_for(height, kTileRows)),
      blocks_for(n_threads, kWarpSize) * kWarpSize, stream, plan, bits, width, height, masks, result);
}

}  // namespace ccl::device
