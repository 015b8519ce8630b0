// SPDX-License-Identifier: LGPL-2.1-or-later
/// The measuring stage of the CPU's `runs`: records of the selected components, from runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/runs/strip_labeler.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"
#include "host/stages/kept_runs.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// What the records of a frame are made from, and where they go. Arrays are indexed by local label.
struct MeasureJob {
  const Config& config;
  uint32_t features;
  const FrameNeeds& needs;
  const StripLabeler& labeler;  ///< which labelled the frame
  const RunTable& table;
  const StripMerger& merger;
  const uint32_t* marks;   ///< 0 of parts
  uint32_t* record_index;  ///< of roots: from Selector; written for parts: where their sums are
  uint32_t n_records;
  std::byte* sums;        ///< room for as many Sums as there are records and parts, in this order
  CclComponent* records;  ///< out
  KeptRuns* kept;         ///< out, if not null and the frame needs rows: see replace_parts()
};

/// Makes the records of components that have their root in the strip. The sums of runs in other strips are
/// still missing from them; sums of this strip's parts are kept for measure_parts(). `own_records` are the
/// records of the strip's roots. Threads may each do another strip.
void measure_strip(const MeasureJob& job, const Strip& strip, const IndexSpan& own_records);

/// After all strips: completes the records of components that lie in several.
void measure_parts(const MeasureJob& job);

}  // namespace ccl::host
