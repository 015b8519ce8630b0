// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/strip_merger.h"

#include <algorithm>

#include "host/run_sums.h"

namespace ccl::host {

/// Only what touches a border can be hung below another; a border has two rows.
size_t StripMerger::max_parts(const RunTable& table) {
  return (table.strips().size() - 1) * 2 * table.width();
}

StripMerger::StripMerger(const RunTable& table) {
  if (table.strips().size() > 1) {
    parents_ = uninitialized<uint32_t>(table.n_local_labels());
    slots_ = uninitialized<uint32_t>(table.n_local_labels());
    parts_ = uninitialized<uint32_t>(max_parts(table));
  }
}

uint32_t StripMerger::number(const std::span<const Strip>& strips, const uint32_t* local_areas,
                             uint32_t* areas) {
  uint32_t n_labels = 0;
  n_parts_ = 0;
  for (const Strip& strip : strips) {
    const uint32_t end = strip.first_label + strip.n_labels;
    for (uint32_t local = strip.first_label; local < end; ++local) {
      if (parents_[local] == local) {
        areas[++n_labels] = local_areas[local];
        parents_[local] = n_labels;
      } else {
        // A parent is smaller, so it has its label already.
        parents_[local] = parents_[parents_[local]];
        areas[parents_[local]] += local_areas[local];
        parts_[n_parts_++] = local;
      }
    }
  }
  return n_labels;
}

void StripMerger::assign_slots(const Strip& strip, const uint32_t* record_of_label, uint32_t n_records,
                               Sums* sums) {
  const uint32_t end = strip.first_label + strip.n_labels;
  for (uint32_t local = strip.first_label; local < end; ++local) {
    slots_[local] = record_of_label[parents_[local]];
  }
  const uint32_t* part = std::lower_bound(parts_.get(), parts_.get() + n_parts_, strip.first_label);
  for (; part != parts_.get() + n_parts_ && *part < end; ++part) {
    if (slots_[*part] != kNoRecord) {
      slots_[*part] = n_records + static_cast<uint32_t>(part - parts_.get());
      sums[slots_[*part]] = {};
    }
  }
}

void StripMerger::merge_sums(const uint32_t* record_of_label, uint32_t n_records, Sums* sums) const {
  for (uint32_t i = 0; i < n_parts_; ++i) {
    if (const uint32_t record = record_of_label[parents_[parts_[i]]]; record != kNoRecord) {
      add_sums(sums[n_records + i], &sums[record]);
    }
  }
}

}  // namespace ccl::host
