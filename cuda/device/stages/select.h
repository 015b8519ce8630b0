// SPDX-License-Identifier: LGPL-2.1-or-later
/// The selecting stage: which components the filter keeps, and which of them get a record.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/counts.h"
#include "ccl/filter.h"
#include "ccl/status.h"
#include "ccl/sums.h"
#include "device/memory.h"

namespace ccl::device {

/// Which marks have a record, see select.cu.
struct Threshold;

class Selection {
 public:
  /// Allocates memory for frames of at most `max_labels` components.
  Status configure(uint32_t max_labels, uint32_t max_components);

  /// Enqueues, from the canonical labels of width × height pixels, the writing of marks[label − 1]; then
  /// select(). With hysteresis, `strong` is a bit image of the strong pixels; else null. All pointers point
  /// to device memory.
  Status mark_and_select(const Filter& filter, const uint32_t* labels, const uint32_t* strong, uint32_t width,
                         uint32_t height, FrameCounts* counts, uint32_t* marks, uint32_t* record_index,
                         cudaStream_t stream);

  /// Enqueues, from counts->n_labels and marks[label − 1], the writing of counts->n_components and of
  /// record_index[label − 1]: ascending from 0, or kNoRecord for components that are not kept and, if more
  /// than max_components are kept, for all but the largest (ties: the smaller label). `record_index` may be
  /// `marks`. All pointers point to device memory.
  Status select(const uint32_t* marks, FrameCounts* counts, uint32_t* record_index, cudaStream_t stream);

 private:
  uint32_t max_labels_ = 0;
  uint32_t max_components_ = 0;
  DeviceArray<uint64_t> tallies_;     ///< per chunk of labels, see select.cu
  DeviceArray<Threshold> threshold_;  ///< one
};

}  // namespace ccl::device
