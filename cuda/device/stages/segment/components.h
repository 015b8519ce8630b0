// SPDX-License-Identifier: LGPL-2.1-or-later
/// The step of the segment stage that needs whole components of a bit image: filling holes.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/counts.h"
#include "ccl/rule.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/runs/tile_memory.h"

namespace ccl::device {

/// Changes bit images of one size in place; they lie in device memory, and their padding bits are and stay 0.
/// One image at a time: calls on one object must be enqueued on one stream, or ordered otherwise.
class BitComponents {
 public:
  /// Allocates memory for bit images of width × height pixels; once only. `stream` initialises it.
  Status configure(uint32_t width, uint32_t height, cudaStream_t stream);

  /// Enqueues the filling of holes: components of background that have at most `max_area` pixels and none at
  /// the frame's border become foreground. `connectivity` is that of foreground: background connects at edges
  /// if foreground connects at corners, and the other way round. If `regions` is not null, a bit image in
  /// device memory, foreground outside of it becomes background at the end.
  Status fill_holes(uint32_t* bits, uint32_t max_area, Connectivity connectivity, const uint32_t* regions,
                    cudaStream_t stream);

 private:
  Status label(const uint32_t* bits, Connectivity connectivity, cudaStream_t stream);

  uint32_t width_ = 0;
  uint32_t height_ = 0;
  runs::TileMemory tiles_;
  DeviceArray<uint32_t> background_;  ///< the complement of a bit image
  DeviceArray<uint32_t> labels_;      ///< per pixel: 0, or the label of its component
  DeviceArray<uint32_t> areas_;       ///< per label, or kFlagged, see components.cu
  DeviceArray<FrameCounts> counts_;   ///< one
};

}  // namespace ccl::device
