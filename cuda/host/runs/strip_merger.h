// SPDX-License-Identifier: LGPL-2.1-or-later
/// The second stage of the CPU's `runs`: from the strips' local labels to those of the frame.
///
/// Of the local labels that belong to one component, the smallest is its *root*, and the others are *parts*.
/// All of them lie at strips' borders, so they are few, and what is done here takes a time that depends on
/// the frame's width only. Between two parts the local labels of a strip are roots, and their canonical
/// labels ascend with them: whatever is known of components stays where the local labels have it, and no
/// run, nor any array of labels, is gone through to renumber it.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/runs/table.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// A frame in one strip has nothing to merge: all its local labels are roots, and canonical.
class StripMerger {
 public:
  /// Takes all memory for frames of the table's size.
  explicit StripMerger(const RunTable& table);

  /// To unite local labels across the strips' borders, those that lie there being their own before; null
  /// when there is one strip.
  uint32_t* parents() { return parents_.get(); }

  /// How many parts there can be.
  static size_t max_parts(const RunTable& table) { return max_parts_of_strip(table) * table.strips().size(); }

  /// After the labels were united: finds the parts. Returns the number of components.
  uint32_t merge();

  /// Adds the areas of parts to those of their roots, and makes them 0.
  void merge_areas(uint32_t* areas) const;

  /// The parts of one strip, ascending.
  std::span<const uint32_t> parts(const Strip& strip) const;
  /// How many the strips before this one have.
  uint32_t first_part(const Strip& strip) const { return merged_[strip.index].first_part; }
  uint32_t root(uint32_t part) const { return parents_[part]; }

  /// The canonical label of a root of the strip.
  uint32_t canonical(const Strip& strip, uint32_t root) const {
    const Merged& merged = merged_[strip.index];
    const uint32_t n_before = root > merged.last_part ? merged.n_parts : count_parts_before(strip, root);
    return merged.first_canonical + (root - strip.first_label) - n_before;
  }

  /// Calls visit(range) for all roots of the strip, in order.
  template <typename Visit>
  void for_each_range(const Strip& strip, Visit visit) const;

  /// Gives all parts what an array, indexed by local label, has for their roots.
  void copy_to_parts(uint32_t* value_of_label) const;

 private:
  static size_t max_parts_of_strip(const RunTable& table);
  uint32_t* room_for_parts(const Strip& strip) const;
  uint32_t count_parts_before(const Strip& strip, uint32_t root) const;
  uint32_t find_parts(const Strip& strip) const;

  struct Merged {
    uint32_t n_parts = 0;
    uint32_t first_part = 0;
    uint32_t last_part = 0;  ///< its label
    uint32_t first_canonical = 1;
  };

  const RunTable& table_;
  std::unique_ptr<uint32_t[]> parents_;  ///< per local label; only those at borders are there
  std::unique_ptr<uint32_t[]> parts_;    ///< the strips' rooms one after the other
  std::vector<Merged> merged_;           ///< per strip
};

template <typename Visit>
void StripMerger::for_each_range(const Strip& strip, Visit visit) const {
  LabelRange range{.first = strip.first_label, .end = 0, .label = merged_[strip.index].first_canonical};
  const auto end_at = [&](uint32_t end) {
    range.end = end;
    if (range.first < end) {
      visit(std::as_const(range));
    }
    range.label += end - range.first;
    range.first = end + 1;
  };
  for (const uint32_t part : parts(strip)) {
    end_at(part);
  }
  end_at(strip.first_label + strip.n_labels);
}

}  // namespace ccl::host
