// SPDX-License-Identifier: LGPL-2.1-or-later
/// The stage that measures the selected components.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/sums.h"
#include "host/labelers/labeler.h"

namespace ccl::host {

/// A frame between labelling and painting.
struct LabeledFrame {
  const SegmentSource& segments;
  const uint32_t* labels;  ///< canonical, width × height, dense
  uint32_t n_labels;
};

/// What the records need besides the frame. Arrays are the engine's.
struct RecordTable {
  const uint32_t* areas;            ///< from number()
  const uint32_t* record_of_label;  ///< from Selector
  uint32_t n_records;
  Sums* sums;             ///< scratch, n_records
  uint8_t* values;        ///< scratch, n_records: each record's segment
  CclComponent* records;  ///< out, n_records, ascending labels
};

/// Fills the records of the selected components. Features not asked for in `settings` take no time and
/// are 0.
void measure_records(const LabeledFrame& frame, const Settings& settings, const RecordTable& table);

}  // namespace ccl::host
