// SPDX-License-Identifier: LGPL-2.1-or-later
/// Records by ascending label, from records in any order.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/component.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device::runs {

class RecordOrder {
 public:
  /// Takes memory for `max_components` records of labels up to `max_labels`.
  Status configure(uint32_t max_components, uint32_t max_labels);

  /// Where records are appended, max_components of them.
  CclComponent* appended() const { return appended_.data(); }
  /// A bit per label, to be set where a record was appended, or would have been if there were room.
  uint32_t* is_left() const { return is_left_.data(); }

  /// Enqueues the writing of the counts->n_components appended records to `records`. Writes nothing when
  /// there are more than max_components.
  Status run(const FrameCounts* counts, CclComponent* records, cudaStream_t stream) const;

 private:
  uint32_t max_components_ = 0;
  DeviceArray<CclComponent> appended_;
  DeviceArray<uint32_t> is_left_;
  DeviceArray<uint32_t> left_before_;  ///< per word of `is_left_`: the bits before it
};

}  // namespace ccl::device::runs
