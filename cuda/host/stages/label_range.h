// SPDX-License-Identifier: LGPL-2.1-or-later
/// Parts of arrays that have one entry per label or per record.
#pragma once

#include <cstdint>

namespace ccl::host {

/// Entries begin..end − 1.
struct IndexSpan {
  uint32_t begin;
  uint32_t end;

  uint32_t size() const { return end - begin; }
};

/// Labels with marks.
struct MarkedLabels {
  IndexSpan labels;
  uint32_t n_kept;  ///< number of marks that are not 0
};

/// Entries first..end − 1 of arrays with one entry per component. The component of entry `first` has the
/// canonical label `label`, and those of the next entries have the next labels.
struct LabelRange {
  uint32_t first;
  uint32_t end;
  uint32_t label;
};

}  // namespace ccl::host
