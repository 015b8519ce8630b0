// SPDX-License-Identifier: LGPL-2.1-or-later
/// Places, boxes and distances of the track stage: integers in 1/256 pixel, so that both backends give the
/// same bits. The centre of the frame's first pixel is (0, 0), as in CclComponent; that pixel spans
/// −128..128.
#pragma once

#include <cstdint>

#include "ccl/colors.h"
#include "ccl/component.h"

namespace ccl::track {

inline constexpr uint32_t kLog2Unit = 8;
inline constexpr int32_t kUnit = 1 << kLog2Unit;  ///< of a pixel
inline constexpr int32_t kHalfUnit = 128;

/// No track, no component, no entry.
inline constexpr uint32_t kNone = 0xffffffff;

struct Place {
  int32_t x, y;
};

/// What a box covers on one axis.
struct Span {
  int32_t begin, end;

  constexpr int32_t size() const { return end - begin; }
  constexpr int32_t middle() const { return (begin + end) / 2; }
};

/// left ≤ x < right, top ≤ y < bottom.
struct Box {
  int32_t left, top, right, bottom;

  constexpr Span x() const { return {left, right}; }
  constexpr Span y() const { return {top, bottom}; }
  constexpr int32_t width() const { return right - left; }
  constexpr int32_t height() const { return bottom - top; }
};

/// What a frame shows of an object: a component, or all fragments together.
struct Part {
  Place place;  ///< the centroid
  Box box;
  uint32_t area;  ///< pixels
};

constexpr int32_t smaller(int32_t a, int32_t b) {
  return a < b ? a : b;
}
constexpr int32_t larger(int32_t a, int32_t b) {
  return a > b ? a : b;
}
constexpr int64_t magnitude(int64_t v) {
  return v < 0 ? -v : v;
}

/// a / b rounded to nearest, halves away from zero; b > 0.
constexpr int64_t divide(int64_t a, int64_t b) {
  // Without signs: a GPU divides two numbers of 64 bits in a fifth of the time if both fit in 32 bits.
  const auto divisor = static_cast<uint64_t>(b);
  const uint64_t dividend =
      (a < 0 ? uint64_t{0} - static_cast<uint64_t>(a) : static_cast<uint64_t>(a)) + divisor / 2;
  const auto quotient = static_cast<int64_t>(dividend / divisor);
  return a < 0 ? -quotient : quotient;
}

/// Rounded to nearest, halves up; `pixels` is not negative. The product is exact, as its factor is a power of
/// two.
constexpr int32_t to_units(float pixels) {
  return (static_cast<int32_t>(pixels * (2 * kUnit)) + 1) / 2;
}

constexpr Part part_of(const CclComponent& c) {
  const auto edge = [](uint32_t pixel) { return static_cast<int32_t>(pixel) * kUnit - kHalfUnit; };
  return {.place = {to_units(c.cx), to_units(c.cy)},
          .box = {edge(c.x), edge(c.y), edge(c.x + c.width), edge(c.y + c.height)},
          .area = c.area};
}

constexpr Box hull(const Box& a, const Box& b) {
  return {smaller(a.left, b.left), smaller(a.top, b.top), larger(a.right, b.right),
          larger(a.bottom, b.bottom)};
}

/// Its extents are negative where the boxes do not meet.
constexpr Box common_box(const Box& a, const Box& b) {
  return {larger(a.left, b.left), larger(a.top, b.top), smaller(a.right, b.right),
          smaller(a.bottom, b.bottom)};
}

constexpr Box shifted(const Box& box, int32_t x, int32_t y) {
  return {box.left + x, box.top + y, box.right + x, box.bottom + y};
}

constexpr bool contains(const Box& outer, const Box& inner) {
  return outer.left <= inner.left && outer.top <= inner.top && inner.right <= outer.right &&
         inner.bottom <= outer.bottom;
}

/// The box with each side `part`-th of its extent farther out.
constexpr Box grown(const Box& box, int32_t part) {
  const int32_t x = box.width() / part;
  const int32_t y = box.height() / part;
  return {box.left - x, box.top - y, box.right + x, box.bottom + y};
}

/// The common area in 1/65536 px²; 0 if the boxes do not meet.
constexpr int64_t common_area(const Box& a, const Box& b) {
  const int64_t width = int64_t{smaller(a.right, b.right)} - larger(a.left, b.left);
  const int64_t height = int64_t{smaller(a.bottom, b.bottom)} - larger(a.top, b.top);
  return width > 0 && height > 0 ? width * height : 0;
}

constexpr int64_t area_of(const Box& box) {
  return int64_t{box.width()} * box.height();
}

/// The mean of width and height: the diameter of a disc.
constexpr int32_t size_of(int32_t width, int32_t height) {
  return (width + height) / 2;
}
constexpr int32_t size_of(const Box& box) {
  return size_of(box.width(), box.height());
}

constexpr int64_t squared_distance(const Place& a, const Place& b) {
  const int64_t x = int64_t{a.x} - b.x;
  const int64_t y = int64_t{a.y} - b.y;
  return x * x + y * y;
}

/// The length of a vector, at most an eighth too long.
constexpr int64_t length_of(int64_t x, int64_t y) {
  const int64_t a = magnitude(x);
  const int64_t b = magnitude(y);
  return a > b ? a + b / 2 : b + a / 2;
}

/// |log2(a / b)| in 1/256; a and b at least 1.
constexpr uint32_t octaves_between(uint32_t a, uint32_t b) {
  const uint32_t log_a = log2_fixed(a);
  const uint32_t log_b = log2_fixed(b);
  return log_a > log_b ? log_a - log_b : log_b - log_a;
}

}  // namespace ccl::track
