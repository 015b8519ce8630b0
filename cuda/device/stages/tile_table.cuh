// SPDX-License-Identifier: LGPL-2.1-or-later
/// What measuring a tile needs: its runs, and a small table in shared memory that adds up the runs of each
/// component, so that a component costs global atomics once per tile and not once per run. Components that
/// find no place in the table go to global memory directly.
#pragma once

#include <cstdint>

#include "device/stages/select.h"
#include "device/warp.cuh"

namespace ccl::device {

// Two warps wide; every sum of tile coordinates fits 32 bits (2048 × 63² pixels at most).
inline constexpr uint32_t kMeasureTileWidth = 64;
inline constexpr uint32_t kMeasureTileHeight = 32;
inline constexpr uint32_t kMeasureThreads = 256;

/// A run of pixels with one key among the 32 of a warp, as its first lane sees it.
struct Run {
  bool is_first;    ///< this lane is the run's first
  uint32_t length;  ///< pixels; only valid in the first lane
  uint32_t lanes;   ///< a bit for each; only valid in the first lane
};

/// The run this lane's pixel is in. All lanes of the warp must call it.
__device__ inline Run find_run(uint32_t key) {
  const uint32_t lane = threadIdx.x % kWarpSize;
  const uint32_t before = __shfl_up_sync(kAllLanes, key, 1);
  const uint32_t starts = __ballot_sync(kAllLanes, lane == 0 || before != key);
  const uint32_t later_starts = starts & ~(kAllLanes >> (kWarpSize - 1 - lane));
  const uint32_t end = later_starts != 0 ? __ffs(later_starts) - 1 : kWarpSize;
  const uint32_t length = end - lane;
  return {(starts >> lane & 1) != 0, length, (kAllLanes >> (kWarpSize - length)) << lane};
}

/// Calls visit(x, y) for the tile's pixels, x and y in the tile, a warp on 32 pixels of a row at a time.
/// All threads visit equally often; pixels may lie outside the frame.
template <typename Visit>
__device__ void for_each_tile_pixel(Visit visit) {
  for (uint32_t i = threadIdx.x; i < kMeasureTileWidth * kMeasureTileHeight; i += kMeasureThreads) {
    visit(i % kMeasureTileWidth, i / kMeasureTileWidth);
  }
}

/// Keys of the table: an open hash with a few probes. Lives in shared memory.
struct TileKeys {
  static constexpr uint32_t kSize = 128;
  static constexpr uint32_t kProbes = 4;
  static constexpr uint32_t kEmpty = kNoRecord;
  static constexpr uint32_t kFull = kSize;

  uint32_t keys[kSize];

  __device__ void clear() {
    for (uint32_t i = threadIdx.x; i < kSize; i += kMeasureThreads) {
      keys[i] = kEmpty;
    }
  }

  /// The place of a key, taken if it is new; kFull where there is none.
  __device__ uint32_t place_of(uint32_t key) {
    for (uint32_t probe = 0; probe < kProbes; ++probe) {
      const uint32_t place = (key + probe) % kSize;
      const uint32_t old = atomicCAS(keys + place, kEmpty, key);
      if (old == kEmpty || old == key) {
        return place;
      }
    }
    return kFull;
  }
};

}  // namespace ccl::device
