// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sources that are not a plane of 8-bit luma: how a pixel's luma is found in its bytes. The engine makes the
/// plane that every later stage reads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace ccl {

/// Rows of pixels of one to four bytes. The default is 8-bit luma.
struct SourcePixels {
  const uint8_t* pixels = nullptr;  ///< the luma of the first pixel, or the first byte of it if it is RGB
  size_t stride = 0;                ///< bytes from one row's start to the next one's
  uint8_t step = 1;                 ///< bytes from one pixel to the next: 1..4
  /// Of luma: 8, or 9..16 in a little-endian word of 16 bits, at an even address.
  uint8_t bits = 8;
  uint8_t shift = 0;  ///< low bits of that word that are not used

  bool is_rgb = false;  ///< 8-bit channels at these places; the luma is their weighted sum
  uint8_t red = 0;
  uint8_t green = 1;
  uint8_t blue = 2;
  uint16_t red_weight = 0;    ///< in 1/65536, of a full range of 0..255
  uint16_t green_weight = 0;  ///< in 1/65536; blue has the rest
  /// 65536 / (2·(1 − Kb)) and 65536 / (2·(1 − Kr)): from blue − luma and red − luma to U and V.
  uint32_t u_scale = 0;
  uint32_t v_scale = 0;

  bool operator==(const SourcePixels&) const = default;
};

/// The bytes of a pixel, up to the last one that is read.
constexpr uint32_t bytes_read(const SourcePixels& source) {
  if (source.is_rgb) {
    return uint32_t{std::max(source.red, std::max(source.green, source.blue))} + 1;
  }
  return source.bits > 8 ? 2 : 1;
}

/// The luma of a pixel with all of its bits; 8 bits if it is RGB.
constexpr uint32_t wide_luma(const SourcePixels& source, const uint8_t* pixel) {
  if (source.is_rgb) {
    const uint32_t blue_weight = 65536u - source.red_weight - source.green_weight;
    return (source.red_weight * uint32_t{pixel[source.red]} +
            source.green_weight * uint32_t{pixel[source.green]} + blue_weight * pixel[source.blue] +
            32768u) >>
           16;
  }
  if (source.bits == 8) {
    return pixel[0];
  }
  const uint32_t word = pixel[0] | uint32_t{pixel[1]} << 8;
  return (word >> source.shift) & ((1u << source.bits) - 1);
}

/// The 8 upper bits of it.
constexpr uint8_t luma(const SourcePixels& source, const uint8_t* pixel) {
  return static_cast<uint8_t>(wide_luma(source, pixel) >> (source.bits - 8));
}

/// U or V of an RGB pixel: `channel` is its blue or red, `scale` is u_scale or v_scale.
constexpr uint8_t chroma(uint32_t channel, uint32_t luma, uint32_t scale) {
  const int64_t difference = static_cast<int64_t>(channel) - static_cast<int64_t>(luma);
  const int64_t value = (difference * static_cast<int64_t>(scale) + (128 << 16) + 32768) >> 16;
  return static_cast<uint8_t>(value < 0 ? 0 : value > 255 ? 255 : value);
}

}  // namespace ccl
