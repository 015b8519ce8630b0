// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/slot.h"

#include <algorithm>
#include <utility>

#include "device/check.h"
#include "device/stages/compose.h"
#include "device/stages/paint.h"

namespace ccl::device {

namespace {

/// Whether a mask is what the pipelines paint.
bool is_plain_mask(const FrameJob& job) {
  return job.settings.mask_on == 255 && job.settings.mask_off == 0 && job.output.chroma[0] == nullptr;
}

/// Completes the counts of what the filter removes. Only a filter with several conditions has them counted;
/// of one limit of the area, the number follows. An inactive one removes nothing, and what the counts have is
/// an earlier frame's.
void complete_removed(const Filter& filter, uint32_t n_pixels, bool has_hysteresis, FrameCounts* counts) {
  const uint32_t condition = filter.only_area_condition(n_pixels);
  if (filter.is_active(n_pixels) && (condition == kPassed || has_hysteresis)) {
    return;
  }
  std::fill_n(counts->n_removed, size_t{kFilterConditions}, 0);
  if (condition != kPassed) {
    counts->n_removed[condition] = counts->n_labels - counts->n_components;
  }
}

}  // namespace

Slot::~Slot() {
  wait();
}

Status Slot::configure(const Config& config, std::unique_ptr<Pipeline> pipeline, const CopyStreams* copies,
                       Segmenter* segmenter, Tracker* tracker, TrackDrawing* track_drawing) {
  config_ = config;
  segmenter_ = segmenter;
  tracker_ = tracker;
  track_drawing_ = track_drawing;
  frame_.is_tracked = tracker != nullptr;
  pipeline_ = std::move(pipeline);
  CCL_RETURN_IF_ERROR(stream_.create());
  CCL_RETURN_IF_ERROR(timeline_.create());
  CCL_RETURN_IF_ERROR(transfers_.configure(config, stream_, copies));
  CCL_RETURN_IF_ERROR(planes_.configure(config));
  CCL_RETURN_IF_ERROR(delivery_.configure(config.max_components, stream_));
  delivery_.place(&frame_);
  if (tracker_ != nullptr) {
    CCL_RETURN_IF_ERROR(track_delivery_.configure(config.max_tracks));
    tracks_ = {track_delivery_.tracks(), &tracker_->header()->n_tracks};
  }
  return {};
}

void Slot::wait() {
  transfers_.wait();
}

Status Slot::start(const FrameJob& job) {
  job_ = job;
  CCL_RETURN_IF_ERROR(transfers_.place(job_, &frame_));
  CCL_RETURN_IF_ERROR(transfers_.upload(job_, timeline_));
  CCL_RETURN_IF_ERROR(planes_.place(job_, timeline_, stream_));
  CCL_RETURN_IF_ERROR(prepare_segment());
  if (tracker_ != nullptr) {
    track_step_ = tracker_->next_step(job_);
  }
  CCL_RETURN_IF_ERROR(process());
  CCL_RETURN_IF_ERROR(complete_output());
  if (tracker_ != nullptr) {
    CCL_RETURN_IF_ERROR(tracker_->end(stream_));  // what is drawn depends on the tracker's memory too
  }
  CCL_RETURN_IF_ERROR(write_planes());
  return downloads_late() ? Status() : deliver_images();
}

/// Decides what the segment stage does, and takes the memory for it.
Status Slot::prepare_segment() {
  settings_ = job_.settings;
  frame_.bits = nullptr;
  frame_.strong_bits = nullptr;
  source_ = transfers_.source(job_, frame_);
  plan_ = {};
  if (source_.has_pixels()) {
    const bool needs_chroma = job_.settings.rule.foreground == Foreground::kMotion;
    CCL_RETURN_IF_ERROR(luma_planes_.place(config_.width, config_.height, needs_chroma, &source_));
    frame_.input = source_.luma.pixels;
    frame_.input_pitch = source_.luma.pitch;
    plan_.source = source_;
  }
  frame_.needs_labels = has_grey(job_.settings) || config_.planes != 0;
  frame_.label_map = keeps_all_labels() ? planes_.label_map(job_) : nullptr;
  grey_source_ = grey_source(source_.pixels, {.pixels = frame_.input, .stride = frame_.input_pitch});
  if (makes_bits(job_.settings.rule, job_.segmentation, job_.regions != nullptr)) {
    CCL_RETURN_IF_ERROR(prepare_bits());
  }
  frame_.is_composed = is_composed(config_.output, source_);
  if (frame_.is_composed) {
    settings_ = settings_of_values(config_.output, settings_);
  }
  return {};
}

Status Slot::prepare_bits() {
  CCL_RETURN_IF_ERROR(bits_.prepare(job_, config_, stream_));
  CCL_RETURN_IF_ERROR(segmenter_->prepare(job_, source_, &bits_, &plan_));
  settings_.rule = kBitRule;
  frame_.bits = bits_.foreground();
  frame_.strong_bits = bits_.strong();
  return shows_model() ? place_background() : Status();
}

/// Whether a plane of labels is what the labeler leaves. Tracks need labels until the next frame, when the
/// plane is the caller's again.
bool Slot::keeps_all_labels() const {
  return tracker_ == nullptr && !job_.settings.filter.is_active(config_.width * config_.height);
}

bool Slot::shows_model() const {
  return config_.output == Output::kBackground && job_.settings.rule.foreground == Foreground::kMotion;
}

/// Puts what the model believes in the place of the source. Values of chroma are those of the first pixel of
/// each chroma pixel.
Status Slot::place_background() {
  const size_t n_pixels = size_t{config_.width} * config_.height;
  if (background_.data() == nullptr) {
    CCL_RETURN_IF_ERROR(background_.allocate(3 * n_pixels));
  }
  const Chroma chroma = std::exchange(source_.chroma, {});
  if (chroma.u != nullptr) {
    source_.chroma = {.u = background_.data() + n_pixels,
                      .v = background_.data() + 2 * n_pixels,
                      .stride = size_t{config_.width} << chroma.shift_y,
                      .step = static_cast<uint8_t>(1u << chroma.shift_x),
                      .shift_x = chroma.shift_x,
                      .shift_y = chroma.shift_y};
  }
  source_.luma = {background_.data(), config_.width, config_.width, config_.height};
  source_.pixels = {};
  return {};
}

/// Launches everything between the upload and the download, except for what complete_output() adds.
Status Slot::process() {
  if (settings_.rule.foreground != foreground_) {
    graphs_.clear();  // prepare() will allocate other memory
    foreground_ = settings_.rule.foreground;
  }
  GraphCache::Entry* captured = nullptr;
  CCL_RETURN_IF_ERROR(graphs_.find(
      {frame_, settings_, plan_}, [this](Graph* graph, uint32_t* marks) { return capture(graph, marks); },
      &captured));
  timeline_.set_marks(captured->marks);
  return launch(&captured->graph);
}

/// Launches the frame's graph behind the frames whose state it continues.
Status Slot::launch(Graph* graph) {
  if (plan_.has_bits) {
    CCL_RETURN_IF_ERROR(segmenter_->begin(stream_));
    CCL_RETURN_IF_ERROR(segmenter_->set_step(plan_, bits_, graph));
  }
  if (tracker_ != nullptr) {
    CCL_RETURN_IF_ERROR(tracker_->begin(stream_));
    CCL_RETURN_IF_ERROR(tracker_->set_step(track_step_, graph));
  }
  CCL_RETURN_IF_ERROR(graph->launch(stream_));
  return plan_.has_bits ? segmenter_->end(stream_) : Status();
}

Status Slot::capture(Graph* graph, uint32_t* marks) {
  CCL_RETURN_IF_ERROR(pipeline_->prepare(settings_, frame_));
  if (has_grey(settings_)) {
    CCL_RETURN_IF_ERROR(grey_.prepare(config_.max_components, stream_));
  }
  timeline_.clear_marks();
  if (plan_.rule.foreground == Foreground::kMotion || tracker_ != nullptr) {
    graph->reset();  // see Graph::set_last_argument()
  }
  CCL_RETURN_IF_ERROR(graph->capture(stream_, [this]() -> Status {
    CCL_RETURN_IF_ERROR(enqueue_segment());
    CCL_RETURN_IF_ERROR(pipeline_->enqueue(settings_, frame_, stream_.get(), &timeline_));
    if (tracker_ != nullptr) {
      CCL_RETURN_IF_ERROR(enqueue_track());
    }
    if (has_grey(settings_)) {
      CCL_RETURN_IF_ERROR(enqueue_grey());
    }
    return delivery_.enqueue(pipeline_->defers_overflow(), stream_);
  }));
  *marks = timeline_.marks();
  return {};
}

/// Enqueues the writing of the frame's plane of luma, if its input is none, and of its bit images, if its
/// rule needs them.
Status Slot::enqueue_segment() {
  if (plan_.source.has_pixels()) {
    CCL_RETURN_IF_ERROR(luma_planes_.enqueue(plan_.source, stream_.get()));
  }
  if (plan_.has_bits) {
    CCL_RETURN_IF_ERROR(segmenter_->enqueue(plan_, bits_, frame_.counts, stream_.get()));
    if (shows_model()) {
      CCL_RETURN_IF_ERROR(segmenter_->read_background(background_.data(), stream_.get()));
    }
  }
  return plan_ != SegmentPlan{} ? timeline_.mark(StageMarks::kSegment, stream_.get()) : Status();
}

Status Slot::enqueue_track() {
  const TrackedFrame frame{
      .labels = pipeline_->labels(settings_, frame_),
      .luma = {frame_.input, frame_.input_pitch, config_.width, config_.height},
      .buffers = frame_,
      .settings = settings_,
      .tracks = track_delivery_.tracks(),
      .defers_overflow = pipeline_->defers_overflow(),
  };
  CCL_RETURN_IF_ERROR(tracker_->enqueue(config_, frame, track_step_, stream_.get(), &timeline_));
  return track_delivery_.enqueue(tracker_->header(), stream_.get());
}

GreyJob Slot::grey_job() const {
  return {.width = config_.width,
          .height = config_.height,
          .source = grey_source_,
          .frame = pipeline_->labels(settings_, frame_),
          .counts = frame_.counts,
          .records = frame_.records,
          .defers_overflow = pipeline_->defers_overflow()};
}

Status Slot::enqueue_grey() {
  CCL_RETURN_IF_ERROR(grey_.enqueue(grey_job(), stream_.get()));
  const bool is_painted = (timeline_.marks() >> StageMarks::kPaint & 1) != 0;
  return timeline_.mark(is_painted ? StageMarks::kPaint : StageMarks::kMeasure, stream_.get());
}

/// Makes the output of what was painted.
Status Slot::complete_output() {
  if (config_.output == Output::kMask && !is_plain_mask(job_)) {
    const size_t n_pixels = size_t{config_.width} * config_.height;
    CCL_RETURN_IF_ERROR(recolor_mask(job_.settings, n_pixels, frame_.output, stream_.get()));
    CCL_RETURN_IF_ERROR(transfers_.fill_chroma(job_.output));
    return timeline_.extend_last_stage(stream_);
  }
  if (frame_.is_composed) {
    CCL_RETURN_IF_ERROR(compose_output());
  }
  CCL_RETURN_IF_ERROR(prepare_drawing());
  const bool is_drawn = draws_tracks_ || draws_outlines_;
  if (is_drawn) {
    const bool has_late_boxes = job_.settings.draw_boxes && pipeline_->defers_overflow();
    CCL_RETURN_IF_ERROR(draw_over(has_late_boxes ? frame_.counts : nullptr));
  }
  return frame_.is_composed || is_drawn ? timeline_.extend_last_stage(stream_) : Status();
}

Status Slot::compose_output() {
  CCL_RETURN_IF_ERROR(compose({config_.output, config_.layout, source_, job_.settings},
                              reinterpret_cast<uint32_t*>(frame_.output), stream_.get()));
  return job_.settings.draw_boxes
             ? outline_boxes(config_, frame_, pipeline_->defers_overflow(), stream_.get())
             : Status();
}

/// Decides what is drawn over the frame, and enqueues the making of it.
Status Slot::prepare_drawing() {
  draws_outlines_ = has_colors(config_.output) && job_.settings.draw_regions && job_.outlines != nullptr;
  if (draws_outlines_) {
    CCL_RETURN_IF_ERROR(outlines_.prepare(job_, stream_.get()));
  }
  draws_tracks_ = track_drawing_->is_active(job_.settings, tracks_);
  if (!draws_tracks_) {
    track_drawing_->skip();
    return {};
  }
  return track_drawing_->update(job_.settings, tracks_, stream_, &track_table_);
}

/// Draws over boxes. If `skipped` is not null, frames whose boxes are not drawn yet are left out.
Status Slot::draw_over(const FrameCounts* skipped) {
  auto* pixels = reinterpret_cast<uint32_t*>(frame_.output);
  if (draws_outlines_) {
    CCL_RETURN_IF_ERROR(draw_outlines(config_, outlines_, skipped, pixels, stream_.get()));
  }
  return draws_tracks_ ? track_drawing_->draw(job_.settings, track_table_, skipped, pixels, stream_.get())
                       : Status();
}

Status Slot::write_planes() {
  if (config_.planes == 0) {
    return {};
  }
  const FrameLabels labels = pipeline_->labels(settings_, frame_);
  if (!planes_.needs_write(job_, labels)) {
    return {};
  }
  CCL_RETURN_IF_ERROR(planes_.write(job_, labels, frame_, stream_));
  return timeline_.extend_last_stage(stream_);
}

Status Slot::deliver_images() {
  if (job_.root_map != nullptr || job_.labels != nullptr) {
    CCL_RETURN_IF_ERROR(
        pipeline_->enqueue_maps(settings_, frame_, job_.root_map, job_.labels, stream_.get()));
  }
  CCL_RETURN_IF_ERROR(planes_.download(job_, stream_));
  return transfers_.download(job_, frame_, timeline_);
}

/// For the rare frame with more components than the table holds, from a pipeline that leaves such frames to
/// the host.
Status Slot::choose_records() {
  CCL_RETURN_IF_ERROR(pipeline_->enqueue_overflow(settings_, frame_, stream_.get()));
  if (has_grey(settings_)) {
    GreyJob job = grey_job();
    job.frame = pipeline_->labels_of_overflow(settings_, frame_);
    job.defers_overflow = false;
    CCL_RETURN_IF_ERROR(grey_.enqueue(job, stream_.get()));
  }
  if (frame_.is_tracked) {
    CCL_RETURN_IF_ERROR(clear_ids(frame_.records, config_.max_components, stream_.get()));
  }
  if ((frame_.is_composed || frame_.is_tracked) && job_.settings.draw_boxes) {
    CCL_RETURN_IF_ERROR(outline_boxes(config_, frame_, /*skips_overflow=*/false, stream_.get()));
  }
  if (job_.settings.draw_boxes) {
    CCL_RETURN_IF_ERROR(draw_over(nullptr));
  }
  CCL_RETURN_IF_ERROR(delivery_.enqueue_table(stream_));
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  const bool has_new_boxes = job_.settings.draw_boxes && transfers_.has_download(job_, frame_);
  return has_new_boxes ? transfers_.download_again(job_, frame_) : Status();
}

Status Slot::finish(FrameResult* result) {
  if (downloads_late()) {
    CCL_RETURN_IF_ERROR(deliver_images());
  }
  CCL_RETURN_IF_ERROR(timeline_.synchronize());
  if (delivery_.overflows() && pipeline_->defers_overflow()) {
    CCL_RETURN_IF_ERROR(choose_records());
  }
  *result = {};
  result->counts = delivery_.counts();
  if (job_.settings.rule.foreground != Foreground::kOtsu) {
    result->counts.level = 0;  // an earlier frame's
  }
  if (job_.settings.rule.foreground != Foreground::kMotion) {
    result->counts.relearning = 0;
  }
  complete_removed(job_.settings.filter, config_.width * config_.height, frame_.strong_bits != nullptr,
                   &result->counts);
  result->overflow = delivery_.overflows();
  result->labels_saturated = config_.output == Output::kLabels && result->counts.n_labels > kMaxPaintedLabel;
  result->components = delivery_.records();
  if (tracker_ != nullptr) {
    result->tracks = track_delivery_.delivered();
  }
  if (has_grey(settings_)) {
    result->grey = grey_.delivered(result->components.size());
  }
  return timeline_.read(transfers_.has_download(job_, frame_), &result->times);
}

}  // namespace ccl::device
