// SPDX-License-Identifier: LGPL-2.1-or-later
/// Lists the links between basins.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "ccl/parts.h"
#include "ccl/rule.h"
#include "host/stages/segment/row_strips.h"
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

  LinkEnds ends(uint32_t number) const {
    return {number / kLinkDirections, number / kLinkDirections + offsets_[number % kLinkDirections]};
  }

 private:
  struct Strip;

  template <typename Root>
  void list_strip(const Root* roots, const Hills& hills, Connectivity connectivity, const RowSpan& rows,
                  Strip* strip);
  template <typename Root>
  void list_row(const Root* roots, const Hills& hills, Connectivity connectivity, uint32_t y, Strip* strip);
  void add(const Hills& hills, uint32_t number, Strip* strip) const;

  uint32_t width_;
  uint32_t height_;
  RowStrips strips_;
  const SeparationKernels& kernels_;
  size_t offsets_[kLinkDirections];
  std::vector<uint32_t> background_;  ///< a row, with a margin
  std::vector<uint32_t> last_roots_;  ///< the last row of the frame, with a margin
  std::vector<Strip> scratch_;        ///< per strip
  std::unique_ptr<Link[]> links_;
};

}  // namespace ccl::host
