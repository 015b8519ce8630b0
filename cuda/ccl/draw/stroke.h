// SPDX-License-Identifier: LGPL-2.1-or-later
/// Strokes: straight lines with round ends, of which everything consists that is drawn over a frame.
///
/// A pixel is covered by how far its centre lies from the middle of the line: a stroke of radius r covers it
/// fully up to r − ½ and not at all from r + ½ on, and linearly between. For an edge along a row or column
/// that is the covered part of the pixel's area; for all others it is within 1/16 of that, and at the ends of
/// the thinnest lines within 1/4. All is fixed point, so that both backends find the same coverage.
///
/// Strokes that belong together are a path. Its coverage is the largest of its strokes', and it is blended
/// once, so that joints are not darker than what they join.
#pragma once

#include <cstdint>

#include "ccl/colors.h"
#include "ccl/square_root.h"

namespace ccl::draw {

inline constexpr uint32_t kSubpixelBits = 4;
inline constexpr int32_t kSubpixels = 1 << kSubpixelBits;  ///< of places: in 1/16 pixel
inline constexpr uint32_t kDistanceUnit = 256;             ///< of distances and radii: in 1/256 pixel
inline constexpr uint32_t kHalfPixel = kDistanceUnit / 2;

/// Further away than any radius reaches; distances are not computed beyond.
inline constexpr int64_t kFar = 64 * kDistanceUnit;

/// A place in 1/16 pixel. The frame's top left corner is (0, 0), the centre of its first pixel (8, 8).
struct Place {
  int32_t x;
  int32_t y;

  bool operator==(const Place&) const = default;
};

/// A line from a place on.
struct Stroke {
  Place from;
  Place to;
  int32_t along_x;  ///< its direction, a vector of length 2^20
  int32_t along_y;
  int32_t length;  ///< in 1/256 pixel
};

inline constexpr uint32_t kDirectionBits = 20;

/// As std::bit_width(), which nvcc 13.0 takes for 0 in device code.
constexpr uint32_t bit_width(uint64_t v) {
  uint32_t width = 0;
  for (uint32_t bits = 32; bits != 0; bits /= 2) {
    if (v >> bits != 0) {
      v >>= bits;
      width += bits;
    }
  }
  return width + static_cast<uint32_t>(v);
}

/// The line between two places whose coordinates differ by less than 2^19 + 2^16: the widest frame and 4096
/// pixels. The length is rounded down. Between equal places it is a dot.
constexpr Stroke make_stroke(const Place& from, const Place& to) {
  const int64_t dx = to.x - from.x;
  const int64_t dy = to.y - from.y;
  if (dx == 0 && dy == 0) {
    return {from, to, 1 << kDirectionBits, 0, 0};
  }
  // As many more bits as square_root() can take, so that short lines have exact directions, too.
  const auto squared = static_cast<uint64_t>(dx * dx + dy * dy);
  constexpr uint32_t kRootBits = 46;
  const uint32_t bits = (kRootBits - bit_width(squared)) / 2;
  const int64_t length = square_root(squared << 2 * bits);
  const int64_t unit = int64_t{1} << (kDirectionBits + bits);
  return {from, to, static_cast<int32_t>(dx * unit / length), static_cast<int32_t>(dy * unit / length),
          static_cast<int32_t>(length * (kDistanceUnit / kSubpixels) >> bits)};
}

/// The distance of the centre of pixel (x, y) from the line, rounded down to 1/256 pixel, or kFar.
constexpr uint32_t distance(const Stroke& stroke, int32_t x, int32_t y) {
  const int64_t dx = int64_t{x} * kSubpixels + kSubpixels / 2 - stroke.from.x;
  const int64_t dy = int64_t{y} * kSubpixels + kSubpixels / 2 - stroke.from.y;
  constexpr uint32_t kShift = 16;  // from 1/16 pixel times 2^20 to 1/256 pixel
  int64_t along = (dx * stroke.along_x + dy * stroke.along_y) >> kShift;
  int64_t across = (dy * stroke.along_x - dx * stroke.along_y) >> kShift;
  along = along < 0 ? -along : along > stroke.length ? along - stroke.length : 0;
  across = across < 0 ? -across : across;
  if (along >= kFar || across >= kFar) {
    return static_cast<uint32_t>(kFar);
  }
  if (along == 0) {
    return static_cast<uint32_t>(across);
  }
  const uint32_t root = square_root(static_cast<uint64_t>(along * along + across * across));
  return root < kFar ? root : static_cast<uint32_t>(kFar);
}

/// How much of a pixel at this distance a stroke of this radius covers: 0..255.
constexpr uint32_t cover(uint32_t distance, uint32_t radius) {
  const uint32_t edge = radius + kHalfPixel;
  if (distance >= edge) {
    return 0;
  }
  return edge - distance < kDistanceUnit ? edge - distance : kDistanceUnit - 1;
}

/// A pen: a line in colour with a dark rim, which reads on any ground.
struct Pen {
  uint32_t radius;  ///< of the line, in 1/256 pixel
  uint32_t rim;     ///< of line and rim

