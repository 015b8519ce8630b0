// SPDX-License-Identifier: LGPL-2.1-or-later
/// The first stage of the CPU's `runs` for 8-connected binary foreground: rows two at a time.
///
/// In a pair of rows, pixels in the same column or in neighbouring ones always connect. So a run of the
/// columns that have a pixel in either row is connected, whatever its pixels are, and stands for all of them:
/// a checkerboard has one such run per pair, noise a third of its rows' runs. (Blocks of 2×2 pixels, Grana,
/// Borghesani, Cucchiara 2010, use the same fact.) Both rows have the pair's `starts` and its RowRuns, so
/// that a pixel's run is the last one that started until there, as in a row by itself.
///
/// The one thing that pairs disturb is the order of the labels: of the components that begin in a pair,
/// those with a pixel in its upper row come first.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

#include "ccl/engine.h"
#include "host/runs/table.h"

namespace ccl::host {

/// Whether rows are labelled in pairs.
constexpr bool is_paired(const Settings& settings) {
  return settings.connectivity == Connectivity::k8 && settings.rule.foreground == Foreground::kBinary;
}

/// Whether any component of a frame of so many pixels can pass the filter: if not, areas are not asked for.
constexpr bool needs_areas(const Settings& settings, uint32_t n_pixels) {
  return settings.filter.can_keep(n_pixels);
}

/// Labels strips of one frame, each on a thread of its own.
class PairLabeler {
 public:
  /// `areas` is indexed by local label.
  PairLabeler(const Kernels& kernels, RunTable& table, uint32_t* areas);

  /// Gives the runs their local labels and adds up the areas of those, if they are needed; see StripLabeler.
  void label(const FrameJob& job, Strip& strip) const;

  /// Unites in `parents` the local labels on either side of a strip's upper border.
  void merge_upper_border(const Strip& strip, uint32_t* parents) const;

 private:
  /// What is known of a band's runs while they get their labels.
  struct Scratch {
    uint32_t* n_pixels;  ///< per run
    uint32_t* n_upper;   ///< per run: pixels in the upper row
    uint32_t* listed;    ///< runs with a new label
    uint32_t* ordered;   ///< per new label: which one it becomes
    uint32_t* areas;     ///< per new label
  };

  Scratch scratch_of(const Strip& strip) const;
  void pack(const FrameJob& job, uint32_t y) const;
  void link_to_pair_above(uint32_t y) const;
  template <bool kWithAreas>
  void flatten(Strip& strip) const;
  bool has_late_runs(const Band& band) const;
  void weigh(const Band& band, const Scratch& scratch) const;
  template <bool kWithAreas>
  void order_labels(const RowRuns& runs, const Scratch& scratch, uint32_t first_new, uint32_t end) const;

  const Kernels& kernels_;
  RunTable& table_;
  uint32_t* areas_;
  std::unique_ptr<uint64_t[]> no_pixels_;  ///< a row of background
  std::unique_ptr<uint32_t[]> scratch_;    ///< for each strip
};

}  // namespace ccl::host
