// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/run_measure.h"

#include <algorithm>

#include "host/run_shape.h"
#include "host/run_sums.h"
#include "host/strip_labeler.h"

namespace ccl::host {

namespace {

/// A rectangle of L × H pixels has 2L + 2H edges, and every pair of pixels above each other in linked runs
/// hides two.
///
/// The Euler number of a component is its runs minus its links: a run adds one to the pixels minus their
/// horizontal pairs; a link of k ≥ 1 overlapping pixels adds k − 1 full 2×2 windows and k vertical pairs;
/// and a link by a corner alone is one of the windows that pixel_shape() subtracts. The rows of a rectangle
/// are H runs and H − 1 links.
void add_shape(const Rectangle& rectangle, uint32_t shape, Sums* sums) {
  sums->perimeter += 2 * (rectangle.x1 - rectangle.x0 + rectangle.n_rows - overlap_of_shape(shape));
  sums->euler += 1 - static_cast<int32_t>(links_of_shape(shape));
}

/// Runs of one component often follow each other. They add up in registers first: to go through memory with
/// each one takes longer than all the arithmetic.
class PartialSums {
 public:
  explicit PartialSums(Sums* sums) : sums_(sums) {}
  ~PartialSums() { flush(); }
  PartialSums(const PartialSums&) = delete;
  PartialSums& operator=(const PartialSums&) = delete;

  void add(uint32_t slot, const Sums& part) {
    if (slot == slot_) {
      add_sums(part, &part_);
    } else {
      flush();
      slot_ = slot;
      part_ = part;
    }
  }

 private:
  void flush() {
    if (slot_ != kNoRecord) {
      add_sums(part_, &sums_[slot_]);
    }
  }

  Sums* sums_;
  Sums part_;
  uint32_t slot_ = kNoRecord;
};

/// What does not change from run to run, as template arguments: the loop has no branch on it.
template <uint32_t kFeatures, bool kValues>
void measure(const RunTable& table, const Strip& strip, const SumSlots& slots) {
  const uint16_t* begin = table.begin();
  const uint16_t* end = table.end();
  const uint32_t* label = table.label();
  PartialSums partial(slots.sums);
  table.for_each_band(strip, [&](const Band& band) {
    const RowSums rows(band.y, band.y_end);
    for (uint32_t run = band.runs.begin; run < band.runs.end; ++run) {
      const uint32_t slot = slots.slots[label[run]];
      if (slot == kNoRecord) {
        continue;
      }
      const Rectangle rectangle{begin[run], end[run], band.y, band.height()};
      Sums sums = geometry(rectangle, rows, kFeatures);
      if constexpr ((kFeatures & (kFeaturePerimeter | kFeatureEuler)) != 0) {
        add_shape(rectangle, table.shape()[run], &sums);
      }
      partial.add(slot, sums);
      if constexpr (kValues) {
        if (slot < slots.n_records) {
          slots.records[slot].value = table.segment()[run];
        }
      }
    }
  });
}

template <bool kValues>
void measure_features(const RunTable& table, const Strip& strip, const Settings& settings,
                      const SumSlots& slots) {
  const bool with_moments = (settings.features & kFeatureMoments) != 0;
  if (needs_shapes(settings)) {
    with_moments ? measure<kAllFeatures, kValues>(table, strip, slots)
                 : measure<kFeaturePerimeter | kFeatureEuler, kValues>(table, strip, slots);
  } else {
    with_moments ? measure<kFeatureMoments, kValues>(table, strip, slots)
                 : measure<0, kValues>(table, strip, slots);
  }
}

}  // namespace

void measure_runs(const RunTable& table, const Strip& strip, const Settings& settings,
                  const SumSlots& slots) {
  if (settings.rule.foreground == Foreground::kValues) {
    measure_features<true>(table, strip, settings, slots);
  } else {
    measure_features<false>(table, strip, settings, slots);
  }
}

}  // namespace ccl::host
