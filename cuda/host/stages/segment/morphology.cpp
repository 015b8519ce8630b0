// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/morphology.h"

#include <algorithm>
#include <utility>

namespace ccl::host {

namespace {

/// Rows of the result of a block. Blocks of few rows stay in the first cache; many rows share the rows around
/// them, which each block loads again.
constexpr uint32_t kBlockRows = 48;

constexpr uint32_t kMaxStepRadius = 2 * kMaxMorphologyRadius;
static_assert(2 * kMaxStepRadius < kBitsPerWord, "a separator must be wider than a window");

/// A step's input, two arrays to work in, and the dilation along columns while that along rows is made.
constexpr uint32_t kBlocks = 4;

}  // namespace

/// Before a block's first separator and after its last one there is another word, which shifts read.
MorphologyStage::MorphologyStage(uint32_t width, uint32_t height, const RowStrips& strips,
                                 const SegmentKernels& kernels)
    : height_(height),
      n_words_(count_words(width)),
      strips_(strips),
      kernels_(kernels),
      block_length_((kBlockRows + 2 * size_t{kMaxStepRadius}) * (n_words_ + 1) + 3),
      scratch_(std::make_unique<uint64_t[]>(block_length_ * kBlocks * strips.count())) {}

BitImage* MorphologyStage::run(const Morphology& morphology, BitImage* bits, BitImage* other) const {
  const MorphologySteps steps = morphology_steps(morphology);
  for (uint32_t i = 0; i < steps.count; ++i) {
    strips_.for_each([&](uint32_t strip, RowSpan rows) {
      uint64_t* scratch = scratch_.get() + block_length_ * kBlocks * strip;
      for (uint32_t y = rows.begin; y < rows.end; y += kBlockRows) {
        run_step(steps.steps[i], morphology.element, *bits, {y, std::min(y + kBlockRows, rows.end)}, scratch,
                 other);
      }
    });
    std::swap(bits, other);
  }
  return bits;
}

void MorphologyStage::run_step(const MorphologyStep& step, Element element, const BitImage& in, RowSpan rows,
                               uint64_t* scratch, BitImage* out) const {
  const uint32_t n_rows = rows.end - rows.begin;
  const uint32_t radius = step.radius;
  const auto block = [&](uint32_t i) { return scratch + i * block_length_ + 1; };
  load(in, step.is_erosion, int64_t{rows.begin} - radius, {block(0), n_rows + 2 * radius});
  const uint64_t* columns = dilate_columns(block(0), radius, n_rows, block(1), block(2));
  if (element == Element::kSquare) {
    store(dilate_rows(columns, radius, n_rows, block(0), columns == block(1) ? block(2) : block(1)),
          step.is_erosion, rows, out);
    return;
  }
  const uint64_t* center = block(0) + size_t{radius} * (n_words_ + 1);
  uint64_t* united = columns == block(1) ? block(2) : block(1);
  const uint64_t* along_rows = dilate_rows(center, radius, n_rows, united, block(3));
  if (along_rows == united) {
    united = block(3);
  }
  kernels_.unite(columns, along_rows, size_t{n_rows} * (n_words_ + 1) + 1, united);
  store(united, step.is_erosion, rows, out);
}

/// Copies the rows from `first` on. Those outside the frame are background, of the complement too.
void MorphologyStage::load(const BitImage& in, bool complement, int64_t first, const Block& block) const {
  const uint64_t flip = complement ? ~uint64_t{0} : 0;
  const uint64_t last_mask = in.last_word_mask();
  uint64_t* out = block.words;
  out[-1] = 0;
  *out++ = 0;
  for (uint32_t i = 0; i < block.n_rows; ++i, out += n_words_ + 1) {
    const int64_t y = first + i;
    if (y < 0 || y >= height_) {
      std::fill_n(out, n_words_, 0);
    } else {
      std::transform(in.row(static_cast<uint32_t>(y)), in.row(static_cast<uint32_t>(y)) + n_words_, out,
                     [flip](uint64_t word) { return word ^ flip; });
      out[n_words_ - 1] &= last_mask;
    }
    out[n_words_] = 0;
  }
  *out = 0;
}

/// `words` begins with a separator.
void MorphologyStage::store(const uint64_t* words, bool complement, RowSpan rows, BitImage* out) const {
  const uint64_t flip = complement ? ~uint64_t{0} : 0;
  const uint64_t last_mask = out->last_word_mask();
  ++words;
  for (uint32_t y = rows.begin; y < rows.end; ++y, words += n_words_ + 1) {
    uint64_t* row = out->row(y);
    std::transform(words, words + n_words_, row, [flip](uint64_t word) { return word ^ flip; });
    row[n_words_ - 1] &= last_mask;
  }
}

/// Row y of the result unites rows y..y + 2·radius of `in`. It is written to `a` or `b`, whichever is
/// returned.
uint64_t* MorphologyStage::dilate_columns(const uint64_t* in, uint32_t radius, uint32_t n_rows, uint64_t* a,
                                          uint64_t* b) const {
  const uint32_t window = 2 * radius + 1;
  const size_t stride = n_words_ + 1;
  for (uint32_t done = 1; done < window;) {
    const uint32_t shift = next_window_shift(done, window);
    done += shift;
    // Rows that later steps still unite with others.
    const size_t n = size_t{n_rows + window - done} * stride + 1;
    kernels_.unite(in, in + shift * stride, n, a);
    in = a;
    std::swap(a, b);
  }
  return b;
}

/// The words must be followed by another one. The result is written to `a` or `b`, whichever is returned.
uint64_t* MorphologyStage::dilate_rows(const uint64_t* in, uint32_t radius, uint32_t n_rows, uint64_t* a,
                                       uint64_t* b) const {
  const uint32_t window = 2 * radius + 1;
  const size_t n = size_t{n_rows} * (n_words_ + 1) + 1;
  for (uint32_t done = 1; done < window;) {
    const uint32_t shift = next_window_shift(done, window);
    done += shift;
    kernels_.unite_with_later(in, shift, n, a);
    in = a;
    std::swap(a, b);
  }
  kernels_.move_later(in, radius, n, a);
  return a;
}

}  // namespace ccl::host
