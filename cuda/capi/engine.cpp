// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capi/engine.h"

#include <utility>

#include "capi/convert.h"
#include "capi/structs.h"

using ccl::FrameJob;
using ccl::FrameResult;
using ccl::Status;
using ccl::StatusCode;
using ccl::capi::read;
using ccl::capi::refuse;

static_assert(CUDACCL_NO_TIME == ccl::kNoTime);

namespace {

void add_counts(const FrameResult& result, const ccl::FrameCounts& counts, CudacclResult* made) {
  made->n_labels = counts.n_labels;
  made->n_components = counts.n_components;
  made->n_iterations = counts.n_iterations;
  made->level = counts.level;
  made->relearning = counts.relearning;
  made->overflow = result.overflow ? 1 : 0;
  made->labels_saturated = result.labels_saturated ? 1 : 0;
  made->records = result.components.data();
  made->n_records = result.components.size();
  made->n_removed = counts.n_removed;
  made->n_filters = ccl::kFilterConditions;
}

void add_times(const ccl::StageTimes& times, CudacclResult* made) {
  made->upload_us = times.upload;
  made->segment_us = times.segment;
  made->label_us = times.label;
  made->number_us = times.number;
  made->measure_us = times.measure;
  made->track_us = times.track;
  made->paint_us = times.paint;
  made->download_us = times.download;
}

}  // namespace

const char* CudacclEngine::description() {
  description_ = engine_->description();
  return description_.c_str();
}

Status CudacclEngine::configure(const CudacclConfig* given) {
  CudacclConfig whole;
  CCL_RETURN_IF_ERROR(read(given, &whole));
  ccl::Config config;
  CCL_RETURN_IF_ERROR(ccl::capi::convert(whole, &config));
  CCL_RETURN_IF_ERROR(validate(config));
  flush();
  is_configured_ = false;
  std::vector<InFlight> in_flight(config.slots);
  CCL_RETURN_IF_ERROR(engine_->configure(config));
  config_ = config;
  in_flight_ = std::move(in_flight);
  CCL_RETURN_IF_ERROR(prepare_regions());
  is_configured_ = true;
  return {};
}

/// Makes of the regions what frames of the configuration need.
Status CudacclEngine::prepare_regions() {
  mask_ = nullptr;
  outlines_ = nullptr;
  if (!regions_.include.empty() || !regions_.exclude.empty()) {
    mask_ = std::make_shared<const ccl::RegionMask>(regions_, config_.width, config_.height);
  }
  const std::vector<ccl::Outline> outlines = outlines_of(regions_, config_.width, config_.height);
  if (!outlines.empty()) {
    outlines_ = std::make_shared<const ccl::OutlineLayer>(outlines, config_.width, config_.height);
  }
  if (config_.max_tracks == 0) {
    events_.clear();
    return {};
  }
  return events_.configure(
      {.width = config_.width, .height = config_.height, .max_tracks = config_.max_tracks}, regions_);
}

Status CudacclEngine::set_regions(const CudacclRegions* given) {
  CCL_RETURN_IF_ERROR(check_configured());
  if (n_in_flight_ > 0) {
    return refuse(std::to_string(n_in_flight_) + " frames are in flight; pop or flush them first");
  }
  ccl::Regions regions;
  if (given != nullptr) {
    CudacclRegions whole;
    CCL_RETURN_IF_ERROR(read(given, &whole));
    CCL_RETURN_IF_ERROR(ccl::capi::convert(whole, &regions));
  }
  is_configured_ = false;  // unless all of it succeeds
  regions_ = std::move(regions);
  CCL_RETURN_IF_ERROR(prepare_regions());
  is_configured_ = true;
  return {};
}

Status CudacclEngine::check_configured() const {
  return is_configured_ ? Status()
                        : refuse("the engine is not configured; call cudaccl_engine_configure() first");
}

