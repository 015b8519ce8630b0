// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lists the runs of rows that were labelled in pairs: of each row, or of both rows together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/runs/run_list.h"
#include "host/runs/table.h"

namespace ccl::host {

/// Has room for one list per strip: a list is valid until the next call for the strip.
class PairLister {
 public:
  PairLister(const Kernels& kernels, const RunTable& table);

  /// The runs of a band of equal rows.
  RunList list_rectangles(const Strip& strip, const Band& band, bool with_shapes) const;

  /// The runs of row y, one of a pair of different rows.
  RunList list_row(const Strip& strip, uint32_t y, bool with_shapes) const;

  /// The runs of the pair of different rows y and y + 1.
  RunList list_pair(const Strip& strip, uint32_t y) const;

 private:
  RunList list(const Strip& strip, const Band& rows, const uint64_t* starts, const uint32_t* label,
               bool with_shapes) const;

  const Kernels& kernels_;
  const RunTable& table_;
  size_t length_;  ///< of the lists of a strip
  std::unique_ptr<uint64_t[]> words_;
  std::unique_ptr<uint64_t[]> no_pixels_;
  std::unique_ptr<uint16_t[]> begin_;
  std::unique_ptr<uint16_t[]> end_;
  std::unique_ptr<uint32_t[]> label_;
  std::unique_ptr<uint32_t[]> shape_;
  std::unique_ptr<uint32_t[]> n_pixels_;
  std::unique_ptr<uint32_t[]> n_upper_;
  std::unique_ptr<uint32_t[]> column_sum_;
};

}  // namespace ccl::host
