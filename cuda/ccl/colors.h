// SPDX-License-Identifier: LGPL-2.1-or-later
/// Colours of components: the palettes, and the integer arithmetic that all backends share.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "ccl/config.h"

namespace ccl {

inline constexpr uint32_t kPaletteCount = 4;
inline constexpr uint32_t kPaletteSize = 256;

/// All palettes as opaque 0xFFRRGGBB. Palette p starts at p × kPaletteSize. Built on the first call.
const std::array<uint32_t, kPaletteCount * kPaletteSize>& palette_colors();

/// log2(v) in 1/256, linear between powers of two; v at least 1.
constexpr uint32_t log2_fixed(uint32_t v) {
  const uint32_t exponent = 31 - static_cast<uint32_t>(std::countl_zero(v));
  const uint64_t mantissa = (uint64_t{v} << 8) >> exponent;
  return exponent * 256 + static_cast<uint32_t>(mantissa - 256);
}

/// The index of a component's colour in palette_colors(). `n_pixels` is the number of pixels in the frame.
template <typename AnySettings>
constexpr uint32_t color_index(const AnySettings& settings, uint32_t id, uint32_t area, uint32_t n_pixels) {
  uint32_t index = (id - 1 + settings.color_seed) % kPaletteSize;
  if (settings.palette == Palette::kViridisByArea) {
    const uint32_t full = n_pixels > 1 ? log2_fixed(n_pixels) : 1;
    index = log2_fixed(area) * (kPaletteSize - 1) / full;
  }
  return static_cast<uint32_t>(settings.palette) * kPaletteSize + index;
}

/// 0xAARRGGBB as the four bytes of a pixel, little endian.
constexpr uint32_t pack(uint32_t argb, const PixelLayout& layout) {
  return (argb >> 24) << (8 * layout.alpha) | (argb >> 16 & 0xff) << (8 * layout.red) |
         (argb >> 8 & 0xff) << (8 * layout.green) | (argb & 0xff) << (8 * layout.blue);
}

/// A luma value as opaque grey 0xFFRRGGBB, stretched from 16..235 to 0..255 if `limited_range`.
constexpr uint32_t grey(uint8_t luma, bool limited_range) {
  uint32_t v = luma;
  if (limited_range) {
    v = luma <= 16 ? 0 : luma >= 235 ? 255 : ((luma - 16u) * 255 + 109) / 219;
  }
  return 0xff000000 | v * 0x010101;
}

/// A channel in 1/65536 as 0..255, rounded to nearest.
constexpr uint32_t channel_of(int32_t value) {
  const int32_t rounded = (value + 32768) >> 16;
  return static_cast<uint32_t>(rounded < 0 ? 0 : rounded > 255 ? 255 : rounded);
}

/// The opaque colour 0xFFRRGGBB of luma and chroma. With u = v = 128 it is grey().
constexpr uint32_t color_of(uint8_t y, uint8_t u, uint8_t v, const ColorMatrix& matrix) {
  const int32_t luma = matrix.luma * (y - matrix.black);
  const int32_t from_u = u - 128;
  const int32_t from_v = v - 128;
  return 0xff000000 | channel_of(luma + matrix.red_v * from_v) << 16 |
         channel_of(luma + matrix.green_u * from_u + matrix.green_v * from_v) << 8 |
         channel_of(luma + matrix.blue_u * from_u);
}

/// `over` blended onto `under` with weight alpha / 255; each channel is rounded to nearest.
constexpr uint32_t blend(uint32_t over, uint32_t under, uint8_t alpha) {
  uint32_t out = 0;
  for (uint32_t shift = 0; shift < 32; shift += 8) {
    const uint32_t o = over >> shift & 0xff;
    const uint32_t u = under >> shift & 0xff;
    out |= ((o * alpha + u * (255u - alpha) + 127) / 255) << shift;
  }
  return out;
}

inline constexpr uint32_t kBoxColor = 0xffffffff;

/// With tracking: of components that belong to no track.
inline constexpr uint32_t kNoIdColor = 0xff808080;

}  // namespace ccl
