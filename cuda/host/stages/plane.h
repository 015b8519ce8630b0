// SPDX-License-Identifier: LGPL-2.1-or-later
/// Planes of labels, ids and distances: what the pixels of each component become.
#pragma once

#include <cstdint>

#include "ccl/engine.h"
#include "host/stages/label_range.h"
#include "host/stages/paint.h"

namespace ccl::host {

/// Calls write(plane, image) for each plane of the configuration.
template <typename Write>
void for_each_plane(const Config& config, const FrameJob& job, Write write) {
  if ((config.planes & kLabelPlane) != 0) {
    write(kLabelPlane, job.label_plane);
  }
  if ((config.planes & kIdPlane) != 0) {
    write(kIdPlane, job.id_plane);
  }
  if ((config.planes & kDistancePlane) != 0) {
    write(kDistancePlane, job.distance_plane);
  }
}

/// Writes the values of a range of components. All arrays have the range's indices. `is_tracked`: records
/// have ids; else ids are the labels, and record indices and records are not read. A plane of distances has
/// no value of a component: all bits are written where the distances are to be seen.
inline void make_plane_values(Plane plane, bool is_tracked, const LabelRange& range,
                              const TrackedLabels& labels, uint32_t* values) {
  const bool shows_ids = plane == kIdPlane && is_tracked;
  for (uint32_t i = range.first; i < range.end; ++i) {
    if (labels.marks[i] == 0) {
      values[i] = 0;
    } else if (plane == kDistancePlane) {
      values[i] = ~uint32_t{0};
    } else if (shows_ids) {
      const uint32_t record = labels.record_index[i];
      values[i] = record < labels.records.size() ? labels.records[record].id : 0;
    } else {
      values[i] = range.label + (i - range.first);
    }
  }
}

}  // namespace ccl::host
