// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lists the runs of rows that were labelled in pairs: of each row, or of both rows together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "host/runs/frame_needs.h"
#include "host/runs/run_list.h"
#include "host/runs/table.h"

namespace ccl::host {

/// Has room for one list per strip: a list is valid until the next call for the strip.
class PairLister {
 public:
  PairLister(const Kernels& kernels, const RunTable& table);

  /// Lists one or more rows of the band, from row y on: equal rows together, rows of a pair of different rows
  /// one by one if the frame needs rows, else together. RunList::y_end is the next row to be listed.
  RunList list(const FrameNeeds& needs, const Strip& strip, Band band, uint32_t y) const;

 private:
  RunList list_pair(const Strip& strip, uint32_t y) const;

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
