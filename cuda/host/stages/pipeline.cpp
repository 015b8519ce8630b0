// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipeline of the published labelers: label → separate → number → select → measure → paint, each stage a
/// pass over pixels or labels. Also makes the pipeline of any algorithm.
#include <algorithm>
#include <numeric>
#include <utility>

#include "host/labelers/labeler.h"
#include "host/memory.h"
#include "host/pipeline.h"
#include "host/stages/distances.h"
#include "host/stages/mark.h"
#include "host/stages/measure.h"
#include "host/stages/number.h"
#include "host/stages/paint.h"
#include "host/stages/plane.h"
#include "host/stages/row_chunks.h"
#include "host/stages/select.h"
#include "host/stages/separate/separator.h"
#include "host/stages/track.h"
#include "host/thread_pool.h"

namespace ccl::host {

namespace {

size_t padded_stride(const Config& config) {
  return size_t{config.width} + 2;
}

size_t count_pixels(const Config& config) {
  return size_t{config.width} * config.height;
}

size_t count_records(const Config& config) {
  return std::min(size_t{config.max_components}, count_pixels(config));
}

class StagedPipeline final : public Pipeline {
 public:
  StagedPipeline(const Config& config, std::unique_ptr<Labeler> labeler, ThreadPool& pool,
                 StreamTracks* tracks);

  void run(const FrameJob& job, const FrameBits& bits, const ResultTables& tables,
           FrameResult* result) override;

 private:
  Separator& separator();
  void separate(const FrameJob& job, const FrameBits& bits, uint32_t* root_map);
  void read_segments(const FrameJob& job, const FrameBits& bits);
  void apply_rule(const FrameJob& job);
  void unpack_segments(const BitImage& bits);
  void drop_weak_components(const BitImage& strong, const uint32_t* labels, uint32_t n_labels);
  uint32_t mark(const FrameJob& job, const LabeledFrame& frame, const BitImage* strong, FrameCounts* counts);
  MarkCounts mark_by_all_sums(const FrameJob& job, const LabeledFrame& frame);
  void track(const FrameJob& job, const LabeledFrame& frame, const ResultTables& tables, FrameResult* result);
  void measure_grey(const LabeledFrame& frame, const GreyJob& job, FrameResult* result);
  void write_planes(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result);
  void paint_frame(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result);

