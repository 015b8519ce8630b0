// SPDX-License-Identifier: LGPL-2.1-or-later
/// The counts and records of a frame or of a batch in flight: on the GPU, where kernels write them, and on
/// the host.
#pragma once

#include <cstdint>
#include <span>

#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device {

class Delivery {
 public:
  /// Allocates memory for `max_components` records of each frame, and clears the counts on `stream`.
  Status configure(uint32_t max_components, uint32_t n_frames, const Stream& stream);

  /// Where the kernels write the counts and the records of the frames, one behind the other.
  FrameCounts* device_counts() const { return counts_.data(); }
  CclComponent* device_records() const { return records_.data(); }

  /// Enqueues the copy of the counts of the first `n_frames` and of as many records as they have; only the
  /// GPU knows how many. With `defers_overflow` no records are copied if the table overflows; see
  /// Pipeline::defers_overflow().
  Status enqueue(bool defers_overflow, uint32_t n_frames, const Stream& stream) const;
  /// Enqueues the copy of the whole table of one frame.
  Status enqueue_table(const Stream& stream) const;

  /// The counts and the records of a frame that was delivered.
  const FrameCounts& counts(uint32_t frame = 0) const { return host_counts_.data()[frame]; }
  bool overflows(uint32_t frame = 0) const { return counts(frame).n_components > max_components_; }
  std::span<const CclComponent> records(uint32_t frame = 0) const;

 private:
  uint32_t max_components_ = 0;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;
  PinnedArray<CclComponent> host_records_;
  PinnedArray<FrameCounts> host_counts_;
};

}  // namespace ccl::device
