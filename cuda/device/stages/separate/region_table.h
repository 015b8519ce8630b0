// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the kernels of separation share: basins, regions and links of a frame in device memory.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/parts.h"
#include "device/segment_source.h"

namespace ccl::device {

/// Which pixels are of one component: equal values that are not 0.
struct RootMap {
  static constexpr bool kCanTouch = true;

  const uint32_t* roots;
  uint32_t width;

  __device__ uint32_t operator()(uint32_t x, uint32_t y) const { return roots[size_t{y} * width + x]; }
};

/// The same, where components do not touch: those of binary foreground in 8-connectivity.
struct Mask {
  static constexpr bool kCanTouch = false;

  SegmentSource frame;

  __device__ uint32_t operator()(uint32_t x, uint32_t y) const { return frame.segment(x, y); }
};

/// Of pixels whose basin is known, the number of the basin with this bit. Other pixels have the raster index
/// of a pixel of the same basin.
inline constexpr uint32_t kIsBasin = 0x80000000;
inline constexpr uint32_t kNoBasin = 0xffffffff;  ///< background

struct SeparationCounts {
  uint32_t n_basins;
  uint32_t n_links;
  uint32_t n_joined[3];  ///< regions that joined another one, in this round, the next, the one before
};

/// A link with what rounds need of it.
struct alignas(16) BasinLink {
  uint32_t number;
  uint32_t saddle;
  uint32_t a, b;  ///< basins
};

/// All pointers are device memory. What belongs to a region is at one of its basins, which is its own parent.
struct RegionTable {
  uint32_t width, height;
  const uint16_t* heights;  ///< per pixel, smoothed
  uint32_t* basins;         ///< per pixel
  uint32_t* links;          ///< numbers of links between different basins of a component
  BasinLink* expanded;      ///< the first n_expanded of them
  uint32_t n_expanded;
  SeparationCounts* counts;
  // Per basin.
  RegionSums* sums;
  uint64_t* best;  ///< order_of() the link that a region takes; 0: none
  uint32_t* summits;
  uint32_t* first_pixels;
  uint32_t* parents;
  uint32_t* regions;  ///< at the start of a round
  uint32_t* joined;   ///< regions that joined another one in this round; at the end, the root
                      ///< or the colour of each basin's part
};

}  // namespace ccl::device
