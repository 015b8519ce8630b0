// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics on the CPU: the sums of the source's values, run by run.
#pragma once

#include <cstdint>

#include "ccl/grey_sums.h"
#include "ccl/segment/luma.h"
#include "host/stages/labeled_frame.h"

namespace ccl::host {

/// Where the values of a frame are, and where their statistics go.
struct GreyJob {
  SourcePixels source = {};    ///< see grey_source()
  CclGrey* records = nullptr;  ///< room for as many as there are component records; null: none are made

  bool is_wanted() const { return records != nullptr; }
};

/// Adds the values of columns x0..x1 − 1 of row y.
void add_values(const SourcePixels& source, uint32_t y, uint32_t x0, uint32_t x1, GreySums* sums);

/// Makes the grey records of the components that have one of the `n_records` records. `sums` is scratch, one
/// per record; `record_index` has an entry per label.
void measure_grey(const LabeledFrame& frame, const GreyJob& job, const uint32_t* record_index,
                  const CclComponent* records, uint32_t n_records, GreySums* sums);

}  // namespace ccl::host
