// SPDX-License-Identifier: LGPL-2.1-or-later
/// The device form of the overlap count: how many pixels each component has in common with each one of the
/// frame before.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/stages/track/frame_labels.h"
#include "device/stages/track/index_map.h"
#include "device/stages/track/pair_table.h"
#include "track/tables.h"

namespace ccl::device {

/// All pointers point to device memory.
struct OverlapJob {
  uint32_t width;
  uint32_t height;
  FrameLabels frame;
  const FrameCounts* counts;
  const track::TrackHeader* header;  ///< of the frame before
  IndexMaps maps;
  PairTable pairs;
};

/// Enqueues the writing of this frame's map of records, in place of the older one, and the count of all pairs
/// of components that overlap. If the frame before was not matched, or this one has more components than
/// records, there are no pairs.
Status count_overlaps(const OverlapJob& job, cudaStream_t stream);

}  // namespace ccl::device
