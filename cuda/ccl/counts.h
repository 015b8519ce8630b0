// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the engine reports about a frame, in addition to its records.
#pragma once

#include <cstdint>

#include "ccl/filter.h"

namespace ccl {

/// The same struct from the kernels to FrameResult: a new statistic of the frame is a field here with its row
/// below, and the places that count it.
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

struct FrameCountField {
  const char* name;
  uint32_t (*value)(const FrameCounts&);
};

/// Every field but n_removed, to print counts.
inline constexpr FrameCountField kFrameCountFields[] = {
    {"n_labels", [](const FrameCounts& counts) { return counts.n_labels; }},
    {"n_components", [](const FrameCounts& counts) { return counts.n_components; }},
    {"n_iterations", [](const FrameCounts& counts) { return counts.n_iterations; }},
    {"level", [](const FrameCounts& counts) { return counts.level; }},
    {"relearning", [](const FrameCounts& counts) { return counts.relearning; }},
};
static_assert(sizeof(kFrameCountFields) / sizeof(FrameCountField) + kFilterConditions ==
              sizeof(FrameCounts) / sizeof(uint32_t));

}  // namespace ccl
