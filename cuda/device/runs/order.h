// SPDX-License-Identifier: LGPL-2.1-or-later
/// Sorts records by label.
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
  /// Allocates memory for `max_components` records with labels up to `max_labels`.
  Status configure(uint32_t max_components, uint32_t max_labels);

  /// Where records are appended, max_components of them.
  CclComponent* appended() const { return appended_.data(); }
  /// A bit per label: set if a record was appended, or would have been if there were room.
  uint32_t* is_kept() const { return is_kept_.data(); }

  /// Per word of is_kept(), after run(): the bits before it.
  const uint32_t* kept_before() const { return kept_before_.data(); }

  /// Enqueues the writing of the counts->n_components appended records to `records`. Nothing is written if
  /// there are more than max_components.
  Status run(const FrameCounts* counts, CclComponent* records, cudaStream_t stream) const;

 private:
  uint32_t max_components_ = 0;
  DeviceArray<CclComponent> appended_;
  DeviceArray<uint32_t> is_kept_;
  DeviceArray<uint32_t> kept_before_;  ///< per word of `is_kept_`: the bits before it
};

}  // namespace ccl::device::runs
