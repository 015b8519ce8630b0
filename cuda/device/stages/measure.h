// SPDX-License-Identifier: LGPL-2.1-or-later
/// The measuring stage: areas of all components, and records of the selected ones.
#pragma once

#include <array>
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
  bool has_parts;  ///< components of equal segments may touch (ccl/parts.h)
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
  /// for max_components. Fields of features that are not asked for cost nothing.
  Status measure_records(const Settings& settings, const MeasureInput& input, CclComponent* records,
                         cudaStream_t stream);

  /// Allocates what measure_all() needs for frames of width × height pixels with these settings. What was
  /// allocated is kept.
  Status prepare_all(const Settings& settings, uint32_t width, uint32_t height);

  /// Enqueues the measuring of all components, for a filter that reads more than areas. `index` is scratch,
  /// with an entry per label.
  Status measure_all(const Settings& settings, const MeasureInput& input, uint32_t* index,
                     cudaStream_t stream);
  /// The sums of measure_all(), per label. Device memory.
  const Sums* all_sums(const Settings& settings) const { return all_[kind_of(settings)].sums.data(); }

  /// Enqueues the writing of the selected components' records, as measure_records(), from the sums of
  /// measure_all().
  Status make_records_of_all(const Settings& settings, const MeasureInput& input, CclComponent* records,
                             cudaStream_t stream);

 private:
  /// Frames of each kind have another number of components at most.
  enum Kind : uint32_t { kBinary8, kBinary4, kValues, kKinds };
  static Kind kind_of(const Settings& settings);

  struct AllSums {
    DeviceArray<Sums> sums;        ///< per label
    DeviceArray<uint16_t> values;  ///< per label
  };

  uint32_t max_components_ = 0;
  DeviceArray<Sums> sums_;           ///< per record
  DeviceArray<uint16_t> values_;     ///< per record: the component's segment
  std::array<AllSums, kKinds> all_;  ///< once a filter needed them
};

}  // namespace ccl::device
