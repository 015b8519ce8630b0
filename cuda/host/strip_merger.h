// SPDX-License-Identifier: LGPL-2.1-or-later
/// The second stage of the CPU's `runs`: from the strips' local labels to those of the frame.
#pragma once

#include <cstdint>
#include <span>

#include "ccl/sums.h"
#include "host/run_table.h"

namespace ccl::host {

/// A frame in one strip has nothing to merge: its local labels are canonical, and nothing here is used.
class StripMerger {
 public:
  /// Takes all memory for frames of the table's size.
  explicit StripMerger(const RunTable& table);

  /// Local labels, to be united across the strips' borders; null when there is one strip.
  uint32_t* parents() { return parents_.get(); }

  /// How many parts of components there can be that begin in one strip and have their root in another.
  static size_t max_parts(const RunTable& table);

  /// Gives the united local labels their canonical ones, 1..n. Adds up the areas of those, from 1 on, from
  /// the local ones. Returns n.
  uint32_t number(const std::span<const Strip>& strips, const uint32_t* local_areas, uint32_t* areas);

  /// After number(): the canonical label of each local one.
  const uint32_t* canonical() const { return parents_.get(); }

  /// Where each local label of the strip adds up its sums: the roots in their records, whose strip is the
  /// only one to do so, and the others in slots of their own behind those, which are cleared.
  void assign_slots(const Strip& strip, const uint32_t* record_of_label, uint32_t n_records, Sums* sums);
  const uint32_t* slots() const { return slots_.get(); }

  /// Adds the sums of the parts to those of the records that they belong to.
  void merge_sums(const uint32_t* record_of_label, uint32_t n_records, Sums* sums) const;

 private:
  std::unique_ptr<uint32_t[]> parents_;  ///< per local label
  std::unique_ptr<uint32_t[]> slots_;    ///< per local label
  std::unique_ptr<uint32_t[]> parts_;    ///< local labels whose root is in another strip, ascending
  uint32_t n_parts_ = 0;
};

}  // namespace ccl::host
