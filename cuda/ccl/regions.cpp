// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/regions.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <utility>

namespace ccl {

namespace {

constexpr uint32_t kWordBits = 32;

/// The first of `count` pixels whose centre is not before this coordinate; `count` if there is none. Pixel i
/// has its centre at i + 0.5.
uint32_t first_pixel_from(double coordinate, uint32_t count) {
  return static_cast<uint32_t>(std::clamp(std::ceil(coordinate - 0.5), 0.0, static_cast<double>(count)));
}

/// Fills polygons by the even-odd rule: each edge toggles one bit in each row that it crosses, at the first
/// pixel behind it, and a pixel is inside if an odd number of bits up to it are set.
class Rasterizer {
 public:
  Rasterizer(const Regions& regions, uint32_t width, uint32_t height)
      : width_(width),
        height_(height),
        scale_x_(regions.is_relative ? width : 1.0),
        scale_y_(regions.is_relative ? height : 1.0),
        toggles_(size_t{bit_row_words(width)} * height) {}

  /// The pixels of the polygon, valid until the next call.
  const std::vector<uint32_t>& fill(const std::vector<Point>& polygon) {
    std::fill(toggles_.begin(), toggles_.end(), 0);
    for (size_t i = 0; i < polygon.size(); ++i) {
      toggle_edge(scaled(polygon[i]), scaled(polygon[(i + 1) % polygon.size()]));
    }
    for (uint32_t y = 0; y < height_; ++y) {
      fill_row(&toggles_[size_t{y} * bit_row_words(width_)]);
    }
    return toggles_;
  }

 private:
  Point scaled(const Point& point) const { return {point.x * scale_x_, point.y * scale_y_}; }

  void toggle_edge(Point a, Point b) {
    if (a.y > b.y) {
      std::swap(a, b);  // so that an edge of two polygons is at the same place in both
    }
    const uint32_t end = first_pixel_from(b.y, height_);
    for (uint32_t y = first_pixel_from(a.y, height_); y < end; ++y) {
      const double t = (y + 0.5 - a.y) / (b.y - a.y);
      const uint32_t x = first_pixel_from(a.x + t * (b.x - a.x), width_);
      if (x < width_) {
        toggles_[size_t{y} * bit_row_words(width_) + x / kWordBits] ^= 1u << (x % kWordBits);
      }
    }
  }

  void fill_row(uint32_t* row) const {
    uint32_t is_inside = 0;  // all bits, or none
    for (uint32_t w = 0; w * kWordBits < width_; ++w) {
      uint32_t word = row[w];
      for (uint32_t shift = 1; shift < kWordBits; shift *= 2) {
        word ^= word << shift;
      }
      row[w] = word ^ is_inside;
      is_inside = (row[w] >> (kWordBits - 1)) != 0 ? ~0u : 0;
    }
    if (width_ % kWordBits != 0) {
      row[width_ / kWordBits] &= (1u << (width_ % kWordBits)) - 1;
    }
  }

  uint32_t width_;
  uint32_t height_;
  double scale_x_;
  double scale_y_;
  std::vector<uint32_t> toggles_;
};

uint64_t next_id() {
  static std::atomic<uint64_t> count{0};
  return ++count;
}

}  // namespace

RegionMask::RegionMask(const Regions& regions, uint32_t width, uint32_t height)
    : width_(width), height_(height), bits_(size_t{bit_row_words(width)} * height), id_(next_id()) {
  Rasterizer rasterizer(regions, width, height);
  for (const Region& region : regions.include) {
    const std::vector<uint32_t>& inside = rasterizer.fill(region.polygon);
    std::transform(bits_.begin(), bits_.end(), inside.begin(), bits_.begin(), std::bit_or<>());
  }
  if (regions.include.empty()) {
    const auto right = static_cast<double>(regions.is_relative ? 1 : width);
    const auto bottom = static_cast<double>(regions.is_relative ? 1 : height);
    bits_ = rasterizer.fill({{0, 0}, {right, 0}, {right, bottom}, {0, bottom}});
  }
  for (const Region& region : regions.exclude) {
    const std::vector<uint32_t>& inside = rasterizer.fill(region.polygon);
    std::transform(bits_.begin(), bits_.end(), inside.begin(), bits_.begin(),
                   [](uint32_t bits, uint32_t excluded) { return bits & ~excluded; });
  }
}

}  // namespace ccl
