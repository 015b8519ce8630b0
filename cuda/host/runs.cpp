// SPDX-License-Identifier: LGPL-2.1-or-later
/// Runs as nodes, from the first stage to the last. Ours; the idea of labelling runs rather than pixels is
/// that of Ronse and Devijver 1984 and He, Chao, Suzuki 2007.
///
/// A row is packed to one bit a pixel and becomes a list of runs, stretches of one segment. Runs of
/// neighbouring rows that touch are linked by a union-find whose roots are the earliest runs, so that one
/// pass over the runs in raster order gives each its label. Where corners connect, rows are labelled two at
/// a time (pair_labeler.h), which makes fewer runs. Everything after that follows from the runs too: their
/// sums have closed forms, and an output row is written by spreading its runs' inks over its bits.
///
/// Threads share the frame by strips of rows (strip_labeler.h), whose labels are merged where strips meet
/// (strip_merger.h). With one thread there is one strip and nothing to merge.
#include <algorithm>
#include <new>
#include <utility>

#include "host/paint.h"
#include "host/pair_lister.h"
#include "host/pipeline.h"
#include "host/run_measure.h"
#include "host/run_painter.h"
#include "host/run_table.h"
#include "host/select.h"
#include "host/strip_labeler.h"
#include "host/strip_merger.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

constexpr uint16_t kBinarySegment = 255;

class RunsPipeline final : public Pipeline {
 public:
  RunsPipeline(const Config& config, ThreadPool& pool);

  void run(const FrameJob& job, CclComponent* records, FrameResult* result) override;

 private:
  bool is_merged() const { return table_.strips().size() > 1; }
  size_t max_records() const { return std::min(size_t{config_.max_components}, table_.n_local_labels() - 1); }
  const uint32_t* areas() const { return is_merged() ? areas_.get() : local_areas_.get(); }
  template <typename Work>
  void for_each_strip(Work work);

  void label(const FrameJob& job);
  void number(const FrameJob& job);
  void measure(const Settings& settings, const Selection& selection, CclComponent* records);
  void make_records(const Settings& settings, CclComponent* records) const;
  void write_maps(const FrameJob& job);
  void find_first_pixels();
  void paint(const FrameJob& job, const FrameResult& result);

  Config config_;
  ThreadPool& pool_;
  RunTable table_;
  std::unique_ptr<uint32_t[]> local_areas_;  ///< per local label
  StripMerger merger_;
  StripLabeler labeler_;
  PairLister lister_;
  RunPainter painter_;
  // Per label, and as long as the worst frame needs; see RunTable.
  std::unique_ptr<uint32_t[]> areas_;  ///< null with one strip
  std::unique_ptr<uint32_t[]> record_of_label_;
  std::unique_ptr<uint32_t[]> ink_;  ///< or the first pixels
  std::unique_ptr<Sums[]> sums_;     ///< per record, then per part of one
  uint32_t n_labels_ = 0;
};

RunsPipeline::RunsPipeline(const Config& config, ThreadPool& pool)
    : config_(config),
      pool_(pool),
      table_(config.width, config.height, count_strips(config.height, pool.n_threads())),
      local_areas_(uninitialized<uint32_t>(table_.n_local_labels())),
      merger_(table_),
      labeler_(kernels(choose_simd_level()), table_, local_areas_.get(), merger_.parents()),
      lister_(kernels(choose_simd_level()), table_),
      painter_(kernels(choose_simd_level()), table_),
      areas_(is_merged() ? uninitialized<uint32_t>(table_.n_local_labels()) : nullptr),
      record_of_label_(uninitialized<uint32_t>(table_.n_local_labels())),
      ink_(uninitialized<uint32_t>(table_.n_local_labels())),
      sums_(uninitialized<Sums>(max_records() + StripMerger::max_parts(table_))) {}

void RunsPipeline::run(const FrameJob& job, CclComponent* records, FrameResult* result) {
  StageClock clock;
  label(job);
  result->times.label = clock.lap();

  number(job);
  result->times.number = clock.lap();

  const Selection selection =
      select(areas(), n_labels_, job.settings, config_.max_components, record_of_label_.get());
  measure(job.settings, selection, records);
  result->n_labels = n_labels_;
  result->n_components = selection.n_components;
  result->components = {records, selection.n_records};
  result->times.measure = clock.lap();

  write_maps(job);
  if (config_.output != Output::kNone) {
    paint(job, *result);
    result->times.paint = clock.lap();
  }
}

