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

/// The sums of components, and their segments.
struct SumsTable {
  const uint32_t* index;  ///< per label: the place of its sums, or kNoRecord
  uint32_t n_sums;
  Sums* sums;       ///< out, n_sums
  uint8_t* values;  ///< out, n_sums: each component's segment
};

/// Measures the components that have an index. Sums of features that are not named take no time and are 0.
void measure_sums(const LabeledFrame& frame, Connectivity connectivity, uint32_t features,
                  const SumsTable& table);

/// Makes the records of the selected components from the sums of all: those of a label are in the entry
/// label − 1 of `table.sums` and `table.values`.
void make_records(const LabeledFrame& frame, uint32_t features, const RecordTable& table);

}  // namespace ccl::host
