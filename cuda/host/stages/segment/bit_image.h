// SPDX-License-Identifier: LGPL-2.1-or-later
/// The bit image of ccl/segment.h in the memory of the CPU.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/segment.h"
#include "host/runs/simd/kernels.h"

namespace ccl::host {

// Two words of ccl/segment.h are one word here, the first one in the lower half.
static_assert(std::endian::native == std::endian::little);
static_assert(kBitRowAlignment % 2 == 0);

class BitImage {
 public:
  /// Only the words after the last pixels are written, so that memory of unused images stays unmapped.
  BitImage(uint32_t width, uint32_t height)
      : width_(width),
        height_(height),
        stride_(bit_row_words(width) / 2),
        words_(std::make_unique_for_overwrite<uint64_t[]>(size_t{stride_} * height)) {
    for (uint32_t y = 0; y < height && n_words() < stride_; ++y) {
      for (uint32_t i = n_words(); i < stride_; ++i) {
        row(y)[i] = 0;
      }
    }
  }

  uint32_t width() const { return width_; }
  uint32_t height() const { return height_; }

  /// Words of a row that have pixels.
  uint32_t n_words() const { return count_words(width_); }
  /// Words from one row's start to the next one's. Those after the first n_words() are 0.
  uint32_t stride() const { return stride_; }

  uint64_t* row(uint32_t y) { return words_.get() + size_t{stride_} * y; }
  const uint64_t* row(uint32_t y) const { return words_.get() + size_t{stride_} * y; }

  /// The bits of the last word that are pixels.
  uint64_t last_word_mask() const { return ~uint64_t{0} >> (kBitsPerWord * n_words() - width_); }

 private:
  uint32_t width_;
  uint32_t height_;
  uint32_t stride_;
  std::unique_ptr<uint64_t[]> words_;
};

/// The bits that a frame is labelled from.
struct FrameBits {
  const BitImage* foreground = nullptr;  ///< null: the frame is labelled from its pixels
  /// Where pixels are strong (ccl/segment/hysteresis.h). Null: no hysteresis.
  const BitImage* strong = nullptr;
};

}  // namespace ccl::host
