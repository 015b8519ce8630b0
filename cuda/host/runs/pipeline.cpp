// SPDX-License-Identifier: LGPL-2.1-or-later
/// Our own method: all stages work on runs of pixels. Labelling runs instead of pixels is the idea of Ronse
/// and Devijver 1984 and of He, Chao, Suzuki 2007.
///
/// A row is packed to one bit per pixel and becomes a list of runs: neighbouring pixels of one segment. A
/// union-find links runs of neighbouring rows that touch. Its roots are the earliest runs, so one pass over
/// the runs in raster order gives each run its label. Rows are labelled one at a time (row_labeler.h) or, for
/// 8-connected binary foreground, two at a time (pair_labeler.h), which makes fewer runs. The later stages
/// use the runs too: their sums have closed forms, and an output row is written by expanding one value per
/// run over the row's bits.
///
/// Each thread labels strips of rows (strip_labeler.h). Labels are merged where strips meet (strip_merger.h).
/// With one thread there is one strip and nothing to merge.
#include <algorithm>
#include <bit>
#include <cstddef>
#include <functional>
#include <numeric>
#include <utility>
#include <vector>

#include "host/memory.h"
#include "host/pipeline.h"
#include "host/runs/frame_needs.h"
#include "host/runs/grey.h"
#include "host/runs/label_sums.h"
#include "host/runs/measure.h"
#include "host/runs/paint.h"
#include "host/runs/pair_labeler.h"
#include "host/runs/part_source.h"
#include "host/runs/row_labeler.h"
#include "host/runs/run_keeper.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"
#include "host/stages/mark.h"
#include "host/stages/paint.h"
#include "host/stages/plane.h"
#include "host/stages/select.h"
#include "host/stages/track.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

/// Fewer labels are marked sooner than another thread wakes.
constexpr uint32_t kWorthSharing = 8192;

/// Writes 1 for the labels of all runs of row y that have a strong pixel.
void mark_strong_runs(const RunTable& table, uint32_t y, const uint64_t* strong, uint32_t* is_strong) {
  const BitRow<const uint64_t> bits = table.bits(y);
  const uint32_t* label = table.label() + table.row(y).begin - 1;  // of the last run that has started
  for (uint32_t i = 0; i < table.n_words(); ++i) {
    const uint64_t starts = bits.starts[i];
    for (uint64_t left = bits.foreground[i] & strong[i]; left != 0;) {
      const uint64_t until = left ^ (left - 1);  // the first strong pixel and all before it
      is_strong[label[std::popcount(starts & until)]] = 1;
      const uint64_t later_starts = starts & ~until;
      left &= later_starts == 0 ? 0 : ~uint64_t{0} << std::countr_zero(later_starts);
    }
    label += std::popcount(starts);
  }
}

/// The common stages, behind a published labeler that shares the threads.
std::unique_ptr<Pipeline> make_common_pipeline(const Config& config, ThreadPool& pool, StreamTracks* tracks) {
  const AlgorithmInfo* labeler = nullptr;
  static_cast<void>(resolve_algorithm(Algorithm::kDlp, Backend::kCpu, &labeler));
  return make_pipeline(config, *labeler, pool, tracks);
}

class RunsPipeline final : public Pipeline {
 public:
  RunsPipeline(const Config& config, ThreadPool& pool, StreamTracks* tracks)
      : RunsPipeline(config, pool, tracks, kernels(choose_simd_level())) {}

  void run(const FrameJob& job, const FrameBits& bits, const ResultTables& tables,
           FrameResult* result) override;

 private:
  RunsPipeline(const Config& config, ThreadPool& pool, StreamTracks* tracks, const Kernels& kernels);

  bool is_merged() const { return table_.strips().size() > 1; }
  size_t max_records() const { return std::min(size_t{config_.max_components}, table_.n_local_labels() - 1); }
  template <typename Work>
  void for_each_strip(Work work);

