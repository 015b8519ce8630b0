// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the track stage keeps of a frame, from the runs of the CPU's `runs`.
#pragma once

#include "ccl/sums.h"
#include "host/runs/strip_labeler.h"
#include "host/stages/kept_runs.h"

namespace ccl::host {

/// Keeps the runs of a strip, list after list from the top.
class RunKeeper {
 public:
  RunKeeper(const RunTable& table, const Strip& strip, KeptRuns* kept)
      : kept_(kept), n_runs_(strip.y_begin * table.width()) {}

  /// `record_index` has an entry per local label.
  void keep(const RunList& list, const uint32_t* record_index) {
    const uint32_t begin = n_runs_;
    KeptRun* out = kept_->runs() + begin;
    for (uint32_t i = 0; i < list.count; ++i) {
      const uint32_t record = record_index[list.label[i]];
      *out = {list.begin[i], list.end[i], record};
      out += record != kNoRecord ? 1 : 0;
    }
    n_runs_ = static_cast<uint32_t>(out - kept_->runs());
    for (uint32_t y = list.y; y < list.y_end; ++y) {
      kept_->row(y) = {begin, n_runs_};
    }
  }

 private:
  KeptRuns* kept_;
  uint32_t n_runs_;
};

/// Keeps the runs of a labelled strip. `record_index` has an entry per local label, parts too. Threads may
/// each do another strip.
void keep_runs(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
               const Strip& strip, const uint32_t* record_index, KeptRuns* kept);

/// While components are measured, the record index of a part is that of its sums: MeasureJob::n_records + n
/// for the n-th part of the frame. Replaces it by record_of_part[n], and drops the runs of parts without a
/// record.
void replace_parts(const Strip& strip, uint32_t n_records, const uint32_t* record_of_part, KeptRuns* kept);

}  // namespace ccl::host
