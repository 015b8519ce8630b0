// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/label_sums.h"

#include <memory>

#include "host/memory.h"
#include "host/runs/run_list.h"

namespace ccl::host {

/// As long as the worst frame needs; see RunTable.
void LabelSums::allocate() {
  if (sums_ == nullptr) {
    sums_ = uninitialized<Sums>(table_.n_local_labels());
    segments_ = uninitialized<uint8_t>(table_.n_local_labels());
  }
}

void LabelSums::measure(const FrameNeeds& needs, const StripLabeler& labeler, const Strip& strip) {
  std::uninitialized_fill_n(sums_.get() + strip.first_label, strip.n_labels, Sums{});
  if (needs.shapes) {
    needs.moments ? add_runs<kAllFeatures>(needs, labeler, strip)
                  : add_runs<kFeaturePerimeter | kFeatureEuler>(needs, labeler, strip);
  } else {
    needs.moments ? add_runs<kFeatureMoments>(needs, labeler, strip) : add_runs<0>(needs, labeler, strip);
  }
}

template <uint32_t kFeatures>
void LabelSums::add_runs(const FrameNeeds& needs, const StripLabeler& labeler, const Strip& strip) {
  for_each_run_list<kFeatures>(table_, labeler, needs, strip, [&](auto runs) {
    const auto sums = runs.template sums<kFeatures>();
    for (uint32_t i = 0; i < runs.count(); ++i) {
      const uint32_t label = runs.label(i);
      add_sums(sums(i), &sums_[label]);
      if (needs.values) {
        segments_[label] = runs.segment(i);
      }
    }
  });
}

void LabelSums::merge() {
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : merger_.parts(strip)) {
      add_sums(sums_[part], &sums_[merger_.root(part)]);
    }
  }
}

void LabelSums::make_records(const FrameNeeds& needs, const Strip& strip, const Config& config,
                             uint32_t features, const uint32_t* marks, const uint32_t* record_index,
                             CclComponent* records) const {
  merger_.for_each_range(strip, [&](const LabelRange& range) {
    const uint32_t shift = range.label - range.first;
    for (uint32_t label = range.first; label < range.end; ++label) {
      if (const uint32_t record = record_index[label]; record != kNoRecord) {
        const uint16_t value = needs.values ? segments_[label] : kBinarySegment;
        records[record] = make_component(label + shift, marks[label], value, sums_[label], features,
                                         config.width, config.height);
      }
    }
  });
}

}  // namespace ccl::host
