// SPDX-License-Identifier: LGPL-2.1-or-later
#include "host/runs/measure.h"

#include <algorithm>
#include <memory>
#include <new>

#include "host/runs/run_keeper.h"
#include "host/runs/run_list.h"

namespace ccl::host {

namespace {

/// Adds up sums in registers as long as they belong to the same component, as runs that follow each other
/// often do. A detour through memory for each run takes longer than all the arithmetic.
template <typename AnySums>
class PartialSums {
 public:
  explicit PartialSums(AnySums* sums) : sums_(sums) {}
  ~PartialSums() { flush(); }
  PartialSums(const PartialSums&) = delete;
  PartialSums& operator=(const PartialSums&) = delete;

  void add(uint32_t index, const AnySums& part) {
    if (index == index_) {
      add_sums(part, &part_);
    } else {
      flush();
      index_ = index;
      part_ = part;
    }
  }

 private:
  void flush() {
    if (index_ != kNoRecord) {
      add_sums(part_, &sums_[index_]);
    }
  }

  AnySums* sums_;
  AnySums part_;
  uint32_t index_ = kNoRecord;
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
  using RunSums = SumsFor<kFeatures>;

  explicit Measurer(const MeasureJob& job) : job_(job), sums_(reinterpret_cast<RunSums*>(job.sums)) {}

  void measure(const Strip& strip, const IndexSpan& own_records) {
    strip_ = &strip;
    own_records_ = own_records;
    n_cleared_ = n_seen_ = own_records.begin;
    n_pending_ = own_records.size();
    open_sums_of_parts(strip);
    RunKeeper keeper(job_.table, strip, job_.kept);
    for_each_run_list<kFeatures>(job_.table, job_.labeler, job_.needs, strip, [&](auto runs) {
      if constexpr (kFeatures != 0) {
        if (job_.kept != nullptr) {
          keeper.keep(runs.list(), job_.record_index);
        }
      }
      this->add(runs);
    });
    if (n_pending_ != 0) {
      job_.merger.for_each_range(strip, [this](const LabelRange& range) { make_records(range); });
    }
  }

  void measure_parts() {
    for_each_part(
        [this](uint32_t record, uint32_t part) { add_sums(sums_[job_.record_index[part]], &sums_[record]); });
    for_each_part([this](uint32_t record, uint32_t) {
      make_record(record, job_.records[record].label, job_.records[record].area, sums_[record]);
    });
  }

 private:
  /// All parts get sums, because it is another strip that decides whether their roots have records.
  void open_sums_of_parts(const Strip& strip) {
    uint32_t index = job_.n_records + job_.merger.first_part(strip);
    for (const uint32_t part : job_.merger.parts(strip)) {
      std::construct_at(&sums_[index]);
      job_.record_index[part] = index++;
    }
  }

  template <typename Runs>
  void add(Runs runs) {
    const auto area = runs.areas();
    const auto sums = runs.template sums<kFeatures>();
    const auto sums_of_run = [&](uint32_t i, uint32_t index) {
      if (kValues && index < job_.n_records) {
        job_.records[index].value = runs.segment(i);
      }
      return sums(i);
    };
    const auto is_whole = [&](uint32_t i) { return job_.marks[runs.label(i)] == area(i); };
    uint32_t n_whole = 0;
    while (n_whole < runs.count() && is_whole(n_whole)) {
      ++n_whole;
    }
    if (n_whole == runs.count()) {
      make_whole(runs, sums_of_run);
      return;
    }
    clear(n_seen_ + runs.count());
    PartialSums<RunSums> partial(sums_);
    for (uint32_t i = 0; i < runs.count(); ++i) {
      const uint32_t index = job_.record_index[runs.label(i)];
      if (index == kNoRecord) {
        continue;
      }
      n_seen_ = index < job_.n_records ? std::max(n_seen_, index + 1) : n_seen_;
      partial.add(index, sums_of_run(i, index));
    }
  }

