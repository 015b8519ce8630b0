// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/grey.h"

#include <algorithm>

#include "host/memory.h"

namespace ccl::host {

void RunGrey::allocate() {
  if (sums_ == nullptr) {
    sums_ = uninitialized<GreySums>(max_records_ + StripMerger::max_parts(table_));
  }
}

void RunGrey::measure(const StripLabeler& labeler, const FrameNeeds& needs, const Strip& strip,
                      const SourcePixels& source, const IndexSpan& own_records, uint32_t n_records,
                      uint32_t* record_index) {
  std::fill_n(sums_.get() + own_records.begin, own_records.size(), GreySums{});
  uint32_t index = n_records + merger_.first_part(strip);
  for (const uint32_t part : merger_.parts(strip)) {
    sums_[index] = {};
    record_index[part] = index++;
  }
  for_each_row_list(table_, labeler, needs, strip, [&](const RunList& list) {
    for (uint32_t y = list.y; y < list.y_end; ++y) {
      for (uint32_t i = 0; i < list.count; ++i) {
        if (const uint32_t record = record_index[list.label[i]]; record != kNoRecord) {
          add_values(source, y, list.begin[i], list.end[i], &sums_[record]);
        }
      }
    }
  });
}

void RunGrey::make_records(const uint32_t* record_index, const CclComponent* records, uint32_t n_records,
                           CclGrey* grey) {
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : merger_.parts(strip)) {
      if (const uint32_t record = record_index[merger_.root(part)]; record != kNoRecord) {
        add_grey(sums_[record_index[part]], &sums_[record]);
      }
    }
  }
  std::transform(records, records + n_records, sums_.get(), grey, make_grey);
}

}  // namespace ccl::host
