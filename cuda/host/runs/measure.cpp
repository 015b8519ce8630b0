// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/measure.h"

#include <algorithm>
#include <memory>
#include <new>
#include <type_traits>

#include "host/runs/shape.h"
#include "host/runs/strip_labeler.h"
#include "host/runs/sums.h"

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
template <typename AnySums>
class PartialSums {
 public:
  explicit PartialSums(AnySums* sums) : sums_(sums) {}
  ~PartialSums() { flush(); }
  PartialSums(const PartialSums&) = delete;
  PartialSums& operator=(const PartialSums&) = delete;

  void add(uint32_t slot, const AnySums& part) {
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

  AnySums* sums_;
  AnySums part_;
  uint32_t slot_ = kNoRecord;
};

const Sums& as_sums(const Sums& sums) {
  return sums;
}

Sums as_sums(const BasicSums& sums) {
  return {.x_min = sums.x_min,
          .y_min = sums.y_min,
          .x_max = sums.x_max,
          .y_max = sums.y_max,
          .x = sums.x,
          .y = sums.y};
}

/// Makes the records of a frame. What does not change from run to run is a template argument: the loops have
/// no branch on it.
template <uint32_t kFeatures, bool kValues>
class Measurer {
 public:
  static constexpr bool kShapes = (kFeatures & (kFeaturePerimeter | kFeatureEuler)) != 0;
  using RunSums = std::conditional_t<kFeatures == 0, BasicSums, Sums>;

  Measurer(const StripMerger& merger, const MeasureJob& job)
      : merger_(merger), job_(job), sums_(reinterpret_cast<RunSums*>(job.sums)) {}

  /// `lister` is null unless rows were labelled in pairs.
  void measure(const RunTable& table, const PairLister* lister, const Strip& strip,
               const IndexSpan& own_records) {
    strip_ = &strip;
    own_records_ = own_records;
    n_cleared_ = n_seen_ = own_records.begin;
    n_left_ = own_records.size();
    assign_slots_to_parts(strip);
    table.for_each_band(strip, [&](const Band& band) {
      if (lister == nullptr) {
        add(runs_of(table, band.runs), band.y, band.y_end);
      } else if (table.is_rectangles(band)) {
        add(lister->list(strip, band.y, true, kShapes), band.y, band.y_end);
      } else if constexpr (kFeatures == 0) {
        add(lister->list_pair(strip, band.y), band.y);
      } else {
        for (uint32_t y = band.y; y < band.y_end; ++y) {
          add(lister->list(strip, y, false, kShapes), y, y + 1);
        }
      }
    });
    if (n_left_ != 0) {
      merger_.for_each_range(strip, [this](const LabelRange& range) { make_records(range); });
    }
  }

  void measure_parts(const RunTable& table) {
    for_each_part(
        table, [this](uint32_t record, uint32_t part) { add_sums(sums_[job_.slots[part]], &sums_[record]); });
    for_each_part(table, [this](uint32_t record, uint32_t) {
      make_record(record, job_.records[record].label, job_.records[record].area, sums_[record]);
    });
  }

 private:
  static ListedRuns runs_of(const RunTable& table, const RowRuns& row) {
    return {.count = row.end - row.begin,
            .begin = table.begin() + row.begin,
            .end = table.end() + row.begin,
            .label = table.label() + row.begin,
            .shape = table.shape() + row.begin,
            .segment = table.segment() + row.begin};
  }

  /// Whether their roots have records is another strip's business, so all get their sums.
  void assign_slots_to_parts(const Strip& strip) {
    uint32_t slot = job_.n_records + merger_.first_part(strip);
    for (const uint32_t part : merger_.parts(strip)) {
      std::construct_at(&sums_[slot]);
      job_.slots[part] = slot++;
    }
  }

  /// Rows y..y_end − 1 have the runs `runs`.
  void add(const ListedRuns& runs, uint32_t y, uint32_t y_end) {
    const RowSums rows(y, y_end);
    const auto sums_of_run = [&](uint32_t i, uint32_t slot) {
      const Rectangle rectangle{runs.begin[i], runs.end[i], y, y_end - y};
      RunSums sums = geometry<RunSums>(rectangle, rows, kFeatures);
      if constexpr (kShapes) {
        add_shape(rectangle, runs.shape[i], &sums);
      }
      if (kValues && slot < job_.n_records) {
        job_.records[slot].value = runs.segment[i];
      }
      return sums;
    };
    add(
        runs.count, runs.label, [&](uint32_t i) { return (runs.end[i] - runs.begin[i]) * (y_end - y); },
        sums_of_run);
  }

  /// Rows y and y + 1 have the runs `pair`.
  void add(const ListedPair& pair, uint32_t y) {
    const auto sums_of_run = [&](uint32_t i, uint32_t) {
      const uint32_t n = pair.n_pixels[i];
      const uint32_t n_upper = pair.n_upper[i];
      return RunSums{.x_min = pair.begin[i],
                     .y_min = n_upper != 0 ? y : y + 1,
                     .x_max = pair.end[i] - 1u,
                     .y_max = n_upper != n ? y + 1 : y,
                     .x = pair.columns[i],
                     .y = uint64_t{n} * (y + 1) - n_upper};
    };
    add(
        pair.count, pair.label, [&](uint32_t i) { return pair.n_pixels[i]; }, sums_of_run);
  }

