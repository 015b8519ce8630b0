// SPDX-License-Identifier: LGPL-2.1-or-later
/// The bit image of ccl/segment.h in the memory of the CPU.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "ccl/rule.h"
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

  /// Writes a row of pixels: kBinarySegment where a bit is 1, else 0. Eight bits at a time: each byte keeps
  /// its own bit, and what is left becomes its highest one.
  void write_segments(uint32_t y, uint8_t* pixels) const {
    constexpr uint64_t kEachByte = 0x0101010101010101;
    constexpr uint64_t kOwnBits = 0x8040201008040201;
    const auto* bytes = reinterpret_cast<const uint8_t*>(row(y));
    const auto segments = [bytes](uint32_t x) {
      const uint64_t bits = bytes[x / 8] * kEachByte & kOwnBits;
      return ((bits + 0x7f * kEachByte) >> 7 & kEachByte) * kBinarySegment;
    };
    uint32_t x = 0;
    for (; x + 8 <= width_; x += 8) {
      const uint64_t eight = segments(x);
      std::memcpy(pixels + x, &eight, sizeof eight);
    }
    const uint64_t rest = x < width_ ? segments(x) : 0;
    std::memcpy(pixels + x, &rest, width_ - x);
  }

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
