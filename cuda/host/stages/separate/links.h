// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lists the links between basins, and the runs of basins.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/parts.h"
#include "ccl/rule.h"
#include "host/stages/row_strips.h"
#include "host/stages/separate/hills.h"
#include "host/stages/separate/simd/kernels.h"
#include "host/thread_pool.h"

namespace ccl::host {

/// A link between two basins or, later, regions.
struct Link {
  uint32_t number;
  uint32_t a, b;
  uint32_t rank;  ///< the saddle or, later, the bits of the score; 0: none may be taken
};

/// Pixels of one basin that follow each other in a row.
struct BasinRun {
  uint32_t basin;
  uint16_t begin, end;
};

/// The pixels that a link connects.
struct LinkEnds {
  size_t from, to;
};

class LinkLister {
 public:
  /// `pool` must outlive the lister.
  LinkLister(uint32_t width, uint32_t height, ThreadPool& pool);
  ~LinkLister();

  /// All links between basins of a component that may be the first one of the two basins, and perhaps others.
  /// Roots: see RootKernels.
  template <typename Root>
  std::span<Link> list(const Root* roots, const Hills& hills, Connectivity connectivity);

  /// Calls visit(run) for the runs of a row of the frame that was listed.
  template <typename Visit>
  void for_each_run(uint32_t y, Visit visit) const {
    const BasinRun* run = runs_.get() + size_t{y} * width_;
    std::for_each_n(run, n_runs_[y], visit);
  }

  LinkEnds ends(uint32_t number) const {
    return {number / kLinkDirections, number / kLinkDirections + offsets_[number % kLinkDirections]};
  }

 private:
  struct Strip;

  template <typename Root, typename Basin>
  void list_strip(const Root* roots, const Hills& hills, const Basin* basins, Connectivity connectivity,
                  const RowSpan& rows, Strip* strip);
  template <typename Root, typename Basin>
  void list_row(const Root* roots, const Hills& hills, const Basin* basins, Connectivity connectivity,
                uint32_t y, Strip* strip);
  void add(uint32_t number, uint32_t from_basin, uint32_t to_basin, const uint16_t* heights,
           Strip* strip) const;

  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  const SeparationKernels& kernels_;
  size_t offsets_[kLinkDirections];
  std::vector<uint32_t> background_;  ///< a row, with a margin
  std::vector<uint32_t> last_roots_;  ///< the last row of the frame, with a margin
  std::vector<Strip> scratch_;        ///< per strip
  std::unique_ptr<Link[]> links_;
  std::unique_ptr<BasinRun[]> runs_;  ///< of each row from its first pixel's place on
  std::vector<uint32_t> n_runs_;      ///< per row
};

}  // namespace ccl::host
