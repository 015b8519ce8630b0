// SPDX-License-Identifier: LGPL-2.1-or-later
/// Labels two rows at a time, for 8-connected binary foreground.
///
/// In a pair of rows, pixels in the same column or in neighbouring columns always connect. So take the
/// columns that have a pixel in either row: a run of such columns is connected in any case, and
/// stands for all of them. A checkerboard has one such run per pair, noise a third of its rows' runs. (The
/// 2×2 blocks of Grana, Borghesani, Cucchiara 2010 use the same fact.) Both rows of a pair have the same
/// `starts` and RowRuns, so that a pixel's run is the last one that started at its column or before, as in a
/// single row.
///
/// Pairs change one thing, the order of the labels: among the components that begin in a pair, those with a
/// pixel in its upper row come first.
#pragma once

#include <cstdint>
#include <memory>

#include "host/runs/strip_labeler.h"

namespace ccl::host {

class PairLabeler final : public StripLabeler {
 public:
  /// `areas` is indexed by local label.
  PairLabeler(const Kernels& kernels, RunTable& table, uint32_t* areas);

  void label(const RowSource& source, const FrameNeeds& needs, Strip& strip) const override;
  void merge_upper_border(const FrameNeeds& needs, const Strip& strip, uint32_t* parents) const override;
  const PairLister* lister() const override { return &lister_; }

 private:
  /// Arrays for one band, while its runs get their labels.
  struct Scratch {
    uint32_t* n_pixels;  ///< per run
    uint32_t* n_upper;   ///< per run: pixels in the upper row
    uint32_t* listed;    ///< runs with a new label
    uint32_t* ordered;   ///< per new label: the label it becomes
    uint32_t* areas;     ///< per new label
  };

  Scratch scratch_of(const Strip& strip) const;
  void link_to_pair_above(uint32_t y) const;
  template <bool kWithAreas>
  void flatten(Strip& strip) const;
  bool has_late_runs(const Band& band) const;
  void count_pixels(const Band& band, const Scratch& scratch) const;
  template <bool kWithAreas>
  void order_labels(const RowRuns& runs, const Scratch& scratch, uint32_t first_new, uint32_t end) const;

  const Kernels& kernels_;
  RunTable& table_;
  uint32_t* areas_;
  std::unique_ptr<uint64_t[]> no_pixels_;  ///< a row of background
  std::unique_ptr<uint32_t[]> scratch_;    ///< for each strip
  PairLister lister_;
};

}  // namespace ccl::host
