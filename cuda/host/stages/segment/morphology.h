// SPDX-License-Identifier: LGPL-2.1-or-later
/// Opening and closing of bit images (ccl/segment/morphology.h), 64 pixels at a time.
///
/// A dilation by a square is one along columns, then one along rows; one by a cross is both united. Along
/// either axis, a window of n pixels takes about log₂ n steps (next_window_shift()). Rows are copied to a
/// scratch block first, in which a word of background separates them: it is wider than any window, so that
/// one loop over all words of the block shifts bits along all its rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/segment/morphology.h"
#include "host/stages/row_strips.h"
#include "host/stages/segment/bit_image.h"
#include "host/stages/segment/simd/kernels.h"

namespace ccl::host {

class MorphologyStage {
 public:
  MorphologyStage(uint32_t width, uint32_t height, const RowStrips& strips, const SegmentKernels& kernels);

  /// Opens and closes `bits`. `other` is an image of the same size whose contents are lost. Returns the one
  /// of both that has the result.
  BitImage* run(const Morphology& morphology, BitImage* bits, BitImage* other) const;

 private:
  /// Rows of a block: words of rows and of separators.
  struct Block {
    uint64_t* words;  ///< its first separator
    uint32_t n_rows;
  };

  void run_step(const MorphologyStep& step, Element element, const BitImage& in, RowSpan rows,
                uint64_t* scratch, BitImage* out) const;
  void load(const BitImage& in, bool complement, int64_t first, const Block& block) const;
  void store(const uint64_t* words, bool complement, RowSpan rows, BitImage* out) const;
  uint64_t* dilate_columns(const uint64_t* in, uint32_t radius, uint32_t n_rows, uint64_t* a,
                           uint64_t* b) const;
  uint64_t* dilate_rows(const uint64_t* in, uint32_t radius, uint32_t n_rows, uint64_t* a, uint64_t* b) const;

  uint32_t height_;
  uint32_t n_words_;
  const RowStrips& strips_;
  const SegmentKernels& kernels_;
  size_t block_length_;
  std::unique_ptr<uint64_t[]> scratch_;
};

}  // namespace ccl::host
