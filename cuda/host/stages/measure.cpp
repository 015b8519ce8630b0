// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/measure.h"

#include <algorithm>
#include <array>

#include "host/runs/sums.h"
#include "host/stages/select.h"

namespace ccl::host {

namespace {

/// Runs are cut where a multiple of this many columns begins; sums do not mind.
constexpr uint32_t kColumnsPerTurn = 512;

template <typename Visit>
void for_each_run(const LabeledFrame& frame, Visit visit) {
  const uint32_t width = frame.segments.width;
  std::array<uint32_t, kColumnsPerTurn + 1> starts;
  for (uint32_t y = 0; y < frame.segments.height; ++y) {
    const uint32_t* row = frame.labels + size_t{y} * width;
    for (uint32_t begin = 0; begin < width; begin += kColumnsPerTurn) {
      const uint32_t end = std::min(begin + kColumnsPerTurn, width);
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

/// A run's part of the perimeter and the Euler number.
template <Connectivity kConnectivity>
void add_shape(const Run& run, const SegmentSource& image, Sums& sums) {
  const uint8_t* row = image.row(run.y);
  const uint8_t* above = row - image.stride;
  const uint8_t* below = row + image.stride;
  const uint8_t segment = row[run.x0];
  uint32_t perimeter = 0;
  int32_t euler = 0;
  for (size_t x = run.x0; x < run.x1; ++x) {
    const PixelShape shape = pixel_shape({.left = row[x - 1] == segment,
                                          .right = row[x + 1] == segment,
                                          .up = above[x] == segment,
                                          .down = below[x] == segment,
                                          .up_left = above[x - 1] == segment,
                                          .up_right = above[x + 1] == segment},
                                         kConnectivity);
    perimeter += shape.perimeter;
    euler += shape.euler;
  }
  sums.perimeter += perimeter;
  sums.euler += euler;
}

}  // namespace

void measure_records(const LabeledFrame& frame, const Settings& settings, const RecordTable& table) {
  std::fill_n(table.sums, table.n_records, Sums{});
  const bool shapes = (settings.features & (kFeaturePerimeter | kFeatureEuler)) != 0;
  for_each_run(frame, [&](const Run& run) {
    const uint32_t record = table.record_of_label[run.label];
    if (record == kNoRecord) {
      return;
    }
    table.values[record] = frame.segments.row(run.y)[run.x0];
    add_sums(geometry<Sums>({run.x0, run.x1, run.y, 1}, {run.y, run.y + 1}, settings.features),
             &table.sums[record]);
    if (shapes && settings.connectivity == Connectivity::k8) {
      add_shape<Connectivity::k8>(run, frame.segments, table.sums[record]);
    } else if (shapes) {
      add_shape<Connectivity::k4>(run, frame.segments, table.sums[record]);
    }
  });
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    const uint32_t record = table.record_of_label[label];
    if (record != kNoRecord) {
      table.records[record] =
          make_component(label, table.areas[label], table.values[record], table.sums[record],
                         settings.features, frame.segments.width, frame.segments.height);
    }
  }
}

}  // namespace ccl::host
