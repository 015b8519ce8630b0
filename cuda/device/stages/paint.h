// SPDX-License-Identifier: LGPL-2.1-or-later
/// The painting stage: output pixels from labels.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/status.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/segment_source.h"
#include "device/stages/select.h"

namespace ccl::device {

/// What pixels are painted from. All pointers point to device memory.
struct PaintInput {
  SegmentSource frame;
  const uint32_t* labels;  ///< per pixel, canonical
  const uint32_t* marks;   ///< marks[label − 1], see Filter
  const FrameCounts* counts;
};

/// Allocates memory for palette_colors(), enqueues their upload, and waits for it.
Status upload_palettes(const Stream& stream, DeviceArray<uint32_t>* palettes);

/// Enqueues the drawing of the records' boxes into colorized and overlay; does nothing with other outputs.
/// With `skips_overflow` no box is drawn if there are more components than records.
Status outline_boxes(const Config& config, const FrameBuffers& frame, bool skips_overflow,
                     cudaStream_t stream);

class Painting {
 public:
  /// Allocates memory and copies the palettes to the device. Must not be called with frames in flight.
  Status configure(const Config& config);

  /// Enqueues the writing of width × height dense pixels of painted_output() to the frame's output.
  Status run(const Settings& settings, const PaintInput& input, const FrameBuffers& frame,
             cudaStream_t stream);

 private:
  template <Output kOutput>
  Status paint(const Settings& settings, const PaintInput& input, void* output, cudaStream_t stream);

  Config config_;
  DeviceArray<uint32_t> palettes_;  ///< palette_colors()
  DeviceArray<uint32_t> values_;    ///< per label: its paint value, see paint.cu
};

}  // namespace ccl::device
