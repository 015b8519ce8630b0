// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pixels of the mixture in device memory, and which of them a warp works on.
#pragma once

#include <cstdint>

#include "ccl/segment/mixture.h"
#include "device/stages/segment/mixture.h"
#include "device/stages/segment/model.cuh"
#include "device/stages/segment/vectors.cuh"
#include "device/warp.cuh"

namespace ccl::device::segment {

using Word = WordLane;

inline constexpr uint32_t kLanePixels = 2;
static_assert(kBitRowAlignment % kLanePixels == 0, "the words of a row are whole units");
inline constexpr uint32_t kUnitPixels = kLanePixels * kWarpSize;

/// A bit of a mode's variance in memory: another mode comes after this one.
inline constexpr uint32_t kHasNext = 1u << 15;
inline constexpr uint32_t kNeutralChroma = mixture::kNeutral | mixture::kNeutral << 8;
static_assert(mixture::kMaxVariance < kHasNext);

template <bool kHasChroma>
__device__ mixture::Color<Word> load_color(const Plane& frame, const Chroma& chroma, uint32_t x, uint32_t y) {
  mixture::Color<Word> color{__ldg(frame.pixels + y * frame.pitch + x), mixture::kNeutral, mixture::kNeutral};
  if (kHasChroma) {
    color.u = load_chroma(chroma.u, chroma, x >> chroma.shift_x, y >> chroma.shift_y);
    color.v = load_chroma(chroma.v, chroma, x >> chroma.shift_x, y >> chroma.shift_y);
  }
  return color;
}

/// Modes as they are in memory. A mode that does not exist is 0.
struct Modes {
  uint2 modes[mixture::kModes];
};

__device__ inline bool has_next(const uint2& mode) {
  return (mode.y & kHasNext) != 0;
}

/// A mode in memory is two words of two 16-bit numbers each.
__device__ inline mixture::Mode<Word> unpack(const uint2& mode) {
  return {mode.x & 0xffff, mode.x >> 16, mode.y & (kHasNext - 1), mode.y >> 16};
}

/// Without chroma all means are neutral, so nothing of the chroma is computed.
template <bool kHasChroma>
__device__ mixture::Pixel<Word> unpack(const Modes& modes) {
  mixture::Pixel<Word> pixel;
#pragma unroll
  for (uint32_t i = 0; i < mixture::kModes; ++i) {
    pixel.modes[i] = unpack(modes.modes[i]);
    if (!kHasChroma) {
      pixel.modes[i].chroma = kNeutralChroma;
    }
  }
  return pixel;
}

__device__ inline uint2 pack(const mixture::Mode<Word>& mode, bool has_next) {
  return {mode.weight | mode.mean << 16, mode.variance | (has_next ? kHasNext : 0) | mode.chroma << 16};
}

/// The padding of a bit row included.
__host__ __device__ inline uint32_t units_of_row(uint32_t width) {
  return bit_row_words(width) / kLanePixels;
}

/// The units of a frame that a warp works on, in raster order.
class Units {
 public:
  explicit __device__ Units(const Plane& frame) : height_(frame.height), n_(units_of_row(frame.width)) {
    const uint32_t warp = (blockIdx.x * kBlockThreads + threadIdx.x) / kWarpSize;
    const uint32_t n_warps = gridDim.x * (kBlockThreads / kWarpSize);
    y_ = warp / n_;
    unit_ = warp - y_ * n_;
    step_y_ = n_warps / n_;
    step_ = n_warps - step_y_ * n_;
  }

  __device__ bool has_unit() const { return y_ < height_; }

  __device__ void next() {
    unit_ += step_;
    const bool is_over = unit_ >= n_;
    unit_ -= is_over ? n_ : 0;
    y_ += step_y_ + (is_over ? 1 : 0);
  }

  /// The calling lane's first pixel; the next one is kWarpSize to the right.
  __device__ uint32_t x() const { return unit_ * kUnitPixels + threadIdx.x % kWarpSize; }
  __device__ uint32_t y() const { return y_; }

 private:
  uint32_t height_, n_;
  uint32_t unit_, y_;
  uint32_t step_, step_y_;
};

/// Blocks that have a warp for each unit.
inline uint32_t blocks_of_units(const Plane& frame) {
  return blocks_of_threads(size_t{units_of_row(frame.width)} * frame.height * kWarpSize);
}

}  // namespace ccl::device::segment
