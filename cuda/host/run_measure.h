// SPDX-License-Identifier: LGPL-2.1-or-later
/// The third stage of the CPU's `runs`: sums of the selected components, from runs.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/run_table.h"

namespace ccl::host {

/// Where a strip's local components add up. Arrays are indexed by local label.
struct SumSlots {
  const uint32_t* slots;  ///< an index into `sums`, or kNoRecord
  Sums* sums;
  uint32_t n_records;     ///< slots below this are those of records
  CclComponent* records;  ///< only `value` is written
};

/// Adds the strip's runs to the sums of their components.
void measure_runs(const RunTable& table, const Strip& strip, const Settings& settings, const SumSlots& slots);

}  // namespace ccl::host
