// SPDX-License-Identifier: LGPL-2.1-or-later
/// Planes of labels, ids and distances: a pass over the map of labels that a pipeline leaves.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/stages/track/frame_labels.h"

namespace ccl::device {

/// All pointers point to device memory.
struct PlaneJob {
  FrameLabels frame;
  const FrameCounts* counts;
  const CclComponent* records;  ///< their ids are written; null: labels are
  bool shows_squares;           ///< those of `frame` are written
  uint32_t max_components;      ///< a frame with more has no ids
  uint32_t width;
  uint32_t height;
  uint32_t* values;
  size_t pitch;  ///< values from one row's start to the next one's
};

/// Enqueues the writing of a plane, after the records have their ids.
Status write_plane(const PlaneJob& job, cudaStream_t stream);

/// Enqueues the writing of `n_pixels` pixels of an output that has_distances(), from `squares` of the frame.
Status write_distances(const FrameLabels& frame, uint32_t n_pixels, Output output, uint8_t* pixels,
                       cudaStream_t stream);

}  // namespace ccl::device