  Config config_;
  ThreadPool& pool_;
  StreamTracks* tracks_;  ///< null: components have no identity over time
  // Arrays are as long as the worst frame needs and never filled in advance, so that pages which ordinary
  // frames do not reach stay unmapped. Segments are zeroed once: later only the part inside the border is
  // written.
  std::unique_ptr<uint8_t[]> padded_segments_;
  SegmentSource segments_;
  std::unique_ptr<uint32_t[]> root_map_;      ///< per pixel; if the frame asks for no copy
  std::unique_ptr<uint32_t[]> labels_;        ///< per pixel; if the frame asks for no copy
  std::unique_ptr<uint32_t[]> marks_;         ///< per label; areas until mark()
  std::unique_ptr<uint32_t[]> record_index_;  ///< per label
  std::unique_ptr<uint32_t[]> paint_values_;  ///< per label
  std::unique_ptr<Sums[]> sums_;              ///< per record
  std::unique_ptr<uint8_t[]> values_;         ///< per record
  std::unique_ptr<Sums[]> label_sums_;        ///< per label, once a filter has read other sums than areas
  std::unique_ptr<uint8_t[]> label_values_;   ///< likewise
  std::unique_ptr<GreySums[]> grey_sums_;     ///< per record, once a frame asked for grey statistics
  std::unique_ptr<Labeler> labeler_;
  std::unique_ptr<Distances> distances_;  ///< with has_distances()
  std::unique_ptr<Separator> separator_;  ///< once a frame was separated
  std::unique_ptr<uint8_t[]> colors_;     ///< per pixel, once tracks guided cuts
  Selector selector_{1};
};

StagedPipeline::StagedPipeline(const Config& config, std::unique_ptr<Labeler> labeler, ThreadPool& pool,
                               StreamTracks* tracks)
    : config_(config),
      pool_(pool),
      tracks_(tracks),
      padded_segments_(std::make_unique<uint8_t[]>(padded_stride(config) * (size_t{config.height} + 2))),
      segments_{padded_segments_.get() + padded_stride(config) + 1, padded_stride(config), config.width,
                config.height},
      root_map_(uninitialized<uint32_t>(count_pixels(config))),
      labels_(uninitialized<uint32_t>(count_pixels(config))),
      marks_(uninitialized<uint32_t>(count_pixels(config) + 1)),
      record_index_(uninitialized<uint32_t>(count_pixels(config) + 1)),
      paint_values_(uninitialized<uint32_t>(count_pixels(config) + 1)),
      sums_(uninitialized<Sums>(count_records(config))),
      values_(uninitialized<uint8_t>(count_records(config))),
      labeler_(std::move(labeler)),
      distances_(has_distances(config) ? std::make_unique<Distances>(config.width, config.height, pool)
                                       : nullptr) {}

void StagedPipeline::run(const FrameJob& job, const FrameBits& bits, const ResultTables& tables,
                         FrameResult* result) {
  uint32_t* root_map = job.root_map != nullptr ? job.root_map : root_map_.get();
  uint32_t* labels = job.labels != nullptr ? job.labels : labels_.get();
  StageClock clock;
  read_segments(job, bits);
  labeler_->label(segments_, job.settings.connectivity, root_map);
  if (distances_ != nullptr) {
    distances_->measure(root_map, job.settings.separation.aspect);
  }
  if (job.settings.separation.is_active()) {
    separate(job, bits, root_map);
  }
  result->counts.n_iterations = labeler_->iterations();
  result->times.label = clock.lap();

  const uint32_t n_labels = number(root_map, config_.width * config_.height, labels, marks_.get());
  result->times.number = clock.lap();

  const LabeledFrame frame{segments_, labels, n_labels, job.settings.separation.is_active()};
  const uint32_t n_records = mark(job, frame, bits.strong, &result->counts);
  selector_.assign(0, record_index_.get());
  const bool has_label_sums = job.settings.filter.needs() != 0;
  const RecordTable table{.marks = marks_.get(),
                          .record_index = record_index_.get(),
                          .n_records = n_records,
                          .sums = has_label_sums ? label_sums_.get() : sums_.get(),
                          .values = has_label_sums ? label_values_.get() : values_.get(),
                          .records = tables.records};
  if (has_label_sums) {
    make_records(frame, record_features(job.settings), table);
  } else {
    measure_records(frame, job.settings, table);
  }
  result->counts.n_labels = n_labels;
  result->components = {tables.records, n_records};
  if (tables.grey.is_wanted()) {
    measure_grey(frame, tables.grey, result);
  }
  result->times.measure = clock.lap();

  if (tracks_ != nullptr) {
    track(job, frame, tables, result);
    result->times.track = clock.lap();
  }

  if (config_.planes != 0) {
    write_planes(job, frame, *result);
  }
  if (config_.output != Output::kNone) {
    paint_frame(job, frame, *result);
  }
  if (config_.planes != 0 || config_.output != Output::kNone) {
    result->times.paint = clock.lap();
  }
}

Separator& StagedPipeline::separator() {
  if (separator_ == nullptr) {
    separator_ = std::make_unique<Separator>(config_.width, config_.height, pool_, tracks_);
  }
  return *separator_;
}

void StagedPipeline::read_segments(const FrameJob& job, const FrameBits& bits) {
  if (bits.foreground != nullptr) {
    unpack_segments(*bits.foreground);
  } else {
    apply_rule(job);
  }
}

/// Makes the root map of components that of their parts. Parts that tracks have guided are labelled as
/// values.
void StagedPipeline::separate(const FrameJob& job, const FrameBits& bits, uint32_t* root_map) {
  const Parts parts = separator().find_parts(job.settings, root_map);
  if (parts == Parts::kNone) {
    return;
  }
  if (parts == Parts::kByShape || !separator().color()) {
    separator().write_roots(root_map);
    return;
  }
  if (colors_ == nullptr) {
    colors_ = uninitialized<uint8_t>(count_pixels(config_));
  }
  for (size_t y = 0; y < config_.height; ++y) {
    std::copy_n(segments_.pixels + y * segments_.stride, config_.width, colors_.get() + y * config_.width);
  }
  separator().paint(colors_.get(), config_.width);
  for (size_t y = 0; y < config_.height; ++y) {
    std::copy_n(colors_.get() + y * config_.width, config_.width,
                padded_segments_.get() + (y + 1) * segments_.stride + 1);
  }
  labeler_->label(segments_, job.settings.connectivity, root_map);
  read_segments(job, bits);
}

/// Applies the foreground rule to the input.
void StagedPipeline::apply_rule(const FrameJob& job) {
  const ForegroundRule rule = job.settings.rule;
  for_each_row(pool_, config_.height, [&](size_t y, uint32_t) {
    const uint8_t* in = job.input.pixels + y * job.input.stride;
    uint8_t* out = padded_segments_.get() + (y + 1) * segments_.stride + 1;
    std::transform(in, in + config_.width, out, [rule](uint8_t value) { return rule.segment(value); });
  });
}

/// Makes kBinarySegment of each bit that is 1.
void StagedPipeline::unpack_segments(const BitImage& bits) {
  for_each_row(pool_, config_.height, [&](uint32_t y, uint32_t) {
    bits.write_segments(y, padded_segments_.get() + (y + size_t{1}) * segments_.stride + 1);
  });
}

/// Marks the components and chooses the ones with a record. Returns the number of records.
uint32_t StagedPipeline::mark(const FrameJob& job, const LabeledFrame& frame, const BitImage* strong,
                              FrameCounts* counts) {
  const Filter& filter = job.settings.filter;
  MarkedLabels labels{.labels = {1, frame.n_labels + 1}, .n_kept = frame.n_labels};
  if (strong != nullptr) {
    drop_weak_components(*strong, frame.labels, frame.n_labels);
  }
  if (strong != nullptr || filter.is_active(config_.width * config_.height)) {
    const MarkCounts marked = filter.needs() != 0 ? mark_by_all_sums(job, frame)
                                                  : mark_by_area(filter, labels.labels, marks_.get());
    labels.n_kept = marked.n_kept;
    std::copy(marked.n_removed.begin(), marked.n_removed.end(), counts->n_removed);
  }
  if (filter.top_n > 0) {
    counts->n_removed[kTopN] =
        selector_.keep_largest(marks_.get(), {&labels, 1}, filter.top_n, pool_, record_index_.get());
  }
  return selector_.choose(marks_.get(), {&labels, 1}, config_.max_components, pool_, counts);
}

/// Measures all components, and marks them.
MarkCounts StagedPipeline::mark_by_all_sums(const FrameJob& job, const LabeledFrame& frame) {
  if (label_sums_ == nullptr) {
    label_sums_ = uninitialized<Sums>(count_pixels(config_));
    label_values_ = uninitialized<uint8_t>(count_pixels(config_));
  }
  std::iota(record_index_.get() + 1, record_index_.get() + frame.n_labels + 1, 0);
  measure_sums(frame, job.settings.connectivity, measured_features(job.settings),
               {record_index_.get(), frame.n_labels, label_sums_.get(), label_values_.get()});
  return mark_by_sums(
      job.settings.filter, {1, frame.n_labels + 1},
      [this](uint32_t label) {
        return filter_sums(marks_[label], label_sums_[label - 1], config_.width, config_.height);
      },
      marks_.get());
}

/// Gives components without strong pixels (ccl/segment/hysteresis.h) the area 0, with which nothing is kept.
void StagedPipeline::drop_weak_components(const BitImage& strong, const uint32_t* labels, uint32_t n_labels) {
  uint32_t* is_strong = paint_values_.get();
  std::fill_n(is_strong, n_labels + 1, 0);
  for (uint32_t y = 0; y < config_.height; ++y, labels += config_.width) {
    const uint64_t* row = strong.row(y);
    for (uint32_t x = 0; x < config_.width; ++x) {
      is_strong[labels[x]] |= has_bit(row, x) ? 1 : 0;
    }
  }
  for (uint32_t label = 1; label <= n_labels; ++label) {
    marks_[label] &= 0 - is_strong[label];
  }
}

void StagedPipeline::measure_grey(const LabeledFrame& frame, const GreyJob& job, FrameResult* result) {
  if (grey_sums_ == nullptr) {
    grey_sums_ = uninitialized<GreySums>(count_records(config_));
  }
  const auto n_records = static_cast<uint32_t>(result->components.size());
  ccl::host::measure_grey(frame, job, record_index_.get(), result->components.data(), n_records,
                          grey_sums_.get());
  result->grey = {job.records, n_records};
}

/// Gives the components with a record their ids.
void StagedPipeline::track(const FrameJob& job, const LabeledFrame& frame, const ResultTables& tables,
                           FrameResult* result) {
  if (tracks_->needs_runs(result->counts)) {
    write_kept_runs(frame, record_index_.get(), &tracks_->runs());
    if (job.settings.separation.is_active()) {
      separator().find_origins(colors_.get(), result->components);
    }
  }
  tracks_->run(job, tables.records, tables.tracks, result);
}

void StagedPipeline::write_planes(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result) {
  const LabelRange labels{.first = 1, .end = frame.n_labels + 1, .label = 1};
  const TrackedLabels of_tracks{marks_.get(), record_index_.get(), result.components};
  for_each_plane(config_, job, [&](Plane plane, const PlaneImage& image) {
    paint_values_[0] = 0;
    make_plane_values(plane, tracks_ != nullptr, labels, of_tracks, paint_values_.get());
    if (plane == kDistancePlane) {
      distances_->write(frame.labels, paint_values_.get(), image);
      return;
    }
    for_each_row(pool_, config_.height, [&](uint32_t y, uint32_t) {
      const uint32_t* row = frame.labels + size_t{y} * config_.width;
      std::transform(row, row + config_.width, image.values + y * (image.stride / sizeof(uint32_t)),
                     [this](uint32_t label) { return paint_values_[label]; });
    });
  });
}

void StagedPipeline::paint_frame(const FrameJob& job, const LabeledFrame& frame, const FrameResult& result) {
  const PaintJob paint_job{
      .config = config_, .settings = job.settings, .input = job.input, .image = job.output};
  const PaintRule rule(paint_job);
  paint_values_[0] = rule.background();
  const LabelRange labels{.first = 1, .end = frame.n_labels + 1, .label = 1};
  if (tracks_ != nullptr && has_colors(config_.output)) {
    rule.make_colors_of_ids(labels, {marks_.get(), record_index_.get(), result.components},
                            paint_values_.get());
  } else {
    rule.make_values(labels, marks_.get(), paint_values_.get());
  }
  if (has_distances(config_.output)) {
    distances_->write(frame.labels, paint_values_.get(), config_.output, job.output);
    return;
  }
  paint(paint_job, paint_values_.get(), pool_,
        [&](uint32_t y, uint32_t) { return frame.labels + size_t{y} * config_.width; });
  fill_chroma(config_, job.output);
  if (job.settings.draw_boxes) {
    draw_boxes(result.components, config_, job.output);
  }
}

}  // namespace

std::unique_ptr<Pipeline> make_pipeline(const Config& config, const AlgorithmInfo& algorithm,
                                        ThreadPool& pool, StreamTracks* tracks) {
  if (algorithm.host.make_pipeline != nullptr) {
    return algorithm.host.make_pipeline(config, pool, tracks);
  }
  return std::make_unique<StagedPipeline>(
      config, algorithm.host.make_labeler(config.width, config.height, pool), pool, tracks);
}

}  // namespace ccl::host
