// SPDX-License-Identifier: LGPL-2.1-or-later
/// The counts and records of a frame in flight: on the GPU, where kernels write them, and on the host.
#pragma once

#include <cstdint>
#include <span>

#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"

namespace ccl::device {

class Delivery {
 public:
  /// Allocates memory for `max_components` records, and clears the counts on `stream`.
  Status configure(uint32_t max_components, const Stream& stream);

  /// Where the kernels write counts and records.
  void place(FrameBuffers* frame) const;

  /// Enqueues the copy of the counts and of as many records as there are; only the GPU knows how many. With
  /// `defers_overflow` no records are copied if the table overflows; see Pipeline::defers_overflow().
  Status enqueue(bool defers_overflow, const Stream& stream) const;
  /// Enqueues the copy of the whole table.
  Status enqueue_table(const Stream& stream) const;

  /// The counts of the frame that was delivered.
  const FrameCounts& counts() const { return *host_counts_.data(); }
  bool overflows() const { return counts().n_components > max_components_; }
  /// The records of the frame that was delivered.
  std::span<const CclComponent> records() const;

 private:
  uint32_t max_components_ = 0;
  DeviceArray<CclComponent> records_;
  DeviceArray<FrameCounts> counts_;  ///< one
  PinnedArray<CclComponent> host_records_;
  PinnedArray<FrameCounts> host_counts_;  ///< one
};

}  // namespace ccl::device
