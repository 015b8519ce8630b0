// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics on the GPU: after labels and records, whichever pipeline made them.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "ccl/counts.h"
#include "ccl/grey_sums.h"
#include "ccl/segment/luma.h"
#include "device/memory.h"
#include "device/stages/track/frame_labels.h"

namespace ccl::device {

/// What grey records are made from. All pointers point to device memory.
struct GreyJob {
  uint32_t width;
  uint32_t height;
  SourcePixels source;  ///< see grey_source()
  FrameLabels frame;
  const FrameCounts* counts;
  const CclComponent* records;
  bool defers_overflow;  ///< nothing is made of a frame with more components than records
};

/// The grey records of a frame in flight: memory of a slot.
class GreyMeasurement {
 public:
  /// Takes the memory for `max_components` records, once; `stream` is that of enqueue().
  Status prepare(uint32_t max_components, const Stream& stream);

  /// Enqueues the making of as many records as there are component records, in host memory.
  Status enqueue(const GreyJob& job, cudaStream_t stream) const;

  /// The records of the frame that was delivered, which has so many component records.
  std::span<const CclGrey> delivered(size_t n_records) const { return {host_records_.data(), n_records}; }

 private:
  uint32_t max_components_ = 0;
  DeviceArray<GreySums> sums_;  ///< per record; all are 0 between frames
  PinnedArray<CclGrey> host_records_;
};

}  // namespace ccl::device
