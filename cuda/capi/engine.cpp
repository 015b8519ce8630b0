// SPDX-License-Identifier: LGPL-2.1-or-later
#include "capi/engine.h"

#include "capi/convert.h"
#include "capi/structs.h"

using ccl::FrameJob;
using ccl::FrameOptions;
using ccl::Status;
using ccl::StreamResult;
using ccl::capi::read;
using ccl::capi::refuse;

static_assert(CUDACCL_NO_TIME == ccl::kNoTime);
static_assert(CUDACCL_MAX_VERTICES == ccl::Stream::kMaxVertices);

namespace {

void add_counts(const StreamResult& result, CudacclResult* made) {
  made->n_labels = result.counts.n_labels;
  made->n_components = result.counts.n_components;
  made->n_iterations = result.counts.n_iterations;
  made->level = result.counts.level;
  made->relearning = result.counts.relearning;
  made->overflow = result.overflow ? 1 : 0;
  made->labels_saturated = result.labels_saturated ? 1 : 0;
  made->n_removed = result.counts.n_removed;
  made->n_filters = ccl::kFilterConditions;
}

void add_tables(const StreamResult& result, CudacclResult* made) {
  made->records = result.components.data();
  made->n_records = result.components.size();
  made->tracks = result.tracks.data();
  made->n_tracks = result.tracks.size();
  made->events = result.events.data();
  made->n_events = result.events.size();
  made->n_inside = result.n_inside.data();
  made->n_zones = result.n_inside.size();
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
  description_ = engine().description();
  return description_.c_str();
}

Status CudacclEngine::configure(const CudacclConfig* given) {
  CudacclConfig whole;
  CCL_RETURN_IF_ERROR(read(given, &whole));
  ccl::Config config;
  CCL_RETURN_IF_ERROR(ccl::capi::convert(whole, &config));
  return stream_.configure(config);
}

Status CudacclEngine::set_regions(const CudacclRegions* given) {
  CCL_RETURN_IF_ERROR(check_configured());
  CCL_RETURN_IF_ERROR(check_idle());
  if (given == nullptr) {
    return stream_.set_regions(nullptr);
  }
  CudacclRegions whole;
  CCL_RETURN_IF_ERROR(read(given, &whole));
  const auto regions = std::make_shared<ccl::Regions>();
  CCL_RETURN_IF_ERROR(ccl::capi::convert(whole, regions.get()));
  return stream_.set_regions(regions);
}

Status CudacclEngine::check_configured() const {
  return stream_.config() ? Status()
                          : refuse("the engine is not configured; call cudaccl_engine_configure() first");
}

Status CudacclEngine::check_idle() const {
  return stream_.n_in_flight() == 0 ? Status()
                                    : refuse(std::to_string(stream_.n_in_flight()) +
                                             " frames are in flight; pop or flush them first");
}

Status CudacclEngine::make_job(const CudacclFrame& frame, FrameJob* job, FrameOptions* options) const {
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
  const ccl::Config& config = *stream_.config();
  CCL_RETURN_IF_ERROR(ccl::capi::convert(settings, largest_value, job, options));
  CCL_RETURN_IF_ERROR(ccl::capi::convert(input, config, job));
  CCL_RETURN_IF_ERROR(ccl::capi::convert(frame.output, config, job));
  CCL_RETURN_IF_ERROR(ccl::capi::convert_planes(frame, config, job));
  job->time = frame.time;
  job->resets_background = frame.reset_background != 0;
  job->resets_tracks = frame.reset_tracks != 0;
  return {};
}

Status CudacclEngine::push(const CudacclFrame* const* given, size_t n_frames) {
  CCL_RETURN_IF_ERROR(check_configured());
  if (n_frames == 0 || n_frames > stream_.config()->batch) {
    return refuse("a push of " + std::to_string(n_frames) + " frames; 1 to " +
                  std::to_string(stream_.config()->batch) + " are possible, see CudacclConfig.batch");
  }
  if (given == nullptr) {
    return refuse("the array of frames is NULL");
  }
  frames_.resize(n_frames);
  for (size_t i = 0; i < n_frames; ++i) {
    CudacclFrame frame;
    CCL_RETURN_IF_ERROR(read(given[i], &frame));
    frames_[i] = {};
    CCL_RETURN_IF_ERROR(make_job(frame, &frames_[i].job, &frames_[i].options));
  }
  return stream_.push(frames_);
}

Status CudacclEngine::pop(CudacclResult* given) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_size(given));
  CCL_RETURN_IF_ERROR(check_configured());
  CCL_RETURN_IF_ERROR(stream_.pop(&result_));
  CudacclResult made = ccl::capi::defaults<CudacclResult>();
  made.time = result_->time;
  add_counts(*result_, &made);
  add_tables(*result_, &made);
  add_times(result_->times, &made);
  ccl::capi::write(made, given);
  return {};
}

Status CudacclEngine::run(const CudacclFrame* frame, CudacclResult* result) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_size(result));
  CCL_RETURN_IF_ERROR(check_idle());
  CCL_RETURN_IF_ERROR(push(&frame, 1));
  return pop(result);
}

Status CudacclEngine::list_shapes(uint32_t max_objects, CudacclShapes* given) {
  CCL_RETURN_IF_ERROR(ccl::capi::check_size(given));
  ccl::Objects objects;
  CCL_RETURN_IF_ERROR(stream_.list_objects(max_objects, &objects));
  CudacclShapes made = ccl::capi::defaults<CudacclShapes>();
  made.grey = result_->grey.data();
  made.n_grey = result_->grey.size();
  made.polygons = objects.polygons.data();
  made.n_polygons = objects.polygons.size();
  made.vertices = objects.vertices.data();
  made.n_vertices = objects.vertices.size();
  made.truncated = objects.is_truncated ? 1 : 0;
  ccl::capi::write(made, given);
  return {};
}
