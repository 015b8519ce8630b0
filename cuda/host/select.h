// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components get a record.
#pragma once

#include <cstdint>

#include "ccl/config.h"
#include "ccl/sums.h"

namespace ccl::host {

struct Selection {
  uint32_t n_components;  ///< left after filtering by area
  uint32_t n_records;     ///< the smaller one of n_components and the table's length
};

/// Gives records to the components that pass the filter or, when there are more than `max_components`, to
/// the largest of them by area, of equal ones to those with smaller labels.
///
/// `areas` holds the area of label l at index l, for labels 1..n_labels. Written at the same indices: the
/// component's place among the records, which ascend by label, or kNoRecord. Entry 0 is kNoRecord.
Selection select(const uint32_t* areas, uint32_t n_labels, const Settings& settings, uint32_t max_components,
                 uint32_t* record_of_label);

}  // namespace ccl::host
