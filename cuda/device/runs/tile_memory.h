// SPDX-License-Identifier: LGPL-2.1-or-later
/// The device memory of a frame's tiles.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>

#include "ccl/config.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/runs/batch.h"
#include "device/runs/tiles.h"

namespace ccl::device::runs {

/// Tiles and the memory that they point to.
class TileMemory {
 public:
  /// Allocates memory for tiles of binary frames or, if `has_values`, of frames of values. Once only.
  Status allocate(uint32_t width, uint32_t height, bool has_values, cudaStream_t stream) {
    return allocate(width, height, has_values, 1, 1, stream);
  }
  /// The same for batches of so many frames; see Batch.
  Status allocate_batch(uint32_t width, uint32_t height, bool has_values, uint32_t n_frames,
                        cudaStream_t stream) {
    return allocate(width, height, has_values, n_frames, Batch::kSets, stream);
  }

  bool has_values() const { return has_values_; }
  uint32_t n_blocks() const { return n_blocks_; }
  /// The frames that have a block for each tile at the same time; 0 if the GPU does not hold one.
  uint32_t n_groups() const { return n_groups_; }
  /// From a set of the tiles' memory to the next one.
  size_t set_bytes() const { return set_bytes_; }
  /// The tiles of this frame, with the first set.
  Tiles of(const Settings& settings, const FrameBuffers& frame) const;

 private:
  Status allocate(uint32_t width, uint32_t height, bool has_values, uint32_t n_frames, uint32_t sets_of_group,
                  cudaStream_t stream);
  Status choose_size(uint32_t width, uint32_t height, uint32_t tile_width, uint32_t n_frames);
  size_t place(uint8_t* memory);

  Tiles tiles_{};
  bool has_values_ = false;
  uint32_t n_blocks_ = 0;  ///< that a kernel may have
  uint32_t n_groups_ = 0;
  size_t set_bytes_ = 0;
  DeviceArray<uint8_t> memory_;
};

}  // namespace ccl::device::runs
