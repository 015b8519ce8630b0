// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/strip_labeler.h"

#include <algorithm>
#include <numeric>

#include "host/runs/shape.h"
#include "host/unite.h"

namespace ccl::host {

namespace {

const uint8_t* row_of(const InputImage& image, uint32_t y) {
  return image.pixels + y * image.stride;
}

/// Calls visit(run, above, overlap) for each pair of runs of row y and the row above it that touch and have
/// the same segment.
template <typename Visit>
void for_each_link(const RunTable& table, const Settings& settings, uint32_t y, Visit visit) {
  const uint32_t reach = settings.connectivity == Connectivity::k8 ? 1 : 0;
  const bool is_binary = settings.rule.foreground == Foreground::kBinary;
  const uint16_t* begin = table.begin();
  const uint16_t* end = table.end();
  const uint8_t* segment = table.segment();
  const RowRuns row = table.row(y);
  const RowRuns row_above = table.row(y - 1);
  uint32_t above = row_above.begin;
  for (uint32_t run = row.begin; run < row.end; ++run) {
    while (above < row_above.end && end[above] + reach <= begin[run]) {
      ++above;
    }
    // Those that touch this run may touch the next one too, so `above` stays.
    for (uint32_t touching = above; touching < row_above.end && begin[touching] < end[run] + reach;
         ++touching) {
      if (is_binary || segment[touching] == segment[run]) {
        const int overlap = std::min(end[run], end[touching]) - std::max(begin[run], begin[touching]);
        visit(run, touching, static_cast<uint32_t>(std::max(overlap, 0)));
      }
    }
  }
}

}  // namespace

void StripLabeler::label(const FrameJob& job, Strip& strip) const {
  if (is_paired(job.settings)) {
    pairs_.label(job, strip);
  } else {
    label_rows(job, strip);
  }
  if (parents_ != nullptr) {
    open_border(strip.y_begin);
    open_border(strip.y_end - 1);
  }
}

/// Labels of the border's row become their own parents.
void StripLabeler::open_border(uint32_t y) const {
  const RowRuns row = table_.row(y);
  std::for_each(table_.label() + row.begin, table_.label() + row.end,
                [this](uint32_t label) { parents_[label] = label; });
}

void StripLabeler::label_rows(const FrameJob& job, Strip& strip) const {
  uint32_t run = strip.first_run;
  for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
    kernels_.pack_row({.pixels = row_of(job.input, y),
                       .width = table_.width(),
                       .rule = job.settings.rule,
                       .bits = table_.bits(y)});
    if (y > strip.y_begin && repeats_row_above(job, y)) {
      table_.row(y) = table_.row(y - 1);
      continue;
    }
    find_runs(job, y, run);
    run = table_.row(y).end;
    if (y > strip.y_begin) {
      link_to_row_above(job.settings, y);
    }
  }
  flatten(strip);
}

bool StripLabeler::repeats_row_above(const FrameJob& job, uint32_t y) const {
  if (!table_.has_same_pixels(y, y - 1)) {
    return false;
  }
  // Of binary foreground that is all; values may differ where the bits do not.
  return job.settings.rule.foreground == Foreground::kBinary ||
         std::equal(row_of(job.input, y), row_of(job.input, y) + table_.width(), row_of(job.input, y - 1));
}

/// Every run begins as its own root, with no links.
void StripLabeler::find_runs(const FrameJob& job, uint32_t y, uint32_t first_run) const {
  const BitRow<uint64_t> bits = table_.bits(y);
  const uint32_t n_runs = kernels_.list_runs({.bits = {bits.foreground, bits.starts},
                                              .width = table_.width(),
                                              .begin = table_.begin() + first_run,
                                              .end = table_.end() + first_run});
  const uint32_t end = first_run + n_runs;
  table_.row(y) = {first_run, end};
  std::iota(table_.label() + first_run, table_.label() + end, first_run);
  if (needs_shapes(job.settings)) {
    std::fill(table_.shape() + first_run, table_.shape() + end, 0);
  }
  if (job.settings.rule.foreground == Foreground::kValues) {
    std::transform(table_.begin() + first_run, table_.begin() + end, table_.segment() + first_run,
                   [pixels = row_of(job.input, y)](uint16_t x) { return pixels[x]; });
  }
}

void StripLabeler::link_to_row_above(const Settings& settings, uint32_t y) const {
  const bool with_shapes = needs_shapes(settings);
  if (settings.rule.foreground == Foreground::kBinary) {
    const BitRow<uint64_t> above = table_.bits(y - 1);
    const BitRow<uint64_t> row = table_.bits(y);
    kernels_.link_rows({.above = {above.foreground, above.starts},
                        .row = {row.foreground, row.starts},
                        .n_words = table_.n_words(),
                        .first_above = table_.row(y - 1).begin,
                        .first_run = table_.row(y).begin,
                        .begin = table_.begin(),
                        .end = table_.end(),
                        .parent = table_.label(),
                        .shape = table_.shape()},
                       settings.connectivity, with_shapes);
    return;
  }
  for_each_link(table_, settings, y, [&](uint32_t run, uint32_t above, uint32_t overlap) {
    unite(table_.label(), run, above);
    if (with_shapes) {
      table_.shape()[run] += shape_of_link(overlap);
    }
  });
}

/// A parent lies before its child, so it has its label already.
void StripLabeler::flatten(Strip& strip) const {
  uint32_t* labels = table_.label();
  const uint16_t* begin = table_.begin();
  const uint16_t* end = table_.end();
  uint32_t next = strip.first_label;
  table_.for_each_band(strip, [&](const Band& band) {
    for (uint32_t run = band.runs.begin; run < band.runs.end; ++run) {
      const uint32_t parent = labels[run];
      const bool is_root = parent == run;
      // No branch, which noise would mislead: the next label's area is cleared again and again until it is
      // taken.
      areas_[next] = 0;
      const uint32_t label = is_root ? next : labels[parent];
      next += is_root ? 1 : 0;
      labels[run] = label;
      areas_[label] += static_cast<uint32_t>(end[run] - begin[run]) * band.height();
    }
  });
  strip.n_labels = next - strip.first_label;
}

void StripLabeler::merge_upper_border(const Settings& settings, const Strip& strip) const {
  if (is_paired(settings)) {
    pairs_.merge_upper_border(strip, parents_);
    return;
  }
  const bool with_shapes = needs_shapes(settings);
  for_each_link(table_, settings, strip.y_begin, [&](uint32_t run, uint32_t above, uint32_t overlap) {
    unite(parents_, table_.label()[run], table_.label()[above]);
    if (with_shapes) {
      table_.shape()[run] += shape_of_link(overlap);
    }
  });
}

}  // namespace ccl::host