  PartSource& parts();
  Pipeline& staged();
  void label(const RowSource& source, const FrameNeeds& needs, const StripLabeler& labeler);
  void number(const FrameNeeds& needs, const StripLabeler& labeler);
  void mark_labels(const Filter& filter, const FrameNeeds& needs, const StripLabeler& labeler,
                   const BitImage* strong, FrameCounts* counts);
  MarkCounts mark_strip(const Filter& filter, const FrameNeeds& needs, const Strip& strip);
  void drop_weak_components(const BitImage& strong);
  void measure(const MeasureJob& job);
  void make_records(const FrameNeeds& needs, uint32_t features, CclComponent* records);
  void measure_grey(const GreyJob& job, const FrameNeeds& needs, const StripLabeler& labeler,
                    FrameResult* result);
  bool keeps_runs_while_measuring(const FrameNeeds& needs, const FrameCounts& counts) const {
    return tracks_ != nullptr && needs.rows() && !needs.sums && tracks_->needs_runs(counts);
  }
  void replace_parts_of_kept_runs(uint32_t n_records);
  void track(const FrameJob& job, const FrameNeeds& needs, const StripLabeler& labeler,
             const ResultTables& tables, FrameResult* result);
  void write_maps(const FrameJob& job);
  void write_labels(const OutputImage& image);
  void find_first_pixels();
  void write_planes(const FrameJob& job, const FrameResult& result);
  void paint(const FrameJob& job, const FrameResult& result);

  Config config_;
  ThreadPool& pool_;
  StreamTracks* tracks_;  ///< null: components have no identity over time
  RunTable table_;
  StripMerger merger_;
  // Per local label, and as long as the worst frame needs; see RunTable.
  std::unique_ptr<uint32_t[]> marks_;  ///< areas until mark_labels()
  std::unique_ptr<uint32_t[]> record_index_;
  std::unique_ptr<uint32_t[]> values_;  ///< which labels have strong pixels; then paint values, or a map's
  std::unique_ptr<std::byte[]> sums_;   ///< per record, then per part
  RowLabeler row_labeler_;
  PairLabeler pair_labeler_;
  LabelSums label_sums_;  ///< if the filter reads other sums than areas
  RunGrey grey_;
  std::vector<MarkedLabels> labels_;     ///< per strip
  std::vector<MarkCounts> mark_counts_;  ///< per strip
  Selector selector_;
  RunPainter painter_;
  uint32_t n_labels_ = 0;
  std::unique_ptr<PartSource> parts_;  ///< once a frame was separated
  std::unique_ptr<Pipeline> staged_;   ///< likewise, if it could not have parts
};

RunsPipeline::RunsPipeline(const Config& config, ThreadPool& pool, StreamTracks* tracks,
                           const Kernels& kernels)
    : config_(config),
      pool_(pool),
      tracks_(tracks),
      table_(config.width, config.height, count_strips(config.height, pool.n_threads())),
      merger_(table_),
      marks_(uninitialized<uint32_t>(table_.n_local_labels())),
      record_index_(uninitialized<uint32_t>(table_.n_local_labels())),
      values_(uninitialized<uint32_t>(table_.n_local_labels())),
      sums_(uninitialized<std::byte>((max_records() + StripMerger::max_parts(table_)) * sizeof(Sums))),
      row_labeler_(kernels, table_, marks_.get()),
      pair_labeler_(kernels, table_, marks_.get()),
      label_sums_(table_, merger_),
      grey_(table_, merger_, max_records()),
      labels_(table_.strips().size()),
      mark_counts_(table_.strips().size()),
      selector_(table_.strips().size()),
      painter_(kernels, table_) {}

PartSource& RunsPipeline::parts() {
  if (parts_ == nullptr) {
    parts_ = std::make_unique<PartSource>(config_.width, config_.height, pool_, tracks_);
  }
  return *parts_;
}

/// Other parts are made of a root map, which the common stages have. Labels are the same, whichever labeler
/// makes them.
Pipeline& RunsPipeline::staged() {
  if (staged_ == nullptr) {
    staged_ = make_common_pipeline(config_, pool_, tracks_);
  }
  return *staged_;
}

