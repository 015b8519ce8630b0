// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/distances.h"

#include <algorithm>
#include <array>

#include "ccl/parts.h"
#include "host/memory.h"
#include "host/stages/row_chunks.h"

namespace ccl::host {

namespace {

/// Pixels whose heights are measured together, before they are written at an address that may be odd.
constexpr uint32_t kHeightsAtOnce = 512;

void write_height(uint32_t height, uint8_t* pixel) {
  pixel[0] = static_cast<uint8_t>(height);
  pixel[1] = static_cast<uint8_t>(height >> 8);
}

}  // namespace

Distances::Distances(uint32_t width, uint32_t height, ThreadPool& pool)
    : width_(width),
      height_(height),
      pool_(pool),
      kernels_(separation_kernels(choose_simd_level())),
      transform_(width, height, pool),
      squares_(uninitialized<uint32_t>(size_t{width} * height)) {}

void Distances::measure(const uint32_t* root_map, uint32_t aspect) {
  transform_.measure(root_map, aspect, squares_.get());
}

void Distances::write(const uint32_t* labels, const uint32_t* shown, const PlaneImage& plane) const {
  for_each_row(pool_, height_, [&](uint32_t y, uint32_t) {
    const size_t first = size_t{y} * width_;
    std::transform(labels + first, labels + first + width_, squares_.get() + first,
                   plane.values + y * (plane.stride / sizeof(uint32_t)),
                   [shown](uint32_t label, uint32_t square) { return square & shown[label]; });
  });
}

void Distances::write(const uint32_t* labels, const uint32_t* shown, Output output,
                      const OutputImage& image) const {
  for_each_row(pool_, height_, [&](uint32_t y, uint32_t) {
    std::array<uint16_t, kHeightsAtOnce> heights;
    uint8_t* pixels = image.pixels + y * image.stride;
    for (uint32_t begin = 0; begin < width_; begin += kHeightsAtOnce) {
      const size_t first = size_t{y} * width_ + begin;
      const uint32_t n = std::min(kHeightsAtOnce, width_ - begin);
      kernels_.measure_heights(squares_.get() + first, n, heights.data());
      for (size_t x = 0; x < n; ++x) {
        const uint32_t height = heights[x] & shown[labels[first + x]];
        if (output == Output::kDistance8) {
          pixels[begin + x] = whole_pixels(height);
        } else {
          write_height(height, pixels + (begin + x) * sizeof(uint16_t));
        }
      }
    }
  });
}

}  // namespace ccl::host
