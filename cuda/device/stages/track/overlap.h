// SPDX-License-Identifier: LGPL-2.1-or-later
/// The device form of the overlap count: how many pixels each component has in common with each one of the
/// frame before. The same kernel prepares the tables, which needs no overlaps, in other blocks.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/stages/track/frame_labels.h"
#include "device/stages/track/index_map.h"
#include "device/stages/track/pair_table.h"
#include "track/step.h"
#include "track/tables.h"

namespace ccl::device {

/// All pointers point to device memory.
struct OverlapJob {
  uint32_t width;
  uint32_t height;
  FrameLabels frame;
  const FrameCounts* counts;
  CclComponent* records;
  const track::Origin* origins = nullptr;  ///< see AssociateJob; they are not known yet
  track::TrackTables tables;               ///< of the frame before
  IndexMaps maps;
  PairTable pairs;
  track::TrackStep* step;  ///< out: for the kernels that follow
};

/// Enqueues the writing of this frame's map of records, in place of the older one, the count of all pairs of
/// components that overlap, and track::prepare(). If the frame before was not matched, or this one cannot be,
/// there are no pairs.
Status count_overlaps(const OverlapJob& job, const track::TrackStep& step, cudaStream_t stream);

/// The kernel of count_overlaps(). Its last argument is the step, so that a graph can replace it for each
/// frame.
const void* overlap_kernel();
inline constexpr uint32_t kOverlapArguments = 2;

}  // namespace ccl::device