void RunsPipeline::run(const FrameJob& job, const FrameBits& bits, const ResultTables& tables,
                       FrameResult* result) {
  StageClock clock;
  RowSource source{job.input, job.settings.rule, bits.foreground};
  if (job.settings.separation.is_active()) {
    const RowSource* separated =
        PartSource::can_have_parts(job.settings) ? parts().run(job.settings, source) : nullptr;
    if (separated == nullptr) {
      staged().run(job, bits, tables, result);
      return;
    }
    source = *separated;
  }
  Settings settings = job.settings;
  settings.rule = source.rule;
  const FrameNeeds needs = find_needs(settings, config_.width * config_.height, bits.strong != nullptr);
  const StripLabeler& labeler = needs.pairs ? static_cast<const StripLabeler&>(pair_labeler_) : row_labeler_;
  label(source, needs, labeler);
  result->times.label = clock.lap();

  number(needs, labeler);
  result->times.number = clock.lap();

  mark_labels(job.settings.filter, needs, labeler, bits.strong, &result->counts);
  const uint32_t n_records =
      needs.areas ? selector_.choose(marks_.get(), labels_, config_.max_components, pool_, &result->counts)
                  : 0;
  if (n_records > 0 && needs.sums) {
    make_records(needs, record_features(job.settings), tables.records);
  } else if (n_records > 0) {
    measure({.config = config_,
             .features = record_features(job.settings),
             .needs = needs,
             .labeler = labeler,
             .table = table_,
             .merger = merger_,
             .marks = marks_.get(),
             .record_index = record_index_.get(),
             .n_records = n_records,
             .sums = sums_.get(),
             .records = tables.records,
             .kept = keeps_runs_while_measuring(needs, result->counts) ? &tracks_->runs() : nullptr});
  }
  if (const uint8_t value = settings.rule.record_value; value != 0) {
    std::for_each_n(tables.records, n_records, [value](CclComponent& record) { record.value = value; });
  }
  result->counts.n_labels = n_labels_;
  result->components = {tables.records, n_records};
  if (tables.grey.is_wanted()) {
    measure_grey(tables.grey, needs, labeler, result);
  }
  result->times.measure = clock.lap();

  if (tracks_ != nullptr) {
    track(job, needs, labeler, tables, result);
    result->times.track = clock.lap();
  }

  write_maps(job);
  write_planes(job, *result);
  if (config_.output != Output::kNone) {
    paint(job, *result);
  }
  if (config_.planes != 0 || config_.output != Output::kNone) {
    result->times.paint = clock.lap();
  }
}

template <typename Work>
void RunsPipeline::for_each_strip(Work work) {
  pool_.parallel_for(static_cast<uint32_t>(table_.strips().size()),
                     [&](uint32_t i) { work(table_.strips()[i]); });
}

void RunsPipeline::label(const RowSource& source, const FrameNeeds& needs, const StripLabeler& labeler) {
  for_each_strip([&](Strip& strip) {
    labeler.label(source, needs, strip);
    merger_.open_borders(strip);
  });
}

void RunsPipeline::number(const FrameNeeds& needs, const StripLabeler& labeler) {
  for (const Strip& strip : table_.strips()) {
    if (strip.index > 0) {
      labeler.merge_upper_border(needs, strip, merger_.parents());
    }
  }
  n_labels_ = merger_.merge();
}

/// The only stage that knows the filter and which pixels are strong.
void RunsPipeline::mark_labels(const Filter& filter, const FrameNeeds& needs, const StripLabeler& labeler,
                               const BitImage* strong, FrameCounts* counts) {
  if (needs.areas) {
    merger_.merge_areas(marks_.get());
    if (strong != nullptr) {
      drop_weak_components(*strong);
    }
    if (needs.sums) {
      label_sums_.allocate();
      for_each_strip([&](const Strip& strip) { label_sums_.measure(needs, labeler, strip); });
      label_sums_.merge();
    }
  }
  const auto mark = [&](const Strip& strip) {
    mark_counts_[strip.index] = mark_strip(filter, needs, strip);
    labels_[strip.index] = {{strip.first_label, strip.first_label + strip.n_labels},
                            mark_counts_[strip.index].n_kept};
  };
  if (n_labels_ >= kWorthSharing) {
    for_each_strip(mark);
  } else {
    std::for_each(table_.strips().begin(), table_.strips().end(), mark);
  }
  for (const MarkCounts& of_strip : mark_counts_) {
    std::transform(of_strip.n_removed.begin(), of_strip.n_removed.end(), counts->n_removed, counts->n_removed,
                   std::plus<>());
  }
  if (needs.areas && filter.top_n > 0) {
    counts->n_removed[kTopN] =
        selector_.keep_largest(marks_.get(), labels_, filter.top_n, pool_, record_index_.get());
  }
}

