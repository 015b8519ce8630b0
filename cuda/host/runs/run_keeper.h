// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the track stage keeps of a frame, from the runs of the CPU's `runs`.
#pragma once

#include "host/runs/strip_labeler.h"
#include "host/stages/kept_runs.h"

namespace ccl::host {

/// Writes the rows of a labelled strip. `record_index` has an entry per local label, parts too. Threads may
/// each do another strip.
void keep_runs(const RunTable& table, const StripLabeler& labeler, const FrameNeeds& needs,
               const Strip& strip, const uint32_t* record_index, KeptRuns* kept);

}  // namespace ccl::host
