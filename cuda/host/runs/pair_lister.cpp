// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/pair_lister.h"

#include <algorithm>
#include <functional>

#include "host/memory.h"

namespace ccl::host {

PairLister::PairLister(const Kernels& kernels, const RunTable& table)
    : kernels_(kernels),
      table_(table),
      length_(table.width() + 2 * kListPadding),
      words_(uninitialized<uint64_t>(size_t{table.n_words()} * table.strips().size())),
      no_pixels_(std::make_unique<uint64_t[]>(table.n_words())),
      begin_(uninitialized<uint16_t>(length_ * table.strips().size())),
      end_(uninitialized<uint16_t>(length_ * table.strips().size())),
      label_(uninitialized<uint32_t>(length_ * table.strips().size())),
      shape_(uninitialized<uint32_t>(length_ * table.strips().size())),
      n_pixels_(uninitialized<uint32_t>(length_ * table.strips().size())),
      n_upper_(uninitialized<uint32_t>(length_ * table.strips().size())),
      column_sum_(uninitialized<uint32_t>(length_ * table.strips().size())) {}

RunList PairLister::list(const FrameNeeds& needs, const Strip& strip, Band band, uint32_t y) const {
  const bool is_rectangles = y == band.y && table_.is_rectangles(band);
  if (!is_rectangles && !needs.rows()) {
    return list_pair(strip, y);
  }
  const uint32_t n_words = table_.n_words();
  const BitRow<const uint64_t> bits = table_.bits(y);
  const size_t first = length_ * strip.index + kListPadding;
  const uint64_t* starts = bits.starts;
  const uint32_t* label = table_.label() + band.runs.begin;
  if (!is_rectangles) {
    uint64_t* row_starts = words_.get() + size_t{strip.index} * n_words;
    kernels_.join_rows({bits.foreground, bits.foreground, n_words, row_starts});
    kernels_.list_labels({bits, n_words, label, label_.get() + first});
    starts = row_starts;
    label = label_.get() + first;
  }
  const uint32_t count = kernels_.list_runs({.bits = {bits.foreground, starts},
                                             .width = table_.width(),
                                             .begin = begin_.get() + first,
                                             .end = end_.get() + first});
  if (needs.shapes) {
    const uint64_t* above = y == 0 ? no_pixels_.get() : table_.bits(y - 1).foreground;
    kernels_.shape_runs({above, bits.foreground, n_words, shape_.get() + first});
  }
  return {.y = y,
          .y_end = is_rectangles ? band.y_end : y + 1,
          .count = count,
          .begin = begin_.get() + first,
          .end = end_.get() + first,
          .label = label,
          .shape = shape_.get() + first};
}

/// The runs of the pair of different rows y and y + 1.
RunList PairLister::list_pair(const Strip& strip, uint32_t y) const {
  const uint32_t n_words = table_.n_words();
  const BitRow<const uint64_t> upper = table_.bits(y);
  const BitRow<const uint64_t> lower = table_.bits(y + 1);
  const size_t first = length_ * strip.index + kListPadding;
  uint64_t* either = words_.get() + size_t{strip.index} * n_words;
  std::transform(upper.foreground, upper.foreground + n_words, lower.foreground, either, std::bit_or<>());
  const uint32_t count = kernels_.list_runs({.bits = {either, upper.starts},
                                             .width = table_.width(),
                                             .begin = begin_.get() + first,
                                             .end = end_.get() + first});
  kernels_.sum_runs({.upper = upper.foreground,
                     .lower = lower.foreground,
                     .starts = upper.starts,
                     .n_words = n_words,
                     .n_pixels = n_pixels_.get() + first,
                     .n_upper = n_upper_.get() + first,
                     .column_sum = column_sum_.get() + first});
  return {.y = y,
          .y_end = y + 2,
          .count = count,
          .begin = begin_.get() + first,
          .end = end_.get() + first,
          .label = table_.label() + table_.row(y).begin,
          .n_pixels = n_pixels_.get() + first,
          .n_upper = n_upper_.get() + first,
          .column_sum = column_sum_.get() + first};
}

}  // namespace ccl::host
