// SPDX-License-Identifier: LGPL-2.1-or-later
/// Foreground::kLocal (ccl/segment/local.h). The time does not depend on the radius: the sums of the columns
/// of a window move down with each row, and the sum of a window moves along the row.
#pragma once

#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/stages/row_strips.h"
#include "host/stages/segment/bit_image.h"
#include "host/stages/segment/simd/kernels.h"

namespace ccl::host {

class LocalStage {
 public:
  LocalStage(uint32_t width, uint32_t height, const RowStrips& strips, const SegmentKernels& kernels);

  void run(const InputImage& image, const LocalThreshold& local, bool invert, BitImage* bits) const;

 private:
  /// Arrays of a strip: entries of column 0. Padded; see simd/kernels.h.
  struct Scratch {
    uint16_t* sums;
    uint32_t* squares;
    uint32_t* n;
  };

  Scratch clear_scratch(uint32_t strip, bool with_squares) const;
  void run_strip(const InputImage& image, const LocalThreshold& local, bool invert, RowSpan rows,
                 const Scratch& scratch, BitImage* bits) const;
  void move(const LocalThreshold& local, const uint8_t* added, const uint8_t* removed,
            const Scratch& scratch) const;
  void count_window_pixels(uint32_t n_rows, uint32_t radius, uint32_t* n) const;

  uint32_t width_;
  uint32_t height_;
  const RowStrips& strips_;
  const SegmentKernels& kernels_;
  size_t length_;                         ///< of a padded array
  std::unique_ptr<uint8_t[]> no_pixels_;  ///< a row of zeros
  std::unique_ptr<uint16_t[]> sums_;
  std::unique_ptr<uint32_t[]> squares_;
  std::unique_ptr<uint32_t[]> n_;
};

}  // namespace ccl::host
