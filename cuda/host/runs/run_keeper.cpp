// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/run_keeper.h"

#include "ccl/sums.h"

namespace ccl::host {

void keep_runs(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
               const Strip& strip, const uint32_t* record_index, KeptRuns* kept) {
  FrameNeeds rows = needs;
  rows.moments = true;  // as if: overlaps need the runs of each row, not of a pair of rows
  rows.shapes = false;
  uint32_t n_runs = strip.y_begin * table.width();
  const auto keep = [&](const RunList& list) {
    const uint32_t begin = n_runs;
    for (uint32_t i = 0; i < list.count; ++i) {
      const uint32_t record = record_index[list.label[i]];
      kept->runs()[n_runs] = {list.begin[i], list.end[i], record};
      n_runs += record != kNoRecord ? 1 : 0;
    }
    for (uint32_t y = list.y; y < list.y_end; ++y) {
      kept->row(y) = {begin, n_runs};
    }
  };
  const PairLister* lister = labeler.lister();
  table.for_each_band(strip, [&](Band band) {
    if (lister == nullptr) {
      keep(list_band(table, band));
      return;
    }
    for (uint32_t y = band.y; y < band.y_end;) {
      const RunList list = lister->list(rows, strip, band, y);
      keep(list);
      y = list.y_end;
    }
  });
}

}  // namespace ccl::host
