// SPDX-License-Identifier: LGPL-2.1-or-later
/// Maps of records: what the track stage keeps of a frame's pixels, for the next frame and for painting.
#pragma once

#include <cstdint>

#include "ccl/tracking.h"

namespace ccl::device {

/// A cell per pixel: 0 where there is no kept component, else 1 + its record index. In a frame with more than
/// max_components, unrecorded() in all kept components.
struct IndexMaps {
  using Cell = uint16_t;

  Cell* maps[2];            ///< dense
  const uint32_t* newest;   ///< which one has the last frame that associate_frame() has seen
  uint32_t* written;        ///< which one has the last frame that count_overlaps() has seen
  uint32_t max_components;  ///< TrackSizes::max_components

  /// Without an index that a kernel would need its parameters in memory for.
  constexpr Cell* map(uint32_t i) const { return i == 0 ? maps[0] : maps[1]; }

  constexpr uint32_t unrecorded() const { return max_components + 1; }
  static_assert(kMaxTracks < UINT16_MAX);
};

}  // namespace ccl::device
