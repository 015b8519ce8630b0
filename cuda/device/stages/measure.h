// SPDX-License-Identifier: LGPL-2.1-or-later
/// The measuring stage: areas of all components, and records of the selected ones.
#pragma once

#include <cstdint>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/status.h"
#include "ccl/sums.h"
#include "device/memory.h"
#include "device/segment_source.h"
#include "device/stages/select.h"

namespace ccl::device {

/// What records are made from. All pointers point to device memory.
struct MeasureInput {
  SegmentSource frame;
  const uint32_t* labels;        ///< per pixel, canonical
  const uint32_t* marks;         ///< marks[label − 1], see Filter: the area of a kept component
  const uint32_t* record_index;  ///< record_index[label − 1], or kNoRecord
  const FrameCounts* counts;
};

class Measurement {
 public:
  /// Allocates memory for `max_components` records.
  Status configure(uint32_t max_components);

  /// Enqueues the writing of areas[label − 1] from the labels of width × height pixels; both are device
  /// memory. Sets all width × height areas, those of labels that do not exist to 0.
  static Status measure_areas(const uint32_t* labels, uint32_t width, uint32_t height, uint32_t* areas,
                              cudaStream_t stream);

  /// Enqueues the writing of the selected components' records to `records` in device memory; it has room
  /// for max_components. Feature bits not set in settings.features cost nothing.
  Status measure_records(const Settings& settings, const MeasureInput& input, CclComponent* records,
                         cudaStream_t stream);

 private:
  uint32_t max_components_ = 0;
  DeviceArray<Sums> sums_;        ///< per record
  DeviceArray<uint16_t> values_;  ///< per record: the component's segment
};

}  // namespace ccl::device
