// SPDX-License-Identifier: LGPL-2.1-or-later
/// The device memory of a frame's tiles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// Tiles and the memory that they point to.
class TileMemory {
 public:
  /// Allocates memory for tiles of binary frames or, if `has_values`, of frames of values. Once only.
  Status allocate(uint32_t width, uint32_t height, bool has_values, cudaStream_t stream);

  bool has_values() const { return has_values_; }
  uint32_t n_blocks() const { return n_blocks_; }
  /// The tiles of this frame.
  Tiles of(const Settings& settings, const FrameBuffers& frame) const;

 private:
  Status choose_size(uint32_t width, uint32_t height, uint32_t tile_width);

  Tiles tiles_{};
  bool has_values_ = false;
  uint32_t n_blocks_ = 0;  ///< that a kernel may have

  DeviceArray<uint32_t> node_label_, tile_counts_, arrivals_;
  DeviceArray<uint16_t> top_, bottom_, left_, right_;
  DeviceArray<uint8_t> row_counts_;
  DeviceArray<Parent> parent_;
  DeviceArray<uint64_t> node_sums_;
  DeviceArray<uint4> parked_;
};

}  // namespace ccl::device::runs
