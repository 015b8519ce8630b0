// SPDX-License-Identifier: LGPL-2.1-or-later
/// The runs of rows that were labelled in pairs: of a pair's rows apart, or of both together.
#pragma once

#include <cstdint>
#include <memory>

#include "host/runs/table.h"

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

/// What is known of a pair's runs, without their rows.
struct ListedPair {
  uint32_t count;
  const uint16_t* begin;
  const uint16_t* end;
  const uint32_t* label;
  const uint32_t* n_pixels;
  const uint32_t* n_upper;  ///< pixels in the upper row
  const uint32_t* columns;  ///< of the pixels, added up
};

/// Lists one row after the other; strips do not disturb each other.
class PairLister {
 public:
  PairLister(const Kernels& kernels, const RunTable& table);

  /// The runs of row y of the strip, with their labels, until the next call for the strip. `is_alone`: the
  /// pair's runs are those of this row.
  ListedRuns list(const Strip& strip, uint32_t y, bool is_alone, bool with_shapes) const;

  /// The runs of the pair whose upper row is y, until the next call for the strip.
  ListedPair list_pair(const Strip& strip, uint32_t y) const;

 private:
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
  std::unique_ptr<uint32_t[]> columns_;
};

}  // namespace ccl::host
