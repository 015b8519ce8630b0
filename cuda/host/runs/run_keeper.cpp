// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/run_keeper.h"

namespace ccl::host {

void keep_runs(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
               const Strip& strip, const uint32_t* record_index, KeptRuns* kept) {
  RunKeeper keeper(table, strip, kept);
  for_each_row_list(table, labeler, needs, strip,
                    [&](const RunList& list) { keeper.keep(list, record_index); });
}

void replace_parts(const Strip& strip, uint32_t n_records, const uint32_t* record_of_part, KeptRuns* kept) {
  KeptRuns::Row from = {};
  KeptRuns::Row to = {};
  to.end = kept->row(strip.y_begin).begin;
  for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
    KeptRuns::Row& row = kept->row(y);
    if (y == strip.y_begin || row != from) {
      from = row;
      to.begin = to.end;
      for (uint32_t i = from.begin; i < from.end; ++i) {
        KeptRun run = kept->runs()[i];
        run.record = run.record < n_records ? run.record : record_of_part[run.record - n_records];
        kept->runs()[to.end] = run;
        to.end += run.record != kNoRecord ? 1 : 0;
      }
    }
    row = to;
  }
}

}  // namespace ccl::host