  /// Makes the records of components that are one run each, as in images of dots. Their sums need no memory.
  /// It is done only if all runs of a list are such components: a choice for each run would be a branch that
  /// noise misleads.
  template <typename Runs, typename SumsOfRun>
  void make_whole(Runs runs, SumsOfRun sums_of_run) {
    for (uint32_t i = 0; i < runs.count(); ++i) {
      const uint32_t label = runs.label(i);
      const uint32_t record = job_.record_index[label];
      if (record != kNoRecord) {
        make_record(record, job_.merger.canonical(*strip_, label), job_.marks[label], sums_of_run(i, record));
        job_.record_index[label] = kNoRecord;
        --n_pending_;
        n_seen_ = std::max(n_seen_, record + 1);
      }
    }
    n_cleared_ = std::max(n_cleared_, n_seen_);
  }

  /// Runs meet their records in ascending order. So at least the first `n` sums are cleared shortly before
  /// they are needed, and pass through the caches once.
  void clear(uint32_t n) {
    for (n = std::min(n, own_records_.end); n_cleared_ < n; ++n_cleared_) {
      std::construct_at(&sums_[n_cleared_]);
    }
  }

  void make_records(const LabelRange& range) {
    const uint32_t shift = range.label - range.first;
    for (uint32_t label = range.first; label < range.end; ++label) {
      if (const uint32_t record = job_.record_index[label]; record != kNoRecord) {
        make_record(record, label + shift, job_.marks[label], sums_[record]);
      }
    }
  }

  void make_record(uint32_t record, uint32_t label, uint32_t area, const RunSums& sums) {
    const uint16_t value = kValues ? job_.records[record].value : kBinarySegment;
    // In place: a copy would load its small stores again by larger loads, which must wait for them.
    new (&job_.records[record]) CclComponent(make_component(label, area, value, as_sums(sums), job_.features,
                                                            job_.config.width, job_.config.height));
  }

  /// Calls visit(record, part) for all parts of components that have a record.
  template <typename Visit>
  void for_each_part(Visit visit) const {
    for (const Strip& strip : job_.table.strips()) {
      for (const uint32_t part : job_.merger.parts(strip)) {
        if (const uint32_t record = job_.record_index[job_.merger.root(part)]; record != kNoRecord) {
          visit(record, part);
        }
      }
    }
  }

  const MeasureJob& job_;
  RunSums* sums_;
  const Strip* strip_ = nullptr;
  IndexSpan own_records_{};
  uint32_t n_pending_ = 0;  ///< own records that are not made yet
  // Ends of the own records that are cleared, and that runs have met.
  uint32_t n_cleared_ = 0;
  uint32_t n_seen_ = 0;
};

/// Calls work(measurer) with the measurer for what the frame's records need.
template <bool kValues, typename Work>
void with_measurer_of_features(const MeasureJob& job, Work work) {
  if (job.needs.shapes) {
    job.needs.moments ? work(Measurer<kAllFeatures, kValues>(job))
                      : work(Measurer<kFeaturePerimeter | kFeatureEuler, kValues>(job));
  } else {
    job.needs.moments ? work(Measurer<kFeatureMoments, kValues>(job)) : work(Measurer<0, kValues>(job));
  }
}

template <typename Work>
void with_measurer(const MeasureJob& job, Work work) {
  if (job.needs.values) {
    with_measurer_of_features<true>(job, work);
  } else {
    with_measurer_of_features<false>(job, work);
  }
}

}  // namespace

void measure_strip(const MeasureJob& job, const Strip& strip, const IndexSpan& own_records) {
  with_measurer(job, [&](auto measurer) { measurer.measure(strip, own_records); });
}

void measure_parts(const MeasureJob& job) {
  with_measurer(job, [](auto measurer) { measurer.measure_parts(); });
}

}  // namespace ccl::host
