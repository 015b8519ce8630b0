// SPDX-License-Identifier: LGPL-2.1-or-later
/// The runs of the components that have a record: what the track stage keeps of a frame.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/sums.h"
#include "host/stages/labeled_frame.h"

namespace ccl::host {

/// Columns x0..x1 − 1 of a row, which belong to one component.
struct KeptRun {
  uint16_t x0;
  uint16_t x1;
  uint32_t record;  ///< its record index
};

/// The runs of all rows, each from left to right. The memory is as long as the worst frame needs and never
/// filled in advance, so that pages which ordinary frames do not reach stay unmapped.
class KeptRuns {
 public:
  KeptRuns(uint32_t width, uint32_t height)
      : runs_(std::make_unique_for_overwrite<KeptRun[]>(size_t{width} * height + kPadding)), rows_(height) {}

  /// Where the runs of a row lie.
  struct Row {
    uint32_t begin;
    uint32_t end;

    bool operator==(const Row&) const = default;
  };

  /// A writer puts a run behind the last one whether or not it is kept, and then decides whether to keep it.
  static constexpr uint32_t kPadding = 1;

  KeptRun* runs() { return runs_.get(); }
  const KeptRun* runs() const { return runs_.get(); }

  /// Equal rows may share their runs. Rows of other strips may begin anywhere in the memory; a strip that
  /// begins with row y has room from run y × width on.
  Row& row(uint32_t y) { return rows_[y]; }
  const Row& row(uint32_t y) const { return rows_[y]; }

 private:
  std::unique_ptr<KeptRun[]> runs_;
  std::vector<Row> rows_;
};

/// Writes the runs of a frame whose labels have these record indices.
inline void write_kept_runs(const LabeledFrame& frame, const uint32_t* record_index, KeptRuns* kept) {
  uint32_t n_runs = 0;
  uint32_t y = 0;
  kept->row(0).begin = 0;
  const auto end_rows_before = [&](uint32_t next) {
    while (y < next) {
      kept->row(y).end = n_runs;
      if (++y < frame.segments.height) {
        kept->row(y).begin = n_runs;
      }
    }
  };
  for_each_run(frame, [&](const Run& run) {
    end_rows_before(run.y);
    const uint32_t record = record_index[run.label];
    kept->runs()[n_runs] = {static_cast<uint16_t>(run.x0), static_cast<uint16_t>(run.x1), record};
    n_runs += record != kNoRecord ? 1 : 0;
  });
  end_rows_before(frame.segments.height);
}

}  // namespace ccl::host
