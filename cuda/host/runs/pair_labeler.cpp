// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/pair_labeler.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "host/memory.h"
#include "host/unite.h"

namespace ccl::host {

PairLabeler::PairLabeler(const Kernels& kernels, RunTable& table, uint32_t* areas)
    : kernels_(kernels),
      table_(table),
      areas_(areas),
      no_pixels_(std::make_unique<uint64_t[]>(table.n_words())),
      scratch_(uninitialized<uint32_t>(5 * size_t{table.width()} * table.strips().size())),
      lister_(kernels, table) {}

PairLabeler::Scratch PairLabeler::scratch_of(const Strip& strip) const {
  const size_t width = table_.width();
  uint32_t* scratch = scratch_.get() + 5 * width * strip.index;
  return {scratch, scratch + width, scratch + 2 * width, scratch + 3 * width, scratch + 4 * width};
}

/// A pair of equal rows that repeats the pair above shares its runs, which become rectangles.
void PairLabeler::label(const RowSource& source, const FrameNeeds& needs, Strip& strip) const {
  const uint32_t n_words = table_.n_words();
  uint32_t run = strip.first_run;
  bool was_even = false;
  for (uint32_t y = strip.y_begin; y < strip.y_end; y += 2) {
    const uint32_t y_end = std::min(y + 2, strip.y_end);
    for (uint32_t row = y; row < y_end; ++row) {
      read_row(kernels_, source, table_.width(), row, {table_.bits(row).foreground, nullptr});
    }
    const bool is_even = y_end == y + 1 || table_.has_same_pixels(y, y + 1);
    const bool is_repeated = was_even && is_even && table_.has_same_pixels(y - 1, y);
    was_even = is_even;
    if (!is_repeated) {
      const uint64_t* upper = table_.bits(y).foreground;
      const uint64_t* lower = y_end == y + 1 ? no_pixels_.get() : table_.bits(y + 1).foreground;
      const uint32_t n_runs = kernels_.join_rows({upper, lower, n_words, table_.bits(y).starts});
      table_.row(y) = {run, run + n_runs};
      std::iota(table_.label() + run, table_.label() + run + n_runs, run);
      run += n_runs;
      if (y > strip.y_begin) {
        link_to_pair_above(y);
      }
    } else {
      table_.row(y) = table_.row(y - 1);
      std::copy_n(table_.bits(y - 1).starts, n_words, table_.bits(y).starts);
    }
    if (y_end == y + 2) {
      table_.row(y + 1) = table_.row(y);
      std::copy_n(table_.bits(y).starts, n_words, table_.bits(y + 1).starts);
    }
  }
  needs.areas ? flatten<true>(strip) : flatten<false>(strip);
}

void PairLabeler::link_to_pair_above(uint32_t y) const {
  const BitRow<uint64_t> above = table_.bits(y - 1);
  const BitRow<uint64_t> row = table_.bits(y);
  kernels_.link_pairs({.above = {above.foreground, above.starts},
                       .row = {row.foreground, row.starts},
                       .n_words = table_.n_words(),
                       .first_above = table_.row(y - 1).begin,
                       .first_run = table_.row(y).begin,
                       .begin = nullptr,
                       .end = nullptr,
                       .parent = table_.label(),
                       .shape = nullptr});
}

/// A parent lies before its child, so the parent already has its label. New labels ascend by their leftmost
/// runs. This is the right order unless one of these runs has no pixel in the upper row.
template <bool kWithAreas>
void PairLabeler::flatten(Strip& strip) const {
  uint32_t* labels = table_.label();
  const Scratch scratch = scratch_of(strip);
  uint32_t next = strip.first_label;
  table_.for_each_band(strip, [&](const Band& band) {
    if constexpr (kWithAreas) {
      count_pixels(band, scratch);
    }
    const uint32_t first_new = next;
    uint32_t run = band.runs.begin;
    // The first runs, or all of them, may have no run above. They need no look-up.
    for (; run < band.runs.end && labels[run] == run; ++run) {
      if constexpr (kWithAreas) {
        areas_[next] = scratch.n_pixels[run - band.runs.begin];
      }
      labels[run] = next++;
    }
    for (; run < band.runs.end; ++run) {
      const uint32_t parent = labels[run];
      const uint32_t label_above = labels[parent];
      const uint32_t is_root = parent == run ? 1 : 0;
      const uint32_t label = is_root != 0 ? next : label_above;
      if constexpr (kWithAreas) {
        // Without a branch, which noise would mislead: the next label's area is cleared for every run until
        // a run takes the label.
        areas_[next] = 0;
        areas_[label] += scratch.n_pixels[run - band.runs.begin];
      }
      next += is_root;
      labels[run] = label;
    }
    if (next - first_new > 1 && has_late_runs(band)) {
      if constexpr (!kWithAreas) {
        count_pixels(band, scratch);
      }
      order_labels<kWithAreas>(band.runs, scratch, first_new, next);
    }
  });
  strip.n_labels = next - strip.first_label;
}

/// Whether there may be a late run: one without a pixel in the upper row. The addition starts a carry at the
/// start of each run. The carry passes the columns without an upper pixel and stops at the first column with
/// one or, if there is none, at the last column before the next start. A run that reaches the end of the word
/// without an upper pixel may have one in the next word, but counts as late.
bool PairLabeler::has_late_runs(const Band& band) const {
  const BitRow<const uint64_t> bits = std::as_const(table_).bits(band.y);
  uint64_t has_late = 0;
  for (uint32_t i = 0; i < table_.n_words(); ++i) {
    const uint64_t upper = bits.foreground[i];
    const uint64_t starts = bits.starts[i];
    const uint64_t ends = starts >> 1;
    const uint64_t sum = (~upper & ~ends) + starts;
    has_late |= (sum & ~upper & ends) | (sum < starts ? 1 : 0);
  }
  return has_late != 0;
}

void PairLabeler::count_pixels(const Band& band, const Scratch& scratch) const {
  const bool is_pair = !table_.is_rectangles(band);
  kernels_.count_pixels({.upper = table_.bits(band.y).foreground,
                         .lower = is_pair ? table_.bits(band.y + 1).foreground : no_pixels_.get(),
                         .starts = table_.bits(band.y).starts,
                         .n_words = table_.n_words(),
                         .n_pixels = scratch.n_pixels,
                         .n_upper = scratch.n_upper});
  if (!is_pair && band.height() > 1) {
    const uint32_t n_runs = band.runs.end - band.runs.begin;
    std::transform(scratch.n_pixels, scratch.n_pixels + n_runs, scratch.n_pixels,
                   [n = band.height()](uint32_t n_pixels) { return n * n_pixels; });
  }
}

/// Sorts the labels first_new..end − 1, which are new in these runs, by their components' first pixels:
/// components with a pixel in the upper row first, then the others. Within both groups the order is right.
template <bool kWithAreas>
void PairLabeler::order_labels(const RowRuns& runs, const Scratch& scratch, uint32_t first_new,
                               uint32_t end) const {
  uint32_t* labels = table_.label() + runs.begin;
  const uint32_t n_new = end - first_new;
  uint32_t n_listed = 0;
  for (uint32_t i = 0; i < runs.end - runs.begin; ++i) {
    scratch.listed[n_listed] = i;
    n_listed += labels[i] >= first_new ? 1 : 0;
  }
  uint32_t next = first_new;
  std::fill_n(scratch.ordered, n_new, 0);
  for (uint32_t k = 0; k < n_listed; ++k) {
    const uint32_t i = scratch.listed[k];
    uint32_t& ordered = scratch.ordered[labels[i] - first_new];
    const uint32_t is_next = (scratch.n_upper[i] != 0 ? 1u : 0u) & (ordered == 0 ? 1u : 0u);
    ordered += next & (0 - is_next);
    next += is_next;
  }
  for (uint32_t k = 0; k < n_new; ++k) {
    const uint32_t is_next = scratch.ordered[k] == 0 ? 1 : 0;
    scratch.ordered[k] += next & (0 - is_next);
    next += is_next;
  }
  if constexpr (kWithAreas) {
    std::copy_n(areas_ + first_new, n_new, scratch.areas);
    for (uint32_t k = 0; k < n_new; ++k) {
      areas_[scratch.ordered[k]] = scratch.areas[k];
    }
  }
  for (uint32_t k = 0; k < n_listed; ++k) {
    uint32_t& label = labels[scratch.listed[k]];
    label = scratch.ordered[label - first_new];
  }
}

void PairLabeler::merge_upper_border(const FrameNeeds& /*needs*/, const Strip& strip,
                                     uint32_t* parents) const {
  const uint32_t* above = table_.label() + table_.row(strip.y_begin - 1).begin;
  const uint32_t* below = table_.label() + table_.row(strip.y_begin).begin;
  const BitRow<uint64_t> bits_above = table_.bits(strip.y_begin - 1);
  const BitRow<uint64_t> bits_below = table_.bits(strip.y_begin);
  uint32_t run_above = 0;  // one more than the last run that has started
  uint32_t run_below = 0;
  bool was_above = false;  // whether the column before has a pixel
  bool was_below = false;
  for (uint32_t x = 0; x < table_.width(); ++x) {
    const bool is_above = has_bit(bits_above.foreground, x);
    const bool is_below = has_bit(bits_below.foreground, x);
    run_above += has_bit(bits_above.starts, x) ? 1 : 0;
    run_below += has_bit(bits_below.starts, x) ? 1 : 0;
    if ((is_below && (is_above || was_above)) || (is_above && was_below)) {
      unite(parents, below[run_below - 1], above[run_above - 1]);
    }
    was_above = is_above;
    was_below = is_below;
  }
}

}  // namespace ccl::host
