// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/stages/measure.h"

#include <algorithm>
#include <cstddef>

#include "host/stages/sums.h"

namespace ccl::host {

namespace {

/// Adds a run's part of the perimeter and of the Euler number.
template <Connectivity kConnectivity, bool kHasParts>
void add_shape(const Run& run, const LabeledFrame& frame, Sums& sums) {
  const size_t stride = frame.segments.stride;
  const uint8_t* segments = frame.segments.row(run.y);
  const uint32_t* labels = frame.labels + size_t{run.y} * frame.segments.width;
  const uint8_t segment = segments[run.x0];
  // Labels are read where segments are equal, which is within the frame.
  const auto is_same = [&](ptrdiff_t x, ptrdiff_t dy) {
    return segments[x + dy * static_cast<ptrdiff_t>(stride)] == segment &&
           (!kHasParts || labels[x + dy * ptrdiff_t{frame.segments.width}] == run.label);
  };
  uint32_t perimeter = 0;
  int32_t euler = 0;
  for (ptrdiff_t x = run.x0; x < run.x1; ++x) {  // x - 1 may be -1
    const PixelShape shape = pixel_shape({.left = is_same(x - 1, 0),
                                          .right = is_same(x + 1, 0),
                                          .up = is_same(x, -1),
                                          .down = is_same(x, 1),
                                          .up_left = is_same(x - 1, -1),
                                          .up_right = is_same(x + 1, -1)},
                                         kConnectivity);
    perimeter += shape.perimeter;
    euler += shape.euler;
  }
  sums.perimeter += perimeter;
  sums.euler += euler;
}

template <Connectivity kConnectivity>
void add_shape(const Run& run, const LabeledFrame& frame, Sums& sums) {
  frame.has_parts ? add_shape<kConnectivity, true>(run, frame, sums)
                  : add_shape<kConnectivity, false>(run, frame, sums);
}

/// Makes the records. The sums of a label are in the entry sums_index(label, record).
template <typename SumsIndex>
void make_records_from(const LabeledFrame& frame, uint32_t features, const RecordTable& table,
                       SumsIndex sums_index) {
  for (uint32_t label = 1; label <= frame.n_labels; ++label) {
    const uint32_t record = table.record_index[label];
    if (record != kNoRecord) {
      const uint32_t index = sums_index(label, record);
      table.records[record] =
          make_component(label, table.marks[label], table.values[index], table.sums[index], features,
                         frame.segments.width, frame.segments.height);
    }
  }
}

}  // namespace

void measure_sums(const LabeledFrame& frame, Connectivity connectivity, uint32_t features,
                  const SumsTable& table) {
  std::fill_n(table.sums, table.n_sums, Sums{});
  const bool shapes = (features & (kFeaturePerimeter | kFeatureEuler)) != 0;
  for_each_run(frame, [&](const Run& run) {
    const uint32_t index = table.index[run.label];
    if (index == kNoRecord) {
      return;
    }
    table.values[index] = frame.segments.row(run.y)[run.x0];
    add_sums(geometry<Sums>({run.x0, run.x1, run.y, 1}, {run.y, run.y + 1}, features), &table.sums[index]);
    if (shapes && connectivity == Connectivity::k8) {
      add_shape<Connectivity::k8>(run, frame, table.sums[index]);
    } else if (shapes) {
      add_shape<Connectivity::k4>(run, frame, table.sums[index]);
    }
  });
}

void measure_records(const LabeledFrame& frame, const Settings& settings, const RecordTable& table) {
  measure_sums(frame, settings.connectivity, record_features(settings),
               {table.record_index, table.n_records, table.sums, table.values});
  make_records_from(frame, record_features(settings), table,
                    [](uint32_t, uint32_t record) { return record; });
}

void make_records(const LabeledFrame& frame, uint32_t features, const RecordTable& table) {
  make_records_from(frame, features, table, [](uint32_t label, uint32_t) { return label - 1; });
}

}  // namespace ccl::host
