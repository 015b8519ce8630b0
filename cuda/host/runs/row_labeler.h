// SPDX-License-Identifier: LGPL-2.1-or-later
/// Labels row by row, for every connectivity and foreground rule.
#pragma once

#include <cstdint>

#include "host/runs/strip_labeler.h"

namespace ccl::host {

class RowLabeler final : public StripLabeler {
 public:
  /// `areas` is indexed by local label.
  RowLabeler(const Kernels& kernels, RunTable& table, uint32_t* areas)
      : kernels_(kernels), table_(table), areas_(areas) {}

  void label(const RowSource& source, const FrameNeeds& needs, Strip& strip) const override;
  void merge_upper_border(const FrameNeeds& needs, const Strip& strip, uint32_t* parents) const override;
  const PairLister* lister() const override { return nullptr; }

 private:
  bool repeats_row_above(const RowSource& source, const FrameNeeds& needs, uint32_t y) const;
  void find_runs(const RowSource& source, const FrameNeeds& needs, uint32_t y, uint32_t first_run) const;
  void link_to_row_above(const FrameNeeds& needs, uint32_t y) const;
  void flatten(Strip& strip) const;

  const Kernels& kernels_;
  RunTable& table_;
  uint32_t* areas_;
};

}  // namespace ccl::host
