// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where a frame has foreground: most frames are background for the most part, which the passes of separation
/// leave out.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/memory.h"

namespace ccl::host {

/// Pixels of a row that are in one block.
inline constexpr uint32_t kBlockWidth = 64;

class Blocks {
 public:
  Blocks(uint32_t width, uint32_t height)
      : width_(width),
        n_columns_((width + kBlockWidth - 1) / kBlockWidth),
        has_foreground_(uninitialized<uint8_t>(size_t{n_columns_} * height)) {}

  /// Looks at the blocks of a row, from column x_begin, a multiple of kBlockWidth, to x_end − 1.
  /// `has_foreground(x, n)` says it of n pixels from x on.
  template <typename HasForeground>
  void find(uint32_t y, uint32_t x_begin, uint32_t x_end, HasForeground has_foreground) {
    for (uint32_t x = x_begin; x < x_end; x += kBlockWidth) {
      row(y)[x / kBlockWidth] = has_foreground(x, std::min(kBlockWidth, x_end - x)) ? 1 : 0;
    }
  }

  /// Calls visit(begin, end) for the spans of a row between two columns that have foreground in all blocks,
  /// and gap(begin, end) for those between them.
  template <typename Visit, typename Gap>
  void for_each_span(uint32_t y, uint32_t x_begin, uint32_t x_end, Visit visit, Gap gap) const {
    const uint8_t* blocks = row(y);
    for (uint32_t begin = x_begin; begin < x_end;) {
      const uint8_t has = blocks[begin / kBlockWidth];
      uint32_t end = begin;
      while (end < x_end && blocks[end / kBlockWidth] == has) {
        end = std::min(x_end, end + kBlockWidth);
      }
      if (has != 0) {
        visit(begin, end);
      } else {
        gap(begin, end);
      }
      begin = end;
    }
  }
  /// The same for a whole row.
  template <typename Visit>
  void for_each_span(uint32_t y, Visit visit) const {
    for_each_span(y, 0, width_, visit, [](uint32_t, uint32_t) {});
  }
  template <typename Visit>
  void for_each_gap(uint32_t y, Visit visit) const {
    for_each_span(
        y, 0, width_, [](uint32_t, uint32_t) {}, visit);
  }

 private:
  uint8_t* row(uint32_t y) const { return has_foreground_.get() + size_t{y} * n_columns_; }

  uint32_t width_;
  uint32_t n_columns_;
  std::unique_ptr<uint8_t[]> has_foreground_;  ///< per block
};

}  // namespace ccl::host
