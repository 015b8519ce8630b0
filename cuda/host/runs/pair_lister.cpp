// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/pair_lister.h"

#include <algorithm>
#include <functional>

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

RunList PairLister::list_rectangles(const Strip& strip, const Band& band, bool with_shapes) const {
  return list(strip, band, table_.bits(band.y).starts, table_.label() + band.runs.begin, with_shapes);
}

RunList PairLister::list_row(const Strip& strip, uint32_t y, bool with_shapes) const {
  const uint32_t n_words = table_.n_words();
  const BitRow<const uint64_t> bits = table_.bits(y);
  const RowRuns runs = table_.row(y);
  uint64_t* starts = words_.get() + size_t{strip.index} * n_words;
  uint32_t* label = label_.get() + length_ * strip.index + kListPadding;
  kernels_.join_rows({bits.foreground, bits.foreground, n_words, starts});
  kernels_.list_labels({bits, n_words, table_.label() + runs.begin, label});
  return list(strip, {y, y + 1, runs}, starts, label, with_shapes);
}

/// The list of `rows`, whose runs begin at `starts` and have these labels.
RunList PairLister::list(const Strip& strip, const Band& rows, const uint64_t* starts, const uint32_t* label,
                         bool with_shapes) const {
  const uint32_t n_words = table_.n_words();
  const uint64_t* foreground = table_.bits(rows.y).foreground;
  const size_t first = length_ * strip.index + kListPadding;
  const uint32_t count = kernels_.list_runs({.bits = {foreground, starts},
                                             .width = table_.width(),
                                             .begin = begin_.get() + first,
                                             .end = end_.get() + first});
  if (with_shapes) {
    const uint64_t* above = rows.y == 0 ? no_pixels_.get() : table_.bits(rows.y - 1).foreground;
    kernels_.shape_runs({above, foreground, n_words, shape_.get() + first});
  }
  return {.y = rows.y,
          .y_end = rows.y_end,
          .count = count,
          .begin = begin_.get() + first,
          .end = end_.get() + first,
          .label = label,
          .shape = shape_.get() + first};
}

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
