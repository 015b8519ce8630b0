// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that measures the selected components.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/stages/labeled_frame.h"

namespace ccl::host {

/// What the records are made from, except the frame, and where they go. The pipeline owns the arrays.
struct RecordTable {
  const uint32_t* marks;         ///< per label
  const uint32_t* record_index;  ///< per label, from Selector
  uint32_t n_records;
  Sums* sums;             ///< scratch, n_records
  uint8_t* values;        ///< scratch, n_records: each record's segment
  CclComponent* records;  ///< out, n_records, ascending labels
};

/// Fills the records of the selected components. Features that `settings` does not name take no time and are
/// 0.
void measure_records(const LabeledFrame& frame, const Settings& settings, const RecordTable& table);

}  // namespace ccl::host
