// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where the runs of a frame come from: its pixels, or the bit image of the segment stage.
#pragma once

#include <algorithm>
#include <cstdint>

#include "ccl/engine.h"
#include "host/runs/simd/kernels.h"
#include "host/stages/segment/bit_image.h"

namespace ccl::host {

struct RowSource {
  InputImage image;
  ForegroundRule rule;
  const BitImage* bits = nullptr;  ///< read in place of image and rule if not null

  const uint8_t* pixels(uint32_t y) const { return image.pixels + y * image.stride; }
};

/// Writes the bits of a row. `out.starts` may be null for binary foreground.
inline void read_row(const Kernels& kernels, const RowSource& source, uint32_t width, uint32_t y,
                     const BitRow<uint64_t>& out) {
  if (source.bits == nullptr) {
    kernels.pack_row({.pixels = source.pixels(y), .width = width, .rule = source.rule, .bits = out});
    return;
  }
  const uint32_t n_words = count_words(width);
  std::copy_n(source.bits->row(y), n_words, out.foreground);
  if (out.starts != nullptr) {
    kernels.join_rows({out.foreground, out.foreground, n_words, out.starts});
  }
}

}  // namespace ccl::host
