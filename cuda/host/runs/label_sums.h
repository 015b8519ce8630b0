// SPDX-License-Identifier: LGPL-2.1-or-later
/// The measuring stage of the CPU's `runs` if the filter reads more than areas: all components are measured
/// before any is selected, and records are made from these sums.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/filter.h"
#include "ccl/sums.h"
#include "host/runs/frame_needs.h"
#include "host/runs/strip_labeler.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"

namespace ccl::host {

/// Sums per local label.
class LabelSums {
 public:
  /// The table and the merger must outlive this.
  LabelSums(const RunTable& table, const StripMerger& merger) : table_(table), merger_(merger) {}

  /// Takes the memory, once. Throws std::bad_alloc if there is none.
  void allocate();

  /// Measures the local labels of a strip. Threads may each do another strip.
  void measure(const FrameNeeds& needs, const StripLabeler& labeler, const Strip& strip);

  /// After all strips: adds the sums of parts to those of their roots.
  void merge();

  FilterSums filter_sums(uint32_t root, uint32_t area, const Config& config) const {
    return ccl::filter_sums(area, sums_[root], config.width, config.height);
  }

  /// Makes the records of components that have their root in the strip and a record index. `marks` and
  /// `record_index` have an entry per local label. Threads may each do another strip.
  void make_records(const FrameNeeds& needs, const Strip& strip, const Config& config, uint32_t features,
                    const uint32_t* marks, const uint32_t* record_index, CclComponent* records) const;

 private:
  template <uint32_t kFeatures>
  void add_runs(const FrameNeeds& needs, const StripLabeler& labeler, const Strip& strip);

  const RunTable& table_;
  const StripMerger& merger_;
  std::unique_ptr<Sums[]> sums_;
  std::unique_ptr<uint8_t[]> segments_;
};

}  // namespace ccl::host
