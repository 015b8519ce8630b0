// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/strip_merger.h"

#include <algorithm>

#include "host/memory.h"

namespace ccl::host {

namespace {

/// Set in a parent while parts are searched: its child was found to be a part. No label is that large.
constexpr uint32_t kFound = 1u << 31;

}  // namespace

/// A strip has two rows at borders, or one that is at both.
size_t StripMerger::max_parts_of_strip(const RunTable& table) {
  return table.strips().size() > 1 ? 2 * size_t{table.width()} : 0;
}

StripMerger::StripMerger(const RunTable& table) : table_(table), merged_(table.strips().size()) {
  if (table.strips().size() > 1) {
    parents_ = uninitialized<uint32_t>(table.n_local_labels());
    parts_ = uninitialized<uint32_t>(max_parts(table));
  }
}

uint32_t* StripMerger::room_for_parts(const Strip& strip) const {
  return parts_.get() + max_parts_of_strip(table_) * strip.index;
}

std::span<const uint32_t> StripMerger::parts(const Strip& strip) const {
  return {room_for_parts(strip), merged_[strip.index].n_parts};
}

void StripMerger::open_borders(const Strip& strip) const {
  if (parents_ == nullptr) {
    return;
  }
  for (const uint32_t y : {strip.y_begin, strip.y_end - 1}) {
    const RowRuns row = table_.row(y);
    std::for_each(table_.label() + row.begin, table_.label() + row.end,
                  [this](uint32_t label) { parents_[label] = label; });
  }
}

uint32_t StripMerger::merge() {
  uint32_t n_labels = 0;
  uint32_t n_parts = 0;
  for (const Strip& strip : table_.strips()) {
    Merged& merged = merged_[strip.index];
    merged.n_parts = table_.strips().size() > 1 ? find_parts(strip) : 0;
    merged.first_part = n_parts;
    merged.last_part = merged.n_parts != 0 ? parts(strip).back() : 0;
    merged.first_canonical = n_labels + 1;
    n_parts += merged.n_parts;
    n_labels += strip.n_labels - merged.n_parts;
    for (const uint32_t part : parts(strip)) {
      // A parent is smaller, so it is a root, or a part whose parent has become its root by now.
      parents_[part] = parents_[parents_[part] & ~kFound];
    }
  }
  return n_labels;
}

void StripMerger::merge_areas(uint32_t* areas) const {
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : parts(strip)) {
      areas[root(part)] += areas[part];
      areas[part] = 0;
    }
  }
}

uint32_t StripMerger::find_parts(const Strip& strip) const {
  uint32_t* const begin = room_for_parts(strip);
  uint32_t* end = begin;
  const auto add = [&](const RowRuns& row) {
    for (uint32_t run = row.begin; run < row.end; ++run) {
      const uint32_t label = table_.label()[run];
      const uint32_t is_part = (parents_[label] != label ? 1u : 0u) & (parents_[label] < kFound ? 1u : 0u);
      *end = label;
      end += is_part;
      parents_[label] |= is_part * kFound;
    }
  };
  add(table_.row(strip.y_begin));
  add(table_.row(strip.y_end - 1));
  if (!std::is_sorted(begin, end)) {
    std::sort(begin, end);
  }
  return static_cast<uint32_t>(end - begin);
}

uint32_t StripMerger::count_parts_before(const Strip& strip, uint32_t root) const {
  const std::span<const uint32_t> all = parts(strip);
  return static_cast<uint32_t>(std::lower_bound(all.begin(), all.end(), root) - all.begin());
}

void StripMerger::copy_to_parts(uint32_t* value_of_label) const {
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : parts(strip)) {
      value_of_label[part] = value_of_label[root(part)];
    }
  }
}

}  // namespace ccl::host
