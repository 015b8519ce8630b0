// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame between labelling and painting, and its runs.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "host/segment_source.h"

namespace ccl::host {

struct LabeledFrame {
  const SegmentSource& segments;
  const uint32_t* labels;  ///< canonical, width × height, dense
  uint32_t n_labels;
  bool has_parts = false;  ///< components of equal segments may touch (ccl/parts.h)
};

/// Pixels x0..x1 − 1 of row y, which have one label.
struct Run {
  uint32_t label;
  uint32_t y, x0, x1;
};

/// Calls visit(run) for all runs of the frame in raster order. Long runs are cut into several, at multiples
/// of 512 columns.
template <typename Visit>
void for_each_run(const LabeledFrame& frame, Visit visit) {
  constexpr uint32_t kMaxLength = 512;
  const uint32_t width = frame.segments.width;
  std::array<uint32_t, kMaxLength + 1> starts;
  for (uint32_t y = 0; y < frame.segments.height; ++y) {
    const uint32_t* row = frame.labels + size_t{y} * width;
    for (uint32_t begin = 0; begin < width; begin += kMaxLength) {
      const uint32_t end = std::min(begin + kMaxLength, width);
      starts[0] = begin;
      uint32_t n_runs = 1;
      uint32_t previous = row[begin];
      for (uint32_t x = begin + 1; x < end; ++x) {
        // Always stored, but kept only where a run starts: noise would mislead a branch at every run.
        starts[n_runs] = x;
        n_runs += row[x] != previous ? 1 : 0;
        previous = row[x];
      }
      starts[n_runs] = end;
      for (uint32_t i = 0; i < n_runs; ++i) {
        if (row[starts[i]] != 0) {
          visit(Run{row[starts[i]], y, starts[i], starts[i + 1]});
        }
      }
    }
  }
}

}  // namespace ccl::host
