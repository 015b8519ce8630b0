// SPDX-License-Identifier: LGPL-2.1-or-later
/// Which components are left after filtering, and which of them get a record.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "ccl/sums.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device {

/// Which areas have a record, see select.cu.
struct Threshold;

class Selection {
 public:
  /// Takes memory for frames of at most `max_labels` components.
  Status configure(uint32_t max_labels, uint32_t max_components);

  /// Enqueues, from counts->n_labels and areas[label − 1], the writing of counts->n_components and of
  /// record_index[label − 1]: ascending from 0, or kNoRecord for those filtered out and, where more than
  /// max_components are left, for all but the largest (ties: the smaller label). All pointers are to device
  /// memory.
  Status run(const Settings& settings, const uint32_t* areas, FrameCounts* counts, uint32_t* record_index,
             cudaStream_t stream);

 private:
  uint32_t max_labels_ = 0;
  uint32_t max_components_ = 0;
  DeviceArray<uint64_t> tallies_;     ///< per chunk of labels, see select.cu
  DeviceArray<Threshold> threshold_;  ///< one
};

}  // namespace ccl::device
