// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/segment/local.h"

#include <algorithm>

#include "host/memory.h"

namespace ccl::host {

LocalStage::LocalStage(uint32_t width, uint32_t height, const RowStrips& strips,
                       const SegmentKernels& kernels)
    : width_(width),
      height_(height),
      strips_(strips),
      kernels_(kernels),
      length_(size_t{count_words(width)} * kBitsPerWord + 2 * kWindowPadding),
      no_pixels_(std::make_unique<uint8_t[]>(width)),
      sums_(uninitialized<uint16_t>(length_ * strips.count())),
      squares_(uninitialized<uint32_t>(length_ * strips.count())),
      n_(uninitialized<uint32_t>(length_ * strips.count())) {}

/// Sums of no rows.
LocalStage::Scratch LocalStage::clear_scratch(uint32_t strip, bool with_squares) const {
  const size_t first = length_ * strip;
  std::fill_n(sums_.get() + first, length_, 0);
  std::fill_n(n_.get() + first, length_, 0);
  if (with_squares) {
    std::fill_n(squares_.get() + first, length_, 0);
  }
  const size_t column_0 = first + kWindowPadding;
  return {sums_.get() + column_0, squares_.get() + column_0, n_.get() + column_0};
}

void LocalStage::run(const InputImage& image, const LocalThreshold& local, bool invert,
                     BitImage* bits) const {
  strips_.for_each([&](uint32_t strip, RowSpan rows) {
    run_strip(image, local, invert, rows, clear_scratch(strip, local.deviation != 0), bits);
  });
}

void LocalStage::run_strip(const InputImage& image, const LocalThreshold& local, bool invert, RowSpan rows,
                           const Scratch& scratch, BitImage* bits) const {
  const auto row_of = [&image](uint32_t y) { return image.pixels + y * image.stride; };
  const uint32_t first = window_span(rows.begin, local.radius, height_).begin;
  WindowSpan summed{first, first};
  uint32_t n_rows = 0;
  for (uint32_t y = rows.begin; y < rows.end; ++y) {
    const WindowSpan window = window_span(y, local.radius, height_);
    while (summed.begin < window.begin || summed.end < window.end) {
      const uint8_t* added = summed.end < window.end ? row_of(summed.end++) : no_pixels_.get();
      const uint8_t* removed = summed.begin < window.begin ? row_of(summed.begin++) : no_pixels_.get();
      move(local, added, removed, scratch);
    }
    if (n_rows != window.size()) {
      n_rows = window.size();
      count_window_pixels(n_rows, local.radius, scratch.n);
    }
    kernels_.compare_with_windows({.pixels = row_of(y),
                                   .width = width_,
                                   .local = local,
                                   .invert = invert,
                                   .sums = scratch.sums,
                                   .squares = scratch.squares,
                                   .n = scratch.n,
                                   .bits = bits->row(y)});
  }
}

void LocalStage::move(const LocalThreshold& local, const uint8_t* added, const uint8_t* removed,
                      const Scratch& scratch) const {
  kernels_.move_sums(added, removed, width_, scratch.sums);
  if (local.deviation != 0) {
    kernels_.move_squares(added, removed, width_, scratch.squares);
  }
}

void LocalStage::count_window_pixels(uint32_t n_rows, uint32_t radius, uint32_t* n) const {
  const uint32_t n_remaining = std::min(radius, width_);
  const uint32_t right = width_ - std::min(radius, width_ - n_remaining);
  const auto count = [&](uint32_t x) { return n_rows * window_span(x, radius, width_).size(); };
  for (uint32_t x = 0; x < n_remaining; ++x) {
    n[x] = count(x);
  }
  std::fill(n + n_remaining, n + right, n_rows * (2 * radius + 1));
  for (uint32_t x = right; x < width_; ++x) {
    n[x] = count(x);
  }
}

}  // namespace ccl::host
