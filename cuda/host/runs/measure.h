// SPDX-License-Identifier: LGPL-2.1-or-later
/// The third stage of the CPU's `runs`: records of the selected components, from runs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/runs/pair_lister.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"
#include "host/stages/select.h"

namespace ccl::host {

/// What the records of a frame are made from, and where. Arrays are indexed by local label.
struct MeasureJob {
  const Config& config;
  const Settings& settings;
  const uint32_t* areas;  ///< 0 of parts
  uint32_t* slots;        ///< of roots: their record, or kNoRecord; written for parts
  uint32_t n_records;
  std::byte* sums;        ///< room for as many Sums as there are records and parts
  CclComponent* records;  ///< out
};

/// Makes the records of components that have their root in the strip. Their runs in other strips are still
/// missing; those that the strip has of others are added up. `own_records` are those of the strip's roots.
/// Threads may each do another strip. `lister` lists the rows of pairs.
void measure_strip(const RunTable& table, const PairLister& lister, const StripMerger& merger,
                   const Strip& strip, const IndexSpan& own_records, const MeasureJob& job);

/// After all strips: completes the records of components that lie in several.
void measure_parts(const RunTable& table, const StripMerger& merger, const MeasureJob& job);

}  // namespace ccl::host
