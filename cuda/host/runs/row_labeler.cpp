// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/row_labeler.h"

#include <algorithm>
#include <numeric>

#include "host/runs/shape.h"
#include "host/unite.h"

namespace ccl::host {

namespace {

/// Calls visit(run, above, overlap) for each pair of runs of row y and the row above it that touch and have
/// the same segment.
template <typename Visit>
void for_each_link(const RunTable& table, const FrameNeeds& needs, uint32_t y, Visit visit) {
  const uint32_t reach = needs.connectivity == Connectivity::k8 ? 1 : 0;
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
    // A run that touches this one may touch the next one too, so `above` stays.
    for (uint32_t touching = above; touching < row_above.end && begin[touching] < end[run] + reach;
         ++touching) {
      if (!needs.values || segment[touching] == segment[run]) {
        const int overlap = std::min(end[run], end[touching]) - std::max(begin[run], begin[touching]);
        visit(run, touching, static_cast<uint32_t>(std::max(overlap, 0)));
      }
    }
  }
}

}  // namespace

void RowLabeler::label(const RowSource& source, const FrameNeeds& needs, Strip& strip) const {
  uint32_t run = strip.first_run;
  for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
    read_row(kernels_, source, table_.width(), y, table_.bits(y));
    if (y > strip.y_begin && repeats_row_above(source, needs, y)) {
      table_.row(y) = table_.row(y - 1);
      continue;
    }
    find_runs(source, needs, y, run);
    run = table_.row(y).end;
    if (y > strip.y_begin) {
      link_to_row_above(needs, y);
    }
  }
  flatten(strip);
}

bool RowLabeler::repeats_row_above(const RowSource& source, const FrameNeeds& needs, uint32_t y) const {
  if (!table_.has_same_pixels(y, y - 1)) {
    return false;
  }
  // Equal bits are equal binary pixels. Values may differ although the bits are equal.
  return !needs.values ||
         std::equal(source.pixels(y), source.pixels(y) + table_.width(), source.pixels(y - 1));
}

/// Every run starts as its own root, with no links.
void RowLabeler::find_runs(const RowSource& source, const FrameNeeds& needs, uint32_t y,
                           uint32_t first_run) const {
  const BitRow<uint64_t> bits = table_.bits(y);
  const uint32_t n_runs = kernels_.list_runs({.bits = {bits.foreground, bits.starts},
                                              .width = table_.width(),
                                              .begin = table_.begin() + first_run,
                                              .end = table_.end() + first_run});
  const uint32_t end = first_run + n_runs;
  table_.row(y) = {first_run, end};
  std::iota(table_.label() + first_run, table_.label() + end, first_run);
  if (needs.shapes) {
    std::fill(table_.shape() + first_run, table_.shape() + end, 0);
  }
  if (needs.values) {
    std::transform(table_.begin() + first_run, table_.begin() + end, table_.segment() + first_run,
                   [pixels = source.pixels(y)](uint16_t x) { return pixels[x]; });
  }
}

void RowLabeler::link_to_row_above(const FrameNeeds& needs, uint32_t y) const {
  if (!needs.values) {
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
                       needs.connectivity, needs.shapes);
    return;
  }
  for_each_link(table_, needs, y, [&](uint32_t run, uint32_t above, uint32_t overlap) {
    unite(table_.label(), run, above);
    if (needs.shapes) {
      table_.shape()[run] += shape_of_link(overlap);
    }
  });
}

/// A parent lies before its child, so the parent already has its label.
void RowLabeler::flatten(Strip& strip) const {
  uint32_t* labels = table_.label();
  const uint16_t* begin = table_.begin();
  const uint16_t* end = table_.end();
  uint32_t next = strip.first_label;
  table_.for_each_band(strip, [&](const Band& band) {
    for (uint32_t run = band.runs.begin; run < band.runs.end; ++run) {
      const uint32_t parent = labels[run];
      const bool is_root = parent == run;
      // Without a branch, which noise would mislead: the next label's area is cleared for every run until a
      // run takes the label.
      areas_[next] = 0;
      const uint32_t label = is_root ? next : labels[parent];
      next += is_root ? 1 : 0;
      labels[run] = label;
      areas_[label] += static_cast<uint32_t>(end[run] - begin[run]) * band.height();
    }
  });
  strip.n_labels = next - strip.first_label;
}

void RowLabeler::merge_upper_border(const FrameNeeds& needs, const Strip& strip, uint32_t* parents) const {
  for_each_link(table_, needs, strip.y_begin, [&](uint32_t run, uint32_t above, uint32_t overlap) {
    unite(parents, table_.label()[run], table_.label()[above]);
    if (needs.shapes) {
      table_.shape()[run] += shape_of_link(overlap);
    }
  });
}

}  // namespace ccl::host