MarkCounts RunsPipeline::mark_strip(const Filter& filter, const FrameNeeds& needs, const Strip& strip) {
  const IndexSpan labels{strip.first_label, strip.first_label + strip.n_labels};
  const uint32_t n_components = strip.n_labels - static_cast<uint32_t>(merger_.parts(strip).size());
  MarkCounts counts;
  if (!needs.areas) {  // all components are too small, and areas were not added up
    std::fill_n(marks_.get() + labels.begin, labels.size(), 0);
    counts.n_removed[kMinArea] = n_components;
  } else if (needs.sums) {
    counts = mark_by_sums(
        filter, labels,
        [&](uint32_t label) { return label_sums_.filter_sums(label, marks_[label], config_); }, marks_.get());
  } else if (needs.marks) {
    counts = mark_by_area(filter, labels, marks_.get());
  } else {
    counts.n_kept = n_components;
  }
  return counts;
}

/// Gives components without strong pixels (ccl/segment/hysteresis.h) the area 0, with which nothing is kept.
void RunsPipeline::drop_weak_components(const BitImage& strong) {
  uint32_t* is_strong = values_.get();
  for_each_strip([&](const Strip& strip) {
    std::fill_n(is_strong + strip.first_label, strip.n_labels, 0);
    for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
      mark_strong_runs(std::as_const(table_), y, strong.row(y), is_strong);
    }
  });
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : merger_.parts(strip)) {
      is_strong[merger_.root(part)] |= is_strong[part];
    }
  }
  for_each_strip([&](const Strip& strip) {
    for (uint32_t label = strip.first_label; label < strip.first_label + strip.n_labels; ++label) {
      marks_[label] &= 0 - is_strong[label];
    }
  });
}

void RunsPipeline::measure(const MeasureJob& job) {
  for_each_strip([&](const Strip& strip) {
    selector_.assign(strip.index, record_index_.get());
    measure_strip(job, strip, selector_.records(strip.index));
  });
  measure_parts(job);
}

/// Makes the records from the sums of all components.
void RunsPipeline::make_records(const FrameNeeds& needs, uint32_t features, CclComponent* records) {
  for_each_strip([&](const Strip& strip) {
    selector_.assign(strip.index, record_index_.get());
    label_sums_.make_records(needs, strip, config_, features, marks_.get(), record_index_.get(), records);
  });
}

/// Makes the grey records. Measuring has overwritten what it no longer needed of the record indices.
void RunsPipeline::measure_grey(const GreyJob& job, const FrameNeeds& needs, const StripLabeler& labeler,
                                FrameResult* result) {
  const auto n_records = static_cast<uint32_t>(result->components.size());
  if (n_records > 0) {
    grey_.allocate();
    for_each_strip([&](const Strip& strip) {
      selector_.assign(strip.index, record_index_.get());
      grey_.measure(labeler, needs, strip, job.source, selector_.records(strip.index), n_records,
                    record_index_.get());
    });
    grey_.make_records(record_index_.get(), result->components.data(), n_records, job.records);
  }
  result->grey = {job.records, n_records};
}

/// Record indices of parts are those of their roots.
void RunsPipeline::replace_parts_of_kept_runs(uint32_t n_records) {
  if (!is_merged()) {
    return;
  }
  uint32_t* record_of_part = values_.get();
  for (const Strip& strip : table_.strips()) {
    for (const uint32_t part : merger_.parts(strip)) {
      *record_of_part++ = record_index_[part];
    }
  }
  for_each_strip(
      [&](const Strip& strip) { replace_parts(strip, n_records, values_.get(), &tracks_->runs()); });
}

/// Gives the components with a record their ids.
void RunsPipeline::track(const FrameJob& job, const FrameNeeds& needs, const StripLabeler& labeler,
                         const ResultTables& tables, FrameResult* result) {
  if (!result->components.empty()) {
    // Measuring has overwritten what it no longer needed.
    for_each_strip([&](const Strip& strip) { selector_.assign(strip.index, record_index_.get()); });
    merger_.copy_to_parts(record_index_.get());
  }
  if (keeps_runs_while_measuring(needs, result->counts)) {
    replace_parts_of_kept_runs(static_cast<uint32_t>(result->components.size()));
  } else if (tracks_->needs_runs(result->counts)) {
    for_each_strip([&](const Strip& strip) {
      keep_runs(table_, labeler, needs, strip, record_index_.get(), &tracks_->runs());
    });
  }
  if (job.settings.separation.is_active() && tracks_->needs_runs(result->counts)) {
    parts().find_origins(result->components);
  }
  tracks_->run(job, tables.records, tables.tracks, result);
}