template <typename Work>
void RunsPipeline::for_each_strip(Work work) {
  pool_.parallel_for(static_cast<uint32_t>(table_.strips().size()),
                     [&](uint32_t i) { work(table_.strips()[i]); });
}

void RunsPipeline::label(const FrameJob& job) {
  for_each_strip([&](Strip& strip) { labeler_.label(job, strip); });
}

void RunsPipeline::number(const FrameJob& job) {
  if (!is_merged()) {
    n_labels_ = table_.strips().front().n_labels;
    return;
  }
  for (const Strip& strip : table_.strips()) {
    if (strip.index > 0) {
      labeler_.merge_upper_border(job.settings, strip);
    }
  }
  n_labels_ = merger_.number(table_.strips(), local_areas_.get(), areas_.get());
}

void RunsPipeline::measure(const Settings& settings, const Selection& selection, CclComponent* records) {
  const uint32_t n_records = selection.n_records;
  if (is_merged()) {
    std::fill_n(sums_.get(), n_records, Sums{});
  }
  const SumSlots slots{.slots = is_merged() ? merger_.slots() : record_of_label_.get(),
                       .sums = sums_.get(),
                       .n_records = n_records,
                       .records = records,
                       .n_cleared = is_merged() ? n_records : 0};
  for_each_strip([&](const Strip& strip) {
    if (is_merged()) {
      merger_.assign_slots(strip, record_of_label_.get(), n_records, sums_.get());
    }
    if (n_records > 0) {
      measure_runs(table_, lister_, strip, settings, slots);
    }
    if (is_merged()) {
      const uint32_t* canonical = merger_.canonical();
      uint32_t* label = table_.label();
      std::transform(label + strip.first_run, label + table_.row(strip.y_end - 1).end,
                     label + strip.first_run, [canonical](uint32_t local) { return canonical[local]; });
    }
  });
  if (is_merged()) {
    merger_.merge_sums(record_of_label_.get(), n_records, sums_.get());
  }
  make_records(settings, records);
}

void RunsPipeline::make_records(const Settings& settings, CclComponent* records) const {
  const bool is_binary = settings.rule.foreground == Foreground::kBinary;
  for (uint32_t label = 1; label <= n_labels_; ++label) {
    if (const uint32_t record = record_of_label_[label]; record != kNoRecord) {
      const uint16_t value = is_binary ? kBinarySegment : records[record].value;
      // In place: copied, its small stores would be loaded again by larger loads, which must wait for them.
      new (&records[record]) CclComponent(make_component(label, areas()[label], value, sums_[record],
                                                         settings.features, config_.width, config_.height));
    }
  }
}

/// Writes the maps that the caller wants to see.
void RunsPipeline::write_maps(const FrameJob& job) {
  const auto as_image = [this](uint32_t* map) {
    return OutputImage{reinterpret_cast<uint8_t*>(map), config_.width * sizeof(*map)};
  };
  if (job.root_map != nullptr) {
    find_first_pixels();
    painter_.write_rows(ink_.get(), pool_, as_image(job.root_map));
  }
  if (job.labels != nullptr) {
    painter_.write_labels(pool_, as_image(job.labels));
  }
}

/// Writes 1 + the raster index of each label's first pixel over the inks.
void RunsPipeline::find_first_pixels() {
  uint32_t n_found = 0;
  ink_[0] = 0;
  for (uint32_t y = 0; y < config_.height; ++y) {
    const BitRow<const uint64_t> bits = std::as_const(table_).bits(y);
    const uint32_t* label = table_.label() + table_.row(y).begin - 1;
    for (uint32_t x = 0; x < config_.width; ++x) {
      label += has_bit(bits.starts, x) ? 1 : 0;
      if (has_bit(bits.foreground, x) && *label > n_found) {
        ink_[++n_found] = y * config_.width + x + 1;
      }
    }
  }
}

void RunsPipeline::paint(const FrameJob& job, const FrameResult& result) {
  const PaintJob paint_job{.config = config_,
                           .settings = job.settings,
                           .areas = areas(),
                           .n_labels = n_labels_,
                           .input = job.input,
                           .image = job.output};
  mix_ink(paint_job, ink_.get());
  painter_.paint(paint_job, ink_.get(), pool_);
  if (job.settings.draw_boxes) {
    draw_boxes(result.components, config_, job.output);
  }
}

}  // namespace

std::unique_ptr<Pipeline> make_runs_pipeline(const Config& config, ThreadPool& pool) {
  return std::make_unique<RunsPipeline>(config, pool);
}

}  // namespace ccl::host
