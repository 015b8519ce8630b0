// SPDX-License-Identifier: LGPL-2.1-or-later
/// The third stage of the CPU's `runs`: sums of the selected components, from runs.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/pair_lister.h"
#include "host/run_table.h"

namespace ccl::host {

/// Where a strip's local components add up. Arrays are indexed by local label.
struct SumSlots {
  const uint32_t* slots;  ///< an index into `sums`, or kNoRecord
  Sums* sums;
  uint32_t n_records;     ///< slots below this are those of records
  CclComponent* records;  ///< only `value` is written
  /// How many of `sums` are cleared already. All, or none: then there is one strip, whose records come up in
  /// ascending order, and they are cleared shortly before, so that they pass through the caches once.
  uint32_t n_cleared;
};

/// Adds the strip's runs to the sums of their components. `lister` lists the rows of pairs.
void measure_runs(const RunTable& table, const PairLister& lister, const Strip& strip,
                  const Settings& settings, const SumSlots& slots);

}  // namespace ccl::host
