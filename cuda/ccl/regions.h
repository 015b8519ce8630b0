// SPDX-License-Identifier: LGPL-2.1-or-later
/// Parts of the frame that count, as polygons and as a bit image.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/segment.h"

namespace ccl {

struct Point {
  double x;
  double y;
};

/// A closed polygon; its last point is joined to its first one. It may cross itself: a point is inside if a
/// ray from it crosses the outline an odd number of times.
struct Region {
  std::string name;
  std::vector<Point> polygon;
};

struct Regions {
  bool is_relative = true;  ///< points are fractions of width and height; else pixels
  /// A pixel counts if it is in one of `include`, or `include` is empty, and in none of `exclude`.
  std::vector<Region> include;
  std::vector<Region> exclude;
};

/// The regions of one frame size, immutable.
class RegionMask {
 public:
  /// A pixel is inside a polygon if its centre is. Points may lie outside the frame.
  RegionMask(const Regions& regions, uint32_t width, uint32_t height);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  /// A bit image: 1 where foreground counts. Rows of bit_row_words(width) words.
  const std::vector<uint32_t>& bits() const { return bits_; }
  /// Differs between any two masks of a process.
  uint64_t id() const { return id_; }

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<uint32_t> bits_;
  uint64_t id_;
};

}  // namespace ccl
