// SPDX-License-Identifier: LGPL-2.1-or-later
/// The way of each pixel to its summit, by steps to the highest neighbour. See ccl/parts.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "host/stages/row_strips.h"
#include "host/stages/separate/blocks.h"
#include "host/stages/separate/simd/kernels.h"

namespace ccl::host {

/// Finds the basins of pixels. Basin: a type that the numbers of all basins fit in.
template <typename Basin>
class Ways {
 public:
  /// `blocks` and `steps`, per pixel, must outlive the ways.
  Ways(uint32_t width, uint32_t height, const Blocks& blocks, const uint8_t* steps);

  /// Per pixel: 0 for background, else 1 + the number of the basin. A row of background and one more entry
  /// follow.
  const Basin* basins() const { return basins_.get(); }

  /// Before begin_row() of its row: the basin of a summit.
  void set_summit(size_t pixel, uint32_t basin) { at(pixel) = static_cast<Basin>(basin); }

  /// First, for each row of a strip from above: gives pixels whose way leads up the number of their summit.
  void begin_row(uint32_t y, const RowSpan& rows);

  /// Then: gives the other pixels of a strip the number of their summit. `n_before` is added to the numbers
  /// of the strip's own summits. `summits`: of the frame. `is_open`: scratch memory, a byte per pixel of a
  /// row.
  void follow(const RowSpan& rows, uint32_t n_before, std::span<const uint32_t> summits, uint8_t* is_open);

 private:
  Basin* row(uint32_t y) { return basins_.get() + size_t{y} * width_; }
  Basin& at(size_t pixel) { return basins_[pixel]; }
  template <typename Take>
  void take_from(uint32_t y, const Basin* other, Take take);
  void follow_way(size_t pixel, size_t begin, size_t end, std::span<const uint32_t> summits);
  size_t next(size_t pixel) const { return pixel + static_cast<size_t>(offsets_[steps_[pixel]]); }

  uint32_t width_;
  uint32_t height_;
  const Blocks& blocks_;
  const uint8_t* steps_;
  const BasinKernels<Basin>& kernels_;
  std::unique_ptr<Basin[]> basins_;     ///< with a row of background, and one more entry
  int64_t offsets_[kBackground + 1]{};  ///< of steps, in pixels
};

}  // namespace ccl::host