Status CudacclEngine::make_job(const CudacclFrame& frame, FrameJob* job, InFlight* in_flight) const {
  CudacclInput input;
  CCL_RETURN_IF_ERROR(read(frame.input, &input));
  CudacclSettings settings = ccl::capi::defaults<CudacclSettings>();
  if (frame.settings != nullptr) {
    CCL_RETURN_IF_ERROR(read(frame.settings, &settings));
  }
  CCL_RETURN_IF_ERROR(ccl::capi::check_range("reset_background", frame.reset_background, 0, 1));
  CCL_RETURN_IF_ERROR(ccl::capi::check_range("reset_tracks", frame.reset_tracks, 0, 1));
  uint32_t largest_value = 0;
  CCL_RETURN_IF_ERROR(ccl::capi::find_largest_value(input, &largest_value));
  ccl::capi::FrameSettings frame_settings;
  CCL_RETURN_IF_ERROR(ccl::capi::convert(settings, largest_value, job, &frame_settings));
  CCL_RETURN_IF_ERROR(ccl::capi::convert(input, config_, job));
  CCL_RETURN_IF_ERROR(ccl::capi::convert(frame.output, config_, job));
  CCL_RETURN_IF_ERROR(ccl::capi::convert_planes(frame, config_, job));
  job->regions = mask_;
  job->outlines = job->settings.draw_regions ? outlines_ : nullptr;
  job->time = frame.time;
  job->resets_background = frame.reset_background != 0;
  job->resets_tracks = frame.reset_tracks != 0;
  *in_flight = {.time = frame.time, .event_hold_ns = frame_settings.event_hold_ns};
  return {};
}

Status CudacclEngine::push(const CudacclFrame* given) {
  CCL_RETURN_IF_ERROR(check_configured());
  CudacclFrame frame;
  CCL_RETURN_IF_ERROR(read(given, &frame));
  FrameJob job;
  InFlight in_flight{};
  CCL_RETURN_IF_ERROR(make_job(frame, &job, &in_flight));
  if (const Status status = engine_->push(job); !status.ok()) {
    return lose_frames(status);
  }
  in_flight_[(oldest_ + n_in_flight_) % in_flight_.size()] = in_flight;
  ++n_in_flight_;
  return {};
}

/// After a refusal nothing has changed; after every other failure the engine must be configured again.
Status CudacclEngine::lose_frames(const Status& status) {
  if (status.code() == StatusCode::kOutOfMemory || status.code() == StatusCode::kDeviceError) {
    flush();
    is_configured_ = false;
  }
  return status;
}

Status CudacclEngine::pop(CudacclResult* given) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_size(given));
  CCL_RETURN_IF_ERROR(check_configured());
  FrameResult result;
  if (const Status status = engine_->pop(&result); !status.ok()) {
    return lose_frames(status);
  }
  const InFlight frame = in_flight_[oldest_];
  oldest_ = (oldest_ + 1) % in_flight_.size();
  --n_in_flight_;
  counts_ = result.counts;
  CudacclResult made = ccl::capi::defaults<CudacclResult>();
  made.time = frame.time;
  add_counts(result, counts_, &made);
  add_times(result.times, &made);
  if (config_.max_tracks > 0) {
    add_tracks(result, frame, &made);
  }
  ccl::capi::write(made, given);
  return {};
}

void CudacclEngine::add_tracks(const FrameResult& result, const InFlight& frame, CudacclResult* made) {
  events_.update({.tracks = result.tracks,
                  .n_components = result.counts.n_components,
                  .relearning = result.counts.relearning != 0,
                  .time = frame.time,
                  .hold_ns = frame.event_hold_ns});
  made->tracks = events_.tracks().data();
  made->n_tracks = events_.tracks().size();
  made->events = events_.events().data();
  made->n_events = events_.events().size();
  made->n_inside = events_.n_inside().data();
  made->n_zones = events_.n_inside().size();
}

Status CudacclEngine::run(const CudacclFrame* frame, CudacclResult* result) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_size(result));
  if (n_in_flight_ > 0) {
    return refuse(std::to_string(n_in_flight_) + " frames are in flight; pop or flush them first");
  }
  CCL_RETURN_IF_ERROR(push(frame));
  return pop(result);
}

void CudacclEngine::flush() {
  engine_->flush();
  oldest_ = 0;
  n_in_flight_ = 0;
}
