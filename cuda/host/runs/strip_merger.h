// SPDX-License-Identifier: LGPL-2.1-or-later
/// The numbering stage of the CPU's `runs`: from the strips' local labels to those of the frame.
///
/// Among the local labels that belong to one component, the smallest is its *root* and the others are
/// *parts*. Parts lie at strips' borders, so they are few, and merging takes a time that depends on the
/// frame's width only. Between two parts, the local labels of a strip are roots, and their canonical labels
/// ascend with them. So arrays that are indexed by local label stay as they are: nothing is renumbered, and
/// no pass over all runs is needed.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "host/runs/table.h"
#include "host/stages/label_range.h"

namespace ccl::host {

/// A frame in one strip needs no merging: all its local labels are roots, and canonical.
class StripMerger {
 public:
  /// Takes all memory for frames of the table's size.
  explicit StripMerger(const RunTable& table);

  /// After the strip was labelled: makes the local labels at its borders their own parents. Threads may each
  /// do another strip.
  void open_borders(const Strip& strip) const;

  /// To unite local labels across the strips' borders; null when there is one strip.
  uint32_t* parents() { return parents_.get(); }

  /// How many parts there can be.
  static size_t max_parts(const RunTable& table) { return max_parts_of_strip(table) * table.strips().size(); }

  /// After the labels were united: finds the parts and returns the number of components.
  uint32_t merge();

  /// Adds the areas of parts to the areas of their roots, and makes the areas of parts 0.
  void merge_areas(uint32_t* areas) const;

  /// The parts of one strip, ascending.
  std::span<const uint32_t> parts(const Strip& strip) const;
  /// The number of parts in the strips before this one.
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

  /// Copies the entries of roots to their parts, in an array that is indexed by local label.
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
  std::unique_ptr<uint32_t[]> parents_;  ///< per local label; written for labels at borders only
  std::unique_ptr<uint32_t[]> parts_;    ///< one strip's room after the other
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
