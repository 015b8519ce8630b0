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

/// See select.cu.
struct SelectMemory;

/// What marks are made from, and where they go. All pointers point to device memory.
struct MarkJob {
  const uint32_t* labels;  ///< canonical, of width × height pixels
  uint32_t width;
  uint32_t height;
  const uint32_t* strong;  ///< with hysteresis, a bit image of the strong pixels; else null
  const Sums* sums;        ///< per label; may be null if the filter reads areas only
  FrameCounts* counts;
  uint32_t* marks;         ///< out, per label
  uint32_t* record_index;  ///< out, per label
};

class Selection {
 public:
  /// Allocates memory for frames of at most `max_labels` components.
  Status configure(uint32_t max_labels, uint32_t max_components);

  /// Enqueues the writing of marks[label − 1] and of counts->n_removed; then select().
  Status mark_and_select(const Filter& filter, const MarkJob& job, cudaStream_t stream);

  /// Enqueues the writing of 0 to the marks[label − 1] of all but the `top_n` largest, and their number,
  /// which is counts->n_removed[kTopN]. counts->n_components and `record_index` are then as after select().
  Status select_top(uint32_t top_n, uint32_t* marks, FrameCounts* counts, uint32_t* record_index,
                    cudaStream_t stream);

  /// Enqueues, from counts->n_labels and marks[label − 1], the writing of counts->n_components and of
  /// record_index[label − 1]: ascending from 0, or kNoRecord for components that are not kept and, if more
  /// than max_components are kept, for all but the largest (ties: the smaller label). `record_index` may be
  /// `marks`. All pointers point to device memory.
  Status select(uint32_t* marks, FrameCounts* counts, uint32_t* record_index, cudaStream_t stream) {
    return enqueue(max_components_, /*drops_others=*/false, marks, counts, record_index, stream);
  }

 private:
  Status drop_weak(const MarkJob& job, cudaStream_t stream);
  Status enqueue(uint32_t n_wanted, bool drops_others, uint32_t* marks, FrameCounts* counts,
                 uint32_t* record_index, cudaStream_t stream);

  uint32_t max_labels_ = 0;
  uint32_t max_components_ = 0;
  DeviceArray<SelectMemory> memory_;  ///< one
};

}  // namespace ccl::device
