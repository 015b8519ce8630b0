// SPDX-License-Identifier: LGPL-2.1-or-later
/// The components of a frame in device memory, as a pipeline leaves them for later stages.
#pragma once

#include <cstdint>

namespace ccl::device {

/// Which record a label has is found in one of three ways; the pointers of the others are null. A frame with
/// more components than records has no records here, only labels that are kept or not.
struct FrameLabels {
  const uint32_t* labels = nullptr;  ///< per pixel, canonical: of all components, kept or not

  // 1. All pointers are null: all components are kept, and the record of label i has the index i − 1.

  // 2. The index is the number of kept labels before.
  const uint32_t* is_kept = nullptr;      ///< bit i: label i is kept
  const uint32_t* kept_before = nullptr;  ///< per word of is_kept: the bits before it

  // 3. Per label − 1.
  const uint32_t* marks = nullptr;  ///< 0: not kept; null after Pipeline::enqueue_overflow()
  /// The records of those that are kept; kNoRecord for the others, and for those that found no room in the
  /// table.
  const uint32_t* record_index = nullptr;

  /// With has_distances(): per pixel the squared distance, of all components; `marks` are there then.
  const uint32_t* squares = nullptr;
};

}  // namespace ccl::device
