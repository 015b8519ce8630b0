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

/// Adds the runs of a strip, a row or a band of equal rows at a time. What does not change from run to run is
/// a template argument: the loop has no branch on it.
template <uint32_t kFeatures, bool kValues>
class Measurer {
 public:
  static constexpr bool kShapes = (kFeatures & (kFeaturePerimeter | kFeatureEuler)) != 0;

  explicit Measurer(const SumSlots& slots) : slots_(slots), n_cleared_(slots.n_cleared) {}

  /// Rows y..y_end − 1 have the runs `runs`.
  void add(const ListedRuns& runs, uint32_t y, uint32_t y_end) {
    const RowSums rows(y, y_end);
    clear(n_seen_ + runs.count);
    PartialSums partial(slots_.sums);
    for (uint32_t i = 0; i < runs.count; ++i) {
      const uint32_t slot = slots_.slots[runs.label[i]];
      if (slot == kNoRecord) {
        continue;
      }
      n_seen_ = std::max(n_seen_, slot + 1);
      const Rectangle rectangle{runs.begin[i], runs.end[i], y, y_end - y};
      Sums sums = geometry(rectangle, rows, kFeatures);
      if constexpr (kShapes) {
        add_shape(rectangle, runs.shape[i], &sums);
      }
      partial.add(slot, sums);
      if constexpr (kValues) {
        if (slot < slots_.n_records) {
          slots_.records[slot].value = runs.segment[i];
        }
      }
    }
  }

 private:
  /// Clears at least the first `n`.
  void clear(uint32_t n) {
    for (n = std::min(n, slots_.n_records); n_cleared_ < n; ++n_cleared_) {
      slots_.sums[n_cleared_] = {};
    }
  }

  const SumSlots& slots_;
  uint32_t n_cleared_;
  uint32_t n_seen_ = 0;
};

ListedRuns runs_of(const RunTable& table, const RowRuns& row) {
  return {.count = row.end - row.begin,
          .begin = table.begin() + row.begin,
          .end = table.end() + row.begin,
          .label = table.label() + row.begin,
          .shape = table.shape() + row.begin,
          .segment = table.segment() + row.begin};
}

/// `lister` is null unless rows were labelled in pairs.
template <uint32_t kFeatures, bool kValues>
void measure(const RunTable& table, const PairLister* lister, const Strip& strip, const SumSlots& slots) {
  using Measurer = Measurer<kFeatures, kValues>;
  Measurer measurer(slots);
  table.for_each_band(strip, [&](const Band& band) {
    if (lister == nullptr) {
      measurer.add(runs_of(table, band.runs), band.y, band.y_end);
      return;
    }
    const bool is_alone = table.is_rectangles(band);
    const uint32_t step = is_alone ? band.height() : 1;
    for (uint32_t y = band.y; y < band.y_end; y += step) {
      measurer.add(lister->list(strip, y, is_alone, Measurer::kShapes), y, y + step);
    }
  });
}

template <bool kValues>
void measure_features(const RunTable& table, const PairLister* lister, const Strip& strip,
                      const Settings& settings, const SumSlots& slots) {
  const bool with_moments = (settings.features & kFeatureMoments) != 0;
  if (needs_shapes(settings)) {
    with_moments ? measure<kAllFeatures, kValues>(table, lister, strip, slots)
                 : measure<kFeaturePerimeter | kFeatureEuler, kValues>(table, lister, strip, slots);
  } else {
    with_moments ? measure<kFeatureMoments, kValues>(table, lister, strip, slots)
                 : measure<0, kValues>(table, lister, strip, slots);
  }
}

}  // namespace

void measure_runs(const RunTable& table, const PairLister& lister, const Strip& strip,
                  const Settings& settings, const SumSlots& slots) {
  if (settings.rule.foreground == Foreground::kValues) {
    measure_features<true>(table, nullptr, strip, settings, slots);
  } else {
    measure_features<false>(table, is_paired(settings) ? &lister : nullptr, strip, settings, slots);
  }
}

}  // namespace ccl::host
