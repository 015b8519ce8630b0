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
#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

#include "host/pipeline.h"
#include "host/runs/measure.h"
#include "host/runs/painter.h"
#include "host/runs/pair_lister.h"
#include "host/runs/strip_labeler.h"
#include "host/runs/strip_merger.h"
#include "host/runs/table.h"
#include "host/stages/paint.h"
#include "host/stages/select.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

class RunsPipeline final : public Pipeline {
 public:
  RunsPipeline(const Config& config, ThreadPool& pool)
      : RunsPipeline(config, pool, kernels(choose_simd_level())) {}

  void run(const FrameJob& job, CclComponent* records, FrameResult* result) override;

 private:
  RunsPipeline(const Config& config, ThreadPool& pool, const Kernels& kernels);

  bool is_merged() const { return table_.strips().size() > 1; }
  size_t max_records() const { return std::min(size_t{config_.max_components}, table_.n_local_labels() - 1); }
  template <typename Work>
  void for_each_strip(Work work);

  void label(const FrameJob& job);
  void number(const Settings& settings);
  Selection select(const Settings& settings);
  void measure(const Settings& settings, uint32_t n_records, CclComponent* records);
  void write_maps(const FrameJob& job);
  void write_labels(const OutputImage& image);
  void find_first_pixels();
  void paint(const FrameJob& job, const FrameResult& result);

  Config config_;
  ThreadPool& pool_;
  RunTable table_;
  StripMerger merger_;
  // Per local label, and as long as the worst frame needs; see RunTable.
  std::unique_ptr<uint32_t[]> areas_;
  std::unique_ptr<uint32_t[]> record_of_label_;
  std::unique_ptr<uint32_t[]> ink_;    ///< or what a map has
  std::unique_ptr<std::byte[]> sums_;  ///< per record, then per part of one
  StripLabeler labeler_;
  std::vector<IndexSpan> labels_;  ///< per strip
  Selector selector_;
  PairLister lister_;
  RunPainter painter_;
  uint32_t n_labels_ = 0;
};

RunsPipeline::RunsPipeline(const Config& config, ThreadPool& pool, const Kernels& kernels)
    : config_(config),
      pool_(pool),
      table_(config.width, config.height, count_strips(config.height, pool.n_threads())),
      merger_(table_),
      areas_(uninitialized<uint32_t>(table_.n_local_labels())),
      record_of_label_(uninitialized<uint32_t>(table_.n_local_labels())),
      ink_(uninitialized<uint32_t>(table_.n_local_labels())),
      sums_(uninitialized<std::byte>((max_records() + StripMerger::max_parts(table_)) * sizeof(Sums))),
      labeler_(kernels, table_, areas_.get(), merger_.parents()),
      labels_(table_.strips().size()),
      selector_(table_.strips().size()),
      lister_(kernels, table_),
      painter_(kernels, table_) {}

void RunsPipeline::run(const FrameJob& job, CclComponent* records, FrameResult* result) {
  StageClock clock;
  label(job);
  result->times.label = clock.lap();

  number(job.settings);
  result->times.number = clock.lap();

  const Selection selection = select(job.settings);
  if (selection.n_records > 0) {
    measure(job.settings, selection.n_records, records);
  }
  result->counts.n_labels = n_labels_;
  result->counts.n_components = selection.n_components;
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

void RunsPipeline::number(const Settings& settings) {
  for (const Strip& strip : table_.strips()) {
    if (strip.index > 0) {
      labeler_.merge_upper_border(settings, strip);
    }
  }
  n_labels_ = merger_.merge();
}

Selection RunsPipeline::select(const Settings& settings) {
  if (!needs_areas(settings, config_.width * config_.height)) {
    // Nothing passes; the painter, who asks for each area, must find so.
    for (const Strip& strip : table_.strips()) {
      std::fill_n(areas_.get() + strip.first_label, strip.n_labels, 0);
    }
    return {};
  }
  merger_.merge_areas(areas_.get());
  std::transform(table_.strips().begin(), table_.strips().end(), labels_.begin(), [](const Strip& strip) {
    return IndexSpan{strip.first_label, strip.first_label + strip.n_labels};
  });
  return selector_.choose(areas_.get(), labels_, settings, config_.max_components, pool_);
}

void RunsPipeline::measure(const Settings& settings, uint32_t n_records, CclComponent* records) {
  const MeasureJob job{.config = config_,
                       .settings = settings,
                       .areas = areas_.get(),
                       .slots = record_of_label_.get(),
                       .n_records = n_records,
                       .sums = sums_.get(),
                       .records = records};
  for_each_strip([&](const Strip& strip) {
    selector_.assign(strip.index, record_of_label_.get());
    measure_strip(table_, lister_, merger_, strip, selector_.records(strip.index), job);
  });
  measure_parts(table_, merger_, job);
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
    write_labels(as_image(job.labels));
  }
}

void RunsPipeline::write_labels(const OutputImage& image) {
  if (!is_merged()) {
    painter_.write_labels(pool_, image);
    return;
  }
  ink_[0] = 0;
  for_each_strip([this](const Strip& strip) {
    merger_.for_each_range(strip, [this](const LabelRange& range) {
      std::iota(ink_.get() + range.first, ink_.get() + range.end, range.label);
    });
  });
  merger_.copy_to_parts(ink_.get());
  painter_.write_rows(ink_.get(), pool_, image);
}

/// Writes 1 + the raster index of each component's first pixel over the inks.
void RunsPipeline::find_first_pixels() {
  ink_[0] = 0;
  for_each_strip([this](const Strip& strip) {
    uint32_t next = strip.first_label;
    for (uint32_t y = strip.y_begin; y < strip.y_end; ++y) {
      const BitRow<const uint64_t> bits = std::as_const(table_).bits(y);
      const uint32_t* label = table_.label() + table_.row(y).begin - 1;
      for (uint32_t x = 0; x < config_.width; ++x) {
        label += has_bit(bits.starts, x) ? 1 : 0;
        if (has_bit(bits.foreground, x) && *label == next) {
          ink_[next++] = y * config_.width + x + 1;
        }
      }
    }
  });
  merger_.copy_to_parts(ink_.get());
}

void RunsPipeline::paint(const FrameJob& job, const FrameResult& result) {
  const PaintJob paint_job{
      .config = config_, .settings = job.settings, .input = job.input, .image = job.output};
  const InkMixer mixer(paint_job);
  ink_[0] = mixer.background();
  for_each_strip([&](const Strip& strip) {
    merger_.for_each_range(strip,
                           [&](const LabelRange& range) { mixer.mix(range, areas_.get(), ink_.get()); });
  });
  merger_.copy_to_parts(ink_.get());
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
