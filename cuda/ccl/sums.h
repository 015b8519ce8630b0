// SPDX-License-Identifier: LGPL-2.1-or-later
/// From exact integer sums to a component record. Every backend uses the same few correctly rounded
/// operations, and no compiler can contract or reorder them in a way that changes bits.
#pragma once

#include <cstdint>
#include <limits>

#include "ccl/component.h"
#include "ccl/config.h"

namespace ccl {

/// The record index of a component that has no record.
inline constexpr uint32_t kNoRecord = std::numeric_limits<uint32_t>::max();

/// Sums over the pixels of a component. 64 bits hold every sum of a frame of kMaxDimension × kMaxDimension
/// pixels.
struct Sums {
  uint32_t x_min = std::numeric_limits<uint32_t>::max();
  uint32_t y_min = std::numeric_limits<uint32_t>::max();
  uint32_t x_max = 0;
  uint32_t y_max = 0;
  uint64_t x = 0;
  uint64_t y = 0;
  uint64_t xx = 0;
  uint64_t xy = 0;
  uint64_t yy = 0;
  uint32_t perimeter = 0;
  int32_t euler = 0;
};

/// v as a double. The upper half times 2⁶⁴ is exact, so a fused multiply-add gives the same bits.
constexpr double to_double(__int128 v) {
  const bool negative = v < 0;
  const unsigned __int128 magnitude =
      negative ? -static_cast<unsigned __int128>(v) : static_cast<unsigned __int128>(v);
  const double d = static_cast<double>(static_cast<uint64_t>(magnitude >> 64)) * 0x1p64 +
                   static_cast<double>(static_cast<uint64_t>(magnitude));
  return negative ? -d : d;
}

/// In components of fewer pixels, n²·moment fits 63 bits: a moment is at most (kMaxDimension / 2)².
inline constexpr uint32_t kShortArea = 1u << 17;
static_assert(static_cast<unsigned __int128>(kShortArea) * kShortArea * kMaxDimension * kMaxDimension / 4 <=
              static_cast<unsigned __int128>(1) << 63);

/// The central second moment Σab/n − (Σa/n)(Σb/n) = (n·Σab − Σa·Σb) / n², the numerator exact.
constexpr float central_moment(uint32_t n, uint64_t sum_ab, uint64_t sum_a, uint64_t sum_b) {
  if (n < kShortArea) {
    // The products may not fit; their difference does.
    const auto numerator = static_cast<int64_t>(sum_ab * n - sum_a * sum_b);
    return static_cast<float>(static_cast<double>(numerator) / static_cast<double>(uint64_t{n} * n));
  }
  const __int128 numerator = static_cast<__int128>(sum_ab) * n - static_cast<__int128>(sum_a) * sum_b;
  return static_cast<float>(to_double(numerator) / static_cast<double>(uint64_t{n} * n));
}

/// Whether the box of a component touches the border of a frame of width × height pixels.
constexpr bool touches_border(const Sums& sums, uint32_t width, uint32_t height) {
  return sums.x_min == 0 || sums.y_min == 0 || sums.x_max + 1 == width || sums.y_max + 1 == height;
}

/// What the filter reads of a component in a frame of width × height pixels.
constexpr FilterSums filter_sums(uint32_t area, const Sums& sums, uint32_t width, uint32_t height) {
  return {.area = area,
          .width = sums.x_max - sums.x_min + 1,
          .height = sums.y_max - sums.y_min + 1,
          .touches_border = touches_border(sums, width, height),
          .perimeter = sums.perimeter,
          .x = sums.x,
          .y = sums.y,
          .xx = sums.xx,
          .xy = sums.xy,
          .yy = sums.yy,
          .euler = sums.euler};
}

/// The record of a component in a frame of width × height pixels. A field is 0 if its Feature bit is not set
/// in `features`.
constexpr CclComponent make_component(uint32_t label, uint32_t area, uint16_t value, const Sums& sums,
                                      uint32_t features, uint32_t width, uint32_t height) {
  CclComponent c{};
  c.label = label;
  c.id = label;
  c.area = area;
  c.x = sums.x_min;
  c.y = sums.y_min;
  c.width = sums.x_max - sums.x_min + 1;
  c.height = sums.y_max - sums.y_min + 1;
  c.cx = static_cast<float>(static_cast<double>(sums.x) / area);
  c.cy = static_cast<float>(static_cast<double>(sums.y) / area);
  if (features & kFeatureMoments) {
    c.mxx = central_moment(area, sums.xx, sums.x, sums.x);
    c.mxy = central_moment(area, sums.xy, sums.x, sums.y);
    c.myy = central_moment(area, sums.yy, sums.y, sums.y);
  }
  c.perimeter = (features & kFeaturePerimeter) ? sums.perimeter : 0;
  c.euler = (features & kFeatureEuler) ? sums.euler : 0;
  const bool touches_border = c.x == 0 || c.y == 0 || c.x + c.width == width || c.y + c.height == height;
  c.flags = touches_border ? CCL_COMPONENT_TOUCHES_BORDER : 0;
  c.value = value;
  return c;
}

/// A pixel's part of its component's perimeter and Euler number.
struct PixelShape {
  uint32_t perimeter;
  int32_t euler;
};

/// The 3×3 neighbourhood of a pixel: true where the neighbour is in the frame and in the pixel's segment.
/// The frame's outside is false. The two diagonal neighbours above are enough: each 2×2 window is counted by
/// one pixel only.
struct Neighbors {
  bool left, right, up, down;
  bool up_left, up_right;
};

/// Perimeter: the sides of the pixel that it does not share with its segment. Euler number: pixels minus
/// pairs of edge neighbours plus full 2×2 windows; 8-connected also minus the windows whose only two
/// pixels of the segment lie on a diagonal (Gray 1971 in the form that sums over pixels). Equal segments
/// that share an edge are one component with both connectivities, so no labels are needed.
constexpr PixelShape pixel_shape(const Neighbors& n, Connectivity connectivity) {
  PixelShape shape{};
  shape.perimeter = !n.left + !n.right + !n.up + !n.down;
  shape.euler = 1 - n.left - n.up + (n.left && n.up && n.up_left);
  if (connectivity == Connectivity::k8) {
    shape.euler -= (n.up_left && !n.left && !n.up) + (n.up_right && !n.right && !n.up);
  }
  return shape;
}

}  // namespace ccl
