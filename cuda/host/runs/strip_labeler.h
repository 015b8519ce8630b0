// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first stage of the CPU's `runs`: a strip's rows become runs, and its runs get local labels.
#pragma once

#include <cstdint>

#include "ccl/engine.h"
#include "host/runs/pair_labeler.h"
#include "host/runs/table.h"

namespace ccl::host {

/// Whether records need the shape of runs.
constexpr bool needs_shapes(const Settings& settings) {
  return (settings.features & (kFeaturePerimeter | kFeatureEuler)) != 0;
}

/// Labels strips of one frame, each on a thread of its own.
class StripLabeler {
 public:
  /// `areas` and `parents` are indexed by local label. `parents` is null unless there are several strips.
  StripLabeler(const Kernels& kernels, RunTable& table, uint32_t* areas, uint32_t* parents)
      : kernels_(kernels), table_(table), areas_(areas), parents_(parents), pairs_(kernels, table, areas) {}

  /// Finds and links the strip's runs, gives them their local labels, and adds up the areas of those, if any
  /// component can pass the filter. In `parents`, the local labels at the strip's borders become their own.
  void label(const FrameJob& job, Strip& strip) const;

  /// Unites the local labels on either side of a strip's upper border.
  void merge_upper_border(const Settings& settings, const Strip& strip) const;

 private:
  void open_border(uint32_t y) const;
  void label_rows(const FrameJob& job, Strip& strip) const;
  bool repeats_row_above(const FrameJob& job, uint32_t y) const;
  void find_runs(const FrameJob& job, uint32_t y, uint32_t first_run) const;
  void link_to_row_above(const Settings& settings, uint32_t y) const;
  void flatten(Strip& strip) const;

  const Kernels& kernels_;
  RunTable& table_;
  uint32_t* areas_;
  uint32_t* parents_;
  PairLabeler pairs_;
};

}  // namespace ccl::host
