// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the engine reports about a frame, in addition to its records.
#pragma once

#include <cstdint>

namespace ccl {

/// The same struct from the kernels to FrameResult: a new statistic of the frame is a field here, and the
/// places that count it.
struct FrameCounts {
  uint32_t n_labels = 0;      ///< components in the frame
  uint32_t n_components = 0;  ///< those that the filter keeps, however many records the table holds
  uint32_t n_iterations = 0;  ///< over the whole frame, of an iterating labeler; 0 for all others

  bool operator==(const FrameCounts&) const = default;
};

}  // namespace ccl