  /// Adds runs with these labels, areas and sums.
  template <typename AreaOfRun, typename SumsOfRun>
  void add(uint32_t n_runs, const uint32_t* labels, AreaOfRun area_of_run, SumsOfRun sums_of_run) {
    const auto is_whole = [&](uint32_t i) { return job_.areas[labels[i]] == area_of_run(i); };
    uint32_t n_whole = 0;
    while (n_whole < n_runs && is_whole(n_whole)) {
      ++n_whole;
    }
    if (n_whole == n_runs) {
      make_whole(n_runs, labels, sums_of_run);
      return;
    }
    clear(n_seen_ + n_runs);
    PartialSums<RunSums> partial(sums_);
    for (uint32_t i = 0; i < n_runs; ++i) {
      const uint32_t slot = job_.slots[labels[i]];
      if (slot == kNoRecord) {
        continue;
      }
      n_seen_ = slot < job_.n_records ? std::max(n_seen_, slot + 1) : n_seen_;
      partial.add(slot, sums_of_run(i, slot));
    }
  }

  /// Makes the records of components that are one run each, as fields of dots are. Their sums need no
  /// memory. That they are all of a row keeps this apart from the loop above, which noise would mislead.
  template <typename SumsOfRun>
  void make_whole(uint32_t n_runs, const uint32_t* labels, SumsOfRun sums_of_run) {
    for (uint32_t i = 0; i < n_runs; ++i) {
      const uint32_t label = labels[i];
      const uint32_t slot = job_.slots[label];
      if (slot != kNoRecord) {
        make_record(slot, merger_.canonical(*strip_, label), job_.areas[label], sums_of_run(i, slot));
        job_.slots[label] = kNoRecord;
        --n_left_;
        n_seen_ = std::max(n_seen_, slot + 1);
      }
    }
    n_cleared_ = std::max(n_cleared_, n_seen_);
  }

  /// Records come up in ascending order. Their sums, at least the first `n`, are cleared shortly before, and
  /// pass through the caches once.
  void clear(uint32_t n) {
    for (n = std::min(n, own_records_.end); n_cleared_ < n; ++n_cleared_) {
      std::construct_at(&sums_[n_cleared_]);
    }
  }

  void make_records(const LabelRange& range) {
    const uint32_t shift = range.label - range.first;
    for (uint32_t label = range.first; label < range.end; ++label) {
      if (const uint32_t record = job_.slots[label]; record != kNoRecord) {
        make_record(record, label + shift, job_.areas[label], sums_[record]);
      }
    }
  }

  void make_record(uint32_t record, uint32_t label, uint32_t area, const RunSums& sums) {
    const uint16_t value = kValues ? job_.records[record].value : kBinarySegment;
    // In place: copied, its small stores would be loaded again by larger loads, which must wait for them.
    new (&job_.records[record]) CclComponent(make_component(
        label, area, value, as_sums(sums), job_.settings.features, job_.config.width, job_.config.height));
  }

  /// Calls visit(record, part) for all parts of components that have a record.
  template <typename Visit>
  void for_each_part(const RunTable& table, Visit visit) const {
    for (const Strip& strip : table.strips()) {
      for (const uint32_t part : merger_.parts(strip)) {
        if (const uint32_t record = job_.slots[merger_.root(part)]; record != kNoRecord) {
          visit(record, part);
        }
      }
    }
  }

  const StripMerger& merger_;
  const MeasureJob& job_;
  RunSums* sums_;
  const Strip* strip_ = nullptr;
  IndexSpan own_records_{};
  uint32_t n_left_ = 0;  ///< own records still to be made
  // Of the own records, up to which one.
  uint32_t n_cleared_ = 0;
  uint32_t n_seen_ = 0;
};

/// Calls work(measurer) with the measurer for what the frame's records need.
template <bool kValues, typename Work>
void with_measurer_of_features(const StripMerger& merger, const MeasureJob& job, Work work) {
  const bool with_moments = (job.settings.features & kFeatureMoments) != 0;
  if (needs_shapes(job.settings)) {
    with_moments ? work(Measurer<kAllFeatures, kValues>(merger, job))
                 : work(Measurer<kFeaturePerimeter | kFeatureEuler, kValues>(merger, job));
  } else {
    with_moments ? work(Measurer<kFeatureMoments, kValues>(merger, job))
                 : work(Measurer<0, kValues>(merger, job));
  }
}

template <typename Work>
void with_measurer(const StripMerger& merger, const MeasureJob& job, Work work) {
  if (job.settings.rule.foreground == Foreground::kValues) {
    with_measurer_of_features<true>(merger, job, work);
  } else {
    with_measurer_of_features<false>(merger, job, work);
  }
}

}  // namespace

void measure_strip(const RunTable& table, const PairLister& lister, const StripMerger& merger,
                   const Strip& strip, const IndexSpan& own_records, const MeasureJob& job) {
  with_measurer(merger, job, [&](auto measurer) {
    measurer.measure(table, is_paired(job.settings) ? &lister : nullptr, strip, own_records);
  });
}

void measure_parts(const RunTable& table, const StripMerger& merger, const MeasureJob& job) {
  with_measurer(merger, job, [&](auto measurer) { measurer.measure_parts(table); });
}

}  // namespace ccl::host