/// Writes the maps that the caller asked for.
void RunsPipeline::write_maps(const FrameJob& job) {
  const auto as_image = [this](uint32_t* map) {
    return OutputImage{reinterpret_cast<uint8_t*>(map), config_.width * sizeof(*map)};
  };
  if (job.root_map != nullptr) {
    find_first_pixels();
    painter_.write_rows(values_.get(), pool_, as_image(job.root_map));
  }
  if (job.labels != nullptr) {
    write_labels(as_image(job.labels));
  }
}

void RunsPipeline::write_labels(const OutputImage& image) {
  if (!is_merged()) {
    painter_.write_labels(pool_, image);
    return;
  }
  values_[0] = 0;
  for_each_strip([this](const Strip& strip) {
    merger_.for_each_range(strip, [this](const LabelRange& range) {
      std::iota(values_.get() + range.first, values_.get() + range.end, range.label);
    });
  });
  merger_.copy_to_parts(values_.get());
  painter_.write_rows(values_.get(), pool_, image);
}

/// Writes 1 + the raster index of each component's first pixel to `values_`.
void RunsPipeline::find_first_pixels() {
  values_[0] = 0;
  for_each_strip([this](const Strip& strip) {
    uint32_t next = strip.first_label;
    for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
      const BitRow<const uint64_t> bits = std::as_const(table_).bits(y);
      const uint32_t* label = table_.label() + table_.row(y).begin - 1;
      for (uint32_t x = 0; x < config_.width; ++x) {
        label += has_bit(bits.starts, x) ? 1 : 0;
        if (has_bit(bits.foreground, x) && *label == next) {
          values_[next++] = y * config_.width + x + 1;
        }
      }
    }
  });
  merger_.copy_to_parts(values_.get());
}

void RunsPipeline::write_planes(const FrameJob& job, const FrameResult& result) {
  const TrackedLabels of_tracks{marks_.get(), record_index_.get(), result.components};
  for_each_plane(config_, job, [&](Plane plane, const PlaneImage& image) {
    values_[0] = 0;
    for_each_strip([&](const Strip& strip) {
      merger_.for_each_range(strip, [&](const LabelRange& range) {
        make_plane_values(plane, tracks_ != nullptr, range, of_tracks, values_.get());
      });
    });
    merger_.copy_to_parts(values_.get());
    painter_.write_rows(values_.get(), pool_, {reinterpret_cast<uint8_t*>(image.values), image.stride});
  });
}

void RunsPipeline::paint(const FrameJob& job, const FrameResult& result) {
  const PaintJob paint_job{
      .config = config_, .settings = job.settings, .input = job.input, .image = job.output};
  const PaintRule rule(paint_job);
  values_[0] = rule.background();
  for_each_strip([&](const Strip& strip) {
    merger_.for_each_range(strip, [&](const LabelRange& range) {
      if (tracks_ != nullptr && has_colors(config_.output)) {
        rule.make_colors_of_ids(range, {marks_.get(), record_index_.get(), result.components}, values_.get());
      } else {
        rule.make_values(range, marks_.get(), values_.get());
      }
    });
  });
  merger_.copy_to_parts(values_.get());
  painter_.paint(paint_job, values_.get(), pool_);
  fill_chroma(config_, job.output);
  if (job.settings.draw_boxes) {
    draw_boxes(result.components, config_, job.output);
  }
}

}  // namespace

std::unique_ptr<Pipeline> make_runs_pipeline(const Config& config, ThreadPool& pool, StreamTracks* tracks) {
  if (has_distances(config)) {  // of a root map, which the common stages have
    return make_common_pipeline(config, pool, tracks);
  }
  return std::make_unique<RunsPipeline>(config, pool, tracks);
}

}  // namespace ccl::host
