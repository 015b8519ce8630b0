// SPDX-License-Identifier: LGPL-2.1-or-later
/// Frames of a batch, labelled by `runs` in one launch.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <span>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/runs/batch.h"
#include "device/runs/tile_memory.h"

namespace ccl::device {

/// Device memory of the frames of a batch, owned by the caller; see FrameBuffers. Records and counts of the
/// frames lie one behind the other.
struct BatchBuffers {
  std::span<const runs::Batch::Frame> frames;
  size_t input_pitch;     ///< of all frames
  CclComponent* records;  ///< Config::max_components for each frame
  FrameCounts* counts;
};

/// Made for one configuration. All calls, construction and destruction included, need the context to be
/// current.
class BatchPipeline {
 public:
  /// Takes the memory for batches of Config::batch binary frames.
  Status configure(const Config& config);

  /// Takes the memory for frames with these settings. Not with a batch in flight.
  Status prepare(const Settings& settings);

  /// Whether the GPU holds a whole frame of the kind that was prepared.
  bool fits() const { return memory_->n_groups() > 0; }

  /// Enqueues all stages of the frames, as Pipeline::enqueue() with a pipeline that defers overflow. No
  /// filter is active. `paints_labels`: the outputs are label maps.
  Status enqueue(const Settings& settings, const BatchBuffers& batch, bool paints_labels,
                 cudaStream_t stream);

 private:
  Config config_;
  Stream stream_;  ///< for memory that is initialized once
  DeviceArray<uint32_t> palettes_;
  std::unique_ptr<runs::TileMemory> memory_;  ///< for the foreground rule in use
};

}  // namespace ccl::device
