// SPDX-License-Identifier: LGPL-2.1-or-later
/// Grey statistics from the runs of the CPU's `runs`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/runs/strip_labeler.h"
#include "host/runs/strip_merger.h"
#include "host/stages/grey.h"

namespace ccl::host {

/// Sums per record, and per part.
class RunGrey {
 public:
  /// The table and the merger must outlive this.
  RunGrey(const RunTable& table, const StripMerger& merger, size_t max_records)
      : table_(table), merger_(merger), max_records_(max_records) {}

  /// Takes the memory, once. Throws std::bad_alloc if there is none.
  void allocate();

  /// Adds up the values of a strip. `own_records` are the records of its roots; `record_index` has their
  /// entries, and gets those of the strip's parts: where their sums are. Threads may each do another strip.
  void measure(const StripLabeler& labeler, const FrameNeeds& needs, const Strip& strip,
               const SourcePixels& source, const IndexSpan& own_records, uint32_t n_records,
               uint32_t* record_index);

  /// After all strips: makes the grey records of the component records.
  void make_records(const uint32_t* record_index, const CclComponent* records, uint32_t n_records,
                    CclGrey* grey);

 private:
  const RunTable& table_;
  const StripMerger& merger_;
  size_t max_records_;
  std::unique_ptr<GreySums[]> sums_;
};

}  // namespace ccl::host
