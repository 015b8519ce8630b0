// SPDX-License-Identifier: LGPL-2.1-or-later
/// Maps of records: what the track stage keeps of a frame's pixels, for the next frame and for painting.
#pragma once

#include <cstdint>

namespace ccl::device {

/// A cell per pixel: 0 where there is no kept component, else 1 + its record index. In a frame with more
/// components than records, unrecorded() in all kept components.
struct IndexMaps {
  void* maps[2];           ///< of uint16_t or uint32_t, dense
  const uint32_t* newest;  ///< which one has the last frame that associate_frame() has seen
  uint32_t* written;       ///< which one has the last frame that count_overlaps() has seen
  bool is_wide;            ///< cells are uint32_t
  uint32_t max_components;

  /// Without an index that a kernel would need its parameters in memory for.
  constexpr void* map(uint32_t i) const { return i == 0 ? maps[0] : maps[1]; }

  constexpr uint32_t unrecorded() const { return max_components + 1; }

  /// Whether values up to unrecorded() need wide cells.
  static constexpr bool needs_wide(uint32_t max_components) { return max_components >= UINT16_MAX; }
};

}  // namespace ccl::device
