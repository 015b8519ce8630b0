// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the engine reports about a frame, in addition to its records.
#pragma once

#include <cstdint>

#include "ccl/filter.h"

namespace ccl {

/// The same struct from the kernels to FrameResult: a new statistic of the frame is a field here, and the
/// places that count it.
struct FrameCounts {
  uint32_t n_labels = 0;      ///< components in the frame
  uint32_t n_components = 0;  ///< those that the filter keeps, however many records the table holds
  uint32_t n_iterations = 0;  ///< over the whole frame, of an iterating labeler; 0 for all others
  uint32_t level = 0;         ///< the threshold that Foreground::kOtsu found; 0 with all other rules
  uint32_t relearning = 0;    ///< 1 if the background model learns again, so that nothing is foreground
  /// Per FilterCondition: components that were not kept because they failed it, and none before it.
  /// Components without a strong pixel (hysteresis) do not count.
  uint32_t n_removed[kFilterConditions] = {};

  bool operator==(const FrameCounts&) const = default;
};

}  // namespace ccl
