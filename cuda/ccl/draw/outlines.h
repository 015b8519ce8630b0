// SPDX-License-Identifier: LGPL-2.1-or-later
/// Polygons and lines with their names, to be drawn over frames.
///
/// They change rarely, so they become pixels once, on the host, for both backends. A frame only blends these
/// pixels.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ccl/regions.h"

namespace ccl {

/// Colours of outlines, 0xFFRRGGBB: where foreground counts is green, where it does not is red; zones are
/// blue, lines yellow.
inline constexpr uint32_t kIncludeColor = 0xff50e878;
inline constexpr uint32_t kExcludeColor = 0xffff5a50;
inline constexpr uint32_t kZoneColor = 0xff58b4ff;
inline constexpr uint32_t kLineColor = 0xffffd84a;

/// A line through points, in pixels: (0, 0) is the top left corner of the frame. Points may lie outside it.
struct Outline {
  std::string name;  ///< UTF-8, written above the first of the highest points
  std::vector<Point> points;
  bool is_closed = true;  ///< the last point is joined to the first one
  uint32_t color = kIncludeColor;
};

/// The outlines of regions in a frame: polygons, zones and lines.
std::vector<Outline> outlines_of(const Regions& regions, uint32_t width, uint32_t height);

/// A pixel of a layer that is not empty.
struct LayerPixel {
  uint32_t index;  ///< raster index
  uint32_t color;  ///< 0xAARRGGBB; alpha is the weight with which the pixel is blended onto a frame's

  bool operator==(const LayerPixel&) const = default;
};

/// The work to make a layer is bounded: outlines visit at most so many pixels for each pixel of the frame,
/// and kLeastWork more; names as many again. That is hundreds of lines across the frame. What comes
/// later in the list is then missing from the layer.
inline constexpr uint64_t kWorkPerPixel = 16;
inline constexpr uint64_t kLeastWork = 4'000'000;

constexpr uint64_t max_work(uint32_t width, uint32_t height) {
  return 2 * (uint64_t{width} * height * kWorkPerPixel + kLeastWork);
}

/// The outlines of one frame size as pixels, immutable.
class OutlineLayer {
 public:
  /// Later outlines lie over earlier ones, and names over all of them.
  OutlineLayer(const std::vector<Outline>& outlines, uint32_t width, uint32_t height);

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }
  /// Ascending by index.
  const std::vector<LayerPixel>& pixels() const { return pixels_; }
  /// height + 1 values: where the pixels of each row begin, and where the last ones end.
  const std::vector<uint32_t>& rows() const { return rows_; }
  /// Pixels that were visited to make the layer, at most max_work().
  uint64_t work() const { return work_; }
  /// Whether all outlines and names are there.
  bool is_complete() const { return is_complete_; }
  /// Differs between any two layers of a process.
  uint64_t id() const { return id_; }

 private:
  uint32_t width_;
  uint32_t height_;
  std::vector<LayerPixel> pixels_;
  std::vector<uint32_t> rows_;
  uint64_t work_;
  bool is_complete_;
  uint64_t id_;
};

}  // namespace ccl
