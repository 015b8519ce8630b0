// SPDX-License-Identifier: LGPL-2.1-or-later
/// The planes of a frame in flight: where a kernel writes them, and their copies to the host.
#pragma once

#include <cstddef>
#include <cstdint>

#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/timeline.h"

namespace ccl::device {

/// A slot's. Everything uses the stream of its kernels.
class Planes {
 public:
  /// Allocates memory for planes that go to the host, if the configuration has any and its output does.
  Status configure(const Config& config);

  /// Allocates, once, what this frame needs and the configuration did not. The kernels' stream waits for the
  /// users of the planes' memory.
  Status place(const FrameJob& job, const Timeline& timeline, const Stream& stream);

  /// Memory in which a pipeline may leave the labels of all components, so that no kernel must copy them;
  /// null if there is none.
  uint32_t* label_map(const FrameJob& job) const;

  /// Whether any plane is not yet what `labels` are.
  bool needs_write(const FrameJob& job, const FrameLabels& labels) const;

  /// Enqueues the writing of the planes, after that of the records.
  Status write(const FrameJob& job, const FrameLabels& labels, const FrameBuffers& frame,
               const Stream& stream) const;

  /// Whether the host must enqueue the download when the frame is popped, see Transfers::downloads_late().
  bool downloads_late() const { return downloads_late_; }
  /// Enqueues the copies of planes that go to the host.
  Status download(const FrameJob& job, const Stream& stream) const;

 private:
  static constexpr uint32_t kCount = 2;

  bool has(uint32_t i) const { return (config_.planes >> i & 1) != 0; }
  static const PlaneImage& image(const FrameJob& job, uint32_t i) {
    return i == 0 ? job.label_plane : job.id_plane;
  }
  bool is_downloaded(const FrameJob& job, uint32_t i) const {
    return has(i) && image(job, i).memory == Memory::kHost;
  }
  /// Where kernels write the plane, and its rows' distance in values.
  uint32_t* values(const FrameJob& job, uint32_t i) const {
    return is_downloaded(job, i) ? values_[i].data() : image(job, i).values;
  }
  size_t pitch(const FrameJob& job, uint32_t i) const {
    return is_downloaded(job, i) ? config_.width : image(job, i).stride / sizeof(uint32_t);
  }
  size_t row_bytes() const { return config_.width * sizeof(uint32_t); }
  Status allocate(uint32_t i);

  Config config_;
  bool downloads_late_ = false;
  DeviceArray<uint32_t> values_[kCount];  ///< dense, of planes that go to the host
};

}  // namespace ccl::device
