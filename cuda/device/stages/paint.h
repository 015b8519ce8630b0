// SPDX-License-Identifier: LGPL-2.1-or-later
/// The painting stage: output pixels from labels.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/status.h"
#include "device/labelers/labeler.h"
#include "device/memory.h"
#include "device/stages/select.h"

namespace ccl::device {

/// What pixels are painted from. All pointers are to device memory.
struct PaintInput {
  SegmentSource frame;
  const uint32_t* labels;  ///< per pixel, canonical
  const uint32_t* areas;   ///< areas[label − 1]
  const FrameCounts* counts;
};

/// Takes memory for palette_colors(), enqueues their upload, and waits for it.
Status upload_palettes(const Stream& stream, DeviceArray<uint32_t>* palettes);

/// Enqueues the drawing of the records' boxes into 4-byte output pixels; nothing with other outputs.
/// `skips_overflow` draws none where there are more components than records.
Status outline_boxes(const Config& config, const FrameBuffers& frame, bool skips_overflow,
                     cudaStream_t stream);

class Painting {
 public:
  /// Takes memory and copies the palettes to the device. Must not be called with frames in flight.
  Status configure(const Config& config);

  /// Enqueues the writing of width × height dense pixels of bytes_per_pixel(Config::output) to `output`.
  /// Does nothing with Output::kNone.
  Status run(const Settings& settings, const PaintInput& input, uint8_t* output, cudaStream_t stream);

 private:
  template <Output kOutput>
  Status paint(const Settings& settings, const PaintInput& input, void* output, cudaStream_t stream);

  Config config_;
  DeviceArray<uint32_t> palettes_;  ///< palette_colors()
  DeviceArray<uint32_t> values_;    ///< per label: its output pixel, see paint.cu
};

}  // namespace ccl::device