  /// Pixels whose centres lie further from the line than this are not touched.
  constexpr int32_t reach() const { return static_cast<int32_t>((rim + kHalfPixel) / kDistanceUnit) + 1; }

  bool operator==(const Pen&) const = default;
};

/// How much of a pixel a path covers.
struct Coverage {
  uint32_t line = 0;  ///< 0..255
  uint32_t rim = 0;

  /// Makes the coverage by a path of that by its strokes.
  constexpr void add(const Coverage& other) {
    line = other.line > line ? other.line : line;
    rim = other.rim > rim ? other.rim : rim;
  }
};

/// Pixels from x0 to before x1 and from y0 to before y1.
struct PixelBox {
  int32_t x0;
  int32_t y0;
  int32_t x1;
  int32_t y1;

  constexpr bool is_empty() const { return x0 >= x1 || y0 >= y1; }
  constexpr bool meets(const PixelBox& other) const { return !cut(other).is_empty(); }
  constexpr PixelBox cut(const PixelBox& other) const {
    return {x0 > other.x0 ? x0 : other.x0, y0 > other.y0 ? y0 : other.y0, x1 < other.x1 ? x1 : other.x1,
            y1 < other.y1 ? y1 : other.y1};
  }
  constexpr bool operator==(const PixelBox&) const = default;
};

/// The pixels that a line between two places may touch.
constexpr PixelBox box_of(const Place& a, const Place& b, const Pen& pen) {
  const int32_t reach = pen.reach();
  const auto lower = [](int32_t v, int32_t w) { return (v < w ? v : w) >> kSubpixelBits; };
  const auto upper = [](int32_t v, int32_t w) { return (v < w ? w : v) >> kSubpixelBits; };
  return {lower(a.x, b.x) - reach, lower(a.y, b.y) - reach, upper(a.x, b.x) + reach + 1,
          upper(a.y, b.y) + reach + 1};
}

/// The part of that box in row y that the line may touch: lines are long, and most of their boxes is empty.
constexpr PixelBox row_of(const Stroke& stroke, const Pen& pen, int32_t y) {
  const int64_t height = stroke.to.y - stroke.from.y;
  const auto x_at = [&stroke, height](int64_t at) {  // where the line is at this height, or its end
    const int64_t low = height < 0 ? height : 0;
    const int64_t high = height < 0 ? 0 : height;
    const int64_t dy = at - stroke.from.y < low ? low : at - stroke.from.y > high ? high : at - stroke.from.y;
    return static_cast<int32_t>(stroke.from.x + (stroke.to.x - stroke.from.x) * dy / height);
  };
  const int32_t reach = pen.reach();
  const Place upper = {height == 0 ? stroke.from.x : x_at((y - reach) * int64_t{kSubpixels}), 0};
  const Place lower = {height == 0 ? stroke.to.x : x_at((y + reach + 1) * int64_t{kSubpixels}), 0};
  const PixelBox box = box_of(upper, lower, pen);
  return {box.x0, y, box.x1, y + 1};
}

/// Parts of 255, rounded to nearest.
constexpr uint32_t part_of(uint32_t value, uint32_t parts) {
  return (value * parts + 127) / 255;
}

/// The coverage by a stroke that is visible by `strength` / 255.
constexpr Coverage coverage_at(uint32_t distance, const Pen& pen, uint32_t strength) {
  return {part_of(cover(distance, pen.radius), strength), part_of(cover(distance, pen.rim), strength)};
}

/// The rim is black, and lets this much of the ground through, of 255: lighter than the shapes themselves.
inline constexpr uint32_t kRimStrength = 220;

/// A pixel, packed in any layout, behind a path in a packed opaque colour. `rim` is black as packed.
constexpr uint32_t blend_path(const Coverage& coverage, uint32_t color, uint32_t rim, uint32_t pixel) {
  const uint32_t dark = blend(rim, pixel, static_cast<uint8_t>(part_of(coverage.rim, kRimStrength)));
  return blend(color, dark, static_cast<uint8_t>(coverage.line));
}

/// A pixel under a pixel of a layer of outlines: 0xAARRGGBB, whose alpha is its weight.
constexpr uint32_t blend_layer(uint32_t over, const PixelLayout& layout, uint32_t pixel) {
  return blend(pack(over | 0xff000000, layout), pixel, static_cast<uint8_t>(over >> 24));
}

inline constexpr uint32_t kRimColor = 0xff000000;
inline constexpr uint32_t kTextColor = 0xffffffff;

}  // namespace ccl::draw
