// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames of random bytes in every layout of a source.
#pragma once

#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ccl/engine.h"

namespace ccl::test {

/// Bytes, and how an image lies in them.
struct Source {
  std::string name;
  std::vector<uint8_t> bytes;
  InputImage image;
};

inline constexpr uint32_t kPadding = 5;  ///< bytes behind each row

/// Shapes of one level over another, with noise in the lowest bits, so that there are few components.
inline std::vector<uint8_t> make_bytes(size_t row, size_t rows, uint32_t seed) {
  std::minstd_rand random(seed);
  std::vector<uint8_t> bytes(row * rows);
  for (size_t i = 0; i < bytes.size(); ++i) {
    const bool is_bright = (i % row / 12 + i / row / 5 + seed) % 3 == 0;
    bytes[i] = static_cast<uint8_t>((random() >> 9 & 0x7f) + (is_bright ? 0x80 : 0));
  }
  return bytes;
}

enum class Layout : uint8_t {
  kGray,
  kNv21,
  kI420,
  kY444,
  kNv24,
  kYuy2,
  kUyvy,
  kGray16,
  kP010,
  kI420In10Bits,
  kRgb,
  kXrgb
};

inline constexpr Layout kLayouts[] = {Layout::kGray, Layout::kNv21,         Layout::kI420, Layout::kY444,
                                      Layout::kNv24, Layout::kYuy2,         Layout::kUyvy, Layout::kGray16,
                                      Layout::kP010, Layout::kI420In10Bits, Layout::kRgb,  Layout::kXrgb};

/// One plane of pixels of `step` bytes.
inline SourcePixels packed(const uint8_t* first, size_t stride, uint8_t step, uint8_t bits = 8,
                           uint8_t shift = 0) {
  return {.pixels = first, .stride = stride, .step = step, .bits = bits, .shift = shift};
}

inline SourcePixels rgb(const uint8_t* first, size_t stride, uint8_t step, uint8_t red) {
  SourcePixels pixels = packed(first, stride, step);
  pixels.is_rgb = true;
  pixels.red = red;
  pixels.green = static_cast<uint8_t>(red + 1);
  pixels.blue = static_cast<uint8_t>(red + 2);
  pixels.red_weight = 13933;  // BT.709
  pixels.green_weight = 46871;
  pixels.u_scale = 35319;
  pixels.v_scale = 41615;
  return pixels;
}

/// A frame of random bytes: all planes lie below each other, in rows that fit any layout.
inline std::unique_ptr<Source> make_source(Layout layout, uint32_t width, uint32_t height, uint32_t seed) {
  auto source = std::make_unique<Source>();
  const size_t stride = 4 * ((width + 1) & ~1u) + kPadding + 1;  // even, for words of 16 bits
  source->bytes = make_bytes(stride & ~size_t{1}, size_t{3} * height, seed);
  const size_t row = stride & ~size_t{1};
  const uint8_t* first = source->bytes.data();
  const uint8_t* second = first + row * height;
  const uint8_t* third = second + row * height;
  InputImage& image = source->image;
  image.pixels = first;
  image.stride = row;
  switch (layout) {
    case Layout::kGray:
      source->name = "GRAY8";
      break;
    case Layout::kNv21:
      source->name = "NV21";
      image.chroma = {.u = second + 1, .v = second, .stride = row, .step = 2, .shift_x = 1, .shift_y = 1};
      break;
    case Layout::kI420:
      source->name = "I420";
      image.chroma = {.u = second, .v = third, .stride = row, .step = 1, .shift_x = 1, .shift_y = 1};
      break;
    case Layout::kY444:
      source->name = "Y444";
      image.chroma = {.u = second, .v = third, .stride = row};
      break;
    case Layout::kNv24:
      source->name = "NV24";
      image.chroma = {.u = second, .v = second + 1, .stride = row, .step = 2};
      break;
    case Layout::kYuy2:
      source->name = "YUY2";
      image.source = packed(first, row, 2);
      image.chroma = {.u = first + 1, .v = first + 3, .stride = row, .step = 4, .shift_x = 1};
      break;
    case Layout::kUyvy:
      source->name = "UYVY";
      image.source = packed(first + 1, row, 2);
      image.chroma = {.u = first, .v = first + 2, .stride = row, .step = 4, .shift_x = 1};
      break;
    case Layout::kGray16:
      source->name = "GRAY16_LE";
      image.source = packed(first, row, 2, 16);
      break;
    case Layout::kP010:
      source->name = "P010_10LE";
      image.source = packed(first, row, 2, 10, 6);
      break;
    case Layout::kI420In10Bits:
      source->name = "I420_10LE";
      image.source = packed(first, row, 2, 10);
      break;
    case Layout::kRgb:
      source->name = "RGB";
      image.source = rgb(first, row, 3, 0);
      break;
    case Layout::kXrgb:
      source->name = "xRGB";
      image.source = rgb(first, row, 4, 1);
      break;
  }
  if (image.source.pixels != nullptr) {
    image.pixels = nullptr;
    image.stride = 0;
  }
  return source;
}

}  // namespace ccl::test
