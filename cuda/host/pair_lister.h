// SPDX-License-Identifier: LGPL-2.1-or-later
/// The runs of single rows, of those that were labelled in pairs.
#pragma once

#include <cstdint>
#include <memory>

#include "host/run_table.h"

namespace ccl::host {

/// What is known of a row's runs.
struct ListedRuns {
  uint32_t count;
  const uint16_t* begin;
  const uint16_t* end;
  const uint32_t* label;
  const uint32_t* shape;
  const uint8_t* segment;
};

/// Lists one row after the other; strips do not disturb each other.
class PairLister {
 public:
  PairLister(const Kernels& kernels, const RunTable& table);

  /// The runs of row y of the strip, with their labels, until the next call for the strip. `is_alone`: the
  /// pair's runs are those of this row.
  ListedRuns list(const Strip& strip, uint32_t y, bool is_alone, bool with_shapes) const;

 private:
  const Kernels& kernels_;
  const RunTable& table_;
  size_t length_;  ///< of the lists of a strip
  std::unique_ptr<uint64_t[]> starts_;
  std::unique_ptr<uint64_t[]> no_pixels_;
  std::unique_ptr<uint16_t[]> begin_;
  std::unique_ptr<uint16_t[]> end_;
  std::unique_ptr<uint32_t[]> label_;
  std::unique_ptr<uint32_t[]> shape_;
};

}  // namespace ccl::host
