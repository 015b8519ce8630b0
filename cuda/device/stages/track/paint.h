// SPDX-License-Identifier: LGPL-2.1-or-later
/// Painting of frames with tracks: pixels from a map of records.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/stages/segment/vectors.h"
#include "device/stages/track/index_map.h"

namespace ccl::device {

/// All pointers point to device memory.
struct TrackPaintJob {
  Output output;  ///< kNone, kColorized, kOverlay, kLabels or kMask
  segment::Plane luma;
  const uint32_t* labels;  ///< FrameLabels::labels
  IndexMaps maps;
  const uint32_t* colors;  ///< ColorTable::colors
  PixelLayout layout;
  uint8_t overlay_alpha;
  bool limited_range;
  uint8_t* pixels;  ///< dense; see FrameBuffers::output
};

/// Enqueues, right after associate_frame(), the writing of all pixels.
Status paint_tracked(const TrackPaintJob& job, cudaStream_t stream);

}  // namespace ccl::device
