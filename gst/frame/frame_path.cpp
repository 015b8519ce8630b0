// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/frame_path.h"

#include <algorithm>
#include <utility>

#include "element/debug.h"
#include "element/guard.h"
#include "frame/frame_settings.h"
#include "memory/active_pool.h"
#include "negotiation/caps.h"

namespace cudaccl {

FramePath::FramePath(GstBaseTransform* element, Backend* backend, Negotiation* negotiation,
                     Statistics* statistics)
    : element_(element),
      backend_(backend),
      negotiation_(negotiation),
      statistics_(statistics),
      corrupt_frames_(GST_ELEMENT(element)),
      held_events_(GST_BASE_TRANSFORM_SRC_PAD(element)),
      clock_(element),
      reporter_(element, statistics) {
  gst_pad_add_probe(GST_BASE_TRANSFORM_SRC_PAD(element), GST_PAD_PROBE_TYPE_BUFFER, mark_gap, this, nullptr);
}

/* Into the engine */

void FramePath::start() {
  follows_context_ = negotiation_->caps().in_is_cuda;
  in_pool_.forget();
  newest_ = GST_CLOCK_TIME_NONE;
  clock_.start();
  corrupt_frames_.reset();
}

void FramePath::begin_stream(std::string source, std::string object_type) {
  has_failed_ = false;
  after_gap_ = false;
  regions_ = {};
  drew_all_outlines_ = true;
  reporter_.begin_stream(std::move(source), std::move(object_type));
  reset_time();
}

void FramePath::end_stream() {
  flush();
  in_flight_.resize(0);
  in_pool_.forget();
  backend_->stream().reset();
  label_maps_.clear();
  reporter_.end_stream();
}

GstFlowReturn FramePath::push(GstBuffer* in, Properties properties, GstClockTime frame_duration) {
  return guarded([&, arrived = Owned<GstBuffer>(in)]() mutable {
    return has_failed_ ? GST_FLOW_ERROR
                       : push_frame(std::move(arrived), std::move(properties), frame_duration);
  });
}

GstFlowReturn FramePath::push_frame(Owned<GstBuffer> in, Properties properties, GstClockTime frame_duration) {
  newest_ = GST_BUFFER_PTS(in.get());
  frame_duration_ = frame_duration;
  after_gap_ = after_gap_ || GST_BUFFER_IS_DISCONT(in.get());
  if (const GstFlowReturn flow = prepare_engine(in.get(), &properties); flow != GST_FLOW_OK) {
    return flow;
  }
  std::unique_ptr<FrameInFlight, decltype(&InFlight::discard)> frame(&in_flight_.next(), InFlight::discard);
  frame->properties = properties;
  frame->in = in.release();
  frame->time = clock_.time_of(frame->in);
  const GstFlowReturn flow = push_into_engine(frame.get());
  if (flow == GST_FLOW_OK) {
    if (std::exchange(after_gap_, false)) {
      GST_BUFFER_FLAG_SET(frame->out, GST_BUFFER_FLAG_DISCONT);
    }
    in_flight_.add();
    GstBufferPool* const pool = frame.release()->in->pool;  // the frame is in flight
    depth_ = in_pool_.take(pool, properties.pipeline_depth);
  }
  return flow;
}

GstFlowReturn FramePath::give_up(GstBuffer* in) {
  gst_buffer_unref(in);
  fail_for_memory();
  return guarded([] { return GST_FLOW_ERROR; });
}

void FramePath::fail_for_memory() {
  if (!has_failed_.exchange(true)) {
    post_lack_of_memory(element_);
  }
}

/// Configures the engine as the frame needs it. If that changes the engine, older frames are finished first.
GstFlowReturn FramePath::prepare_engine(GstBuffer* in, Properties* properties) {
  if (const GstFlowReturn flow = follow_context(in); flow != GST_FLOW_OK) {
    return flow;
  }
  negotiation_->follow_output(properties->output);
  negotiation_->refuse_large_thresholds(properties);
  if (!backend_->is_configured(negotiation_->engine_config(*properties))) {
    if (const GstFlowReturn flow = drain(); flow != GST_FLOW_OK) {
      downstream_failed_ = flow == GST_FLOW_ERROR && !has_failed_;  // also for the caller's guard
      return flow;
    }
  }
  if (!negotiation_->configure_engine(properties)) {
    return GST_FLOW_ERROR;
  }
  in_flight_.resize(properties->pipeline_depth + 1);
  return GST_FLOW_OK;
}

/// Moves the engine into the CUDA context of the first buffer after a negotiation.
GstFlowReturn FramePath::follow_context(GstBuffer* in) {
  if (!std::exchange(follows_context_, false)) {
    return GST_FLOW_OK;
  }
  const void* context = backend_->engine()->device().get();
  if (!backend_->follow(GST_ELEMENT(element_), in)) {
    return GST_FLOW_ERROR;
  }
  if (backend_->engine()->device().get() != context && negotiation_->caps().out_is_cuda) {
    gst_base_transform_reconfigure_src(element_);  // the output's pool must be of that context too
  }
  return GST_FLOW_OK;
}

/// Fills in the frame, whose input is set, and pushes it into the engine.
GstFlowReturn FramePath::push_into_engine(FrameInFlight* frame) {
  const FrameCaps& caps = negotiation_->caps();
  if (!map_frame(frame->in, caps.in, GST_MAP_READ, &frame->input) ||
      (reads_chroma(frame->properties, negotiation_->output()) && !frame->input->is_chroma_mapped())) {
    return drop_corrupt_frame(frame->in);
  }
  GstFlowReturn flow = GST_FLOW_OK;
  frame->out = acquire_output(frame->in, &flow);
  if (frame->out == nullptr) {
    return flow;
  }
  if (flow = follow_regions(frame->properties); flow != GST_FLOW_OK) {
    return flow;
  }
  ccl::FrameJob job = make_job(*frame);
  if (const GstFlowReturn added = add_label_map(frame, &job); added != GST_FLOW_OK) {
    return added;
  }
  if (negotiation_->output() != ccl::Output::kNone) {
    if (!map_frame(frame->out, caps.out, GST_MAP_WRITE, &frame->output) ||
        !frame->output->is_chroma_mapped()) {
      GST_ELEMENT_ERROR(element_, RESOURCE, WRITE, ("The buffer for the output cannot be written"),
                        ("%" G_GSIZE_FORMAT " bytes for %s %dx%d", gst_buffer_get_size(frame->out),
                         GST_VIDEO_INFO_NAME(&caps.out), GST_VIDEO_INFO_WIDTH(&caps.out),
                         GST_VIDEO_INFO_HEIGHT(&caps.out)));
      return GST_FLOW_ERROR;
    }
    job.output = frame->output->pixels();
  }
  return push_job(job, frame->properties);
}

/// A buffer for the frame's label map, if its properties ask for one.
GstFlowReturn FramePath::add_label_map(FrameInFlight* frame, ccl::FrameJob* job) {
  const LabelMap kind = frame->properties.label_map;
  if (kind == LabelMap::kNone) {
    label_maps_.clear();
    return GST_FLOW_OK;
  }
  if (const ccl::Status status = label_maps_.acquire(backend_, negotiation_->caps(), &frame->label_map);
      !status.ok()) {
    return fail(status);
  }
  if (!map_frame(frame->label_map, label_maps_.info(), GST_MAP_WRITE, &frame->label_plane)) {
    return fail({ccl::StatusCode::kOutOfMemory, "the buffer for the label map cannot be written"});
  }
  const ccl::OutputImage image = frame->label_plane->pixels();
  (kind == LabelMap::kIds ? job->id_plane : job->label_plane) = {
      .values = reinterpret_cast<uint32_t*>(image.pixels),
      .stride = image.stride,
      .memory = image.memory,
      .stream = image.stream};
  return GST_FLOW_OK;
}

/// Maps a buffer where the engine can use it: CUDA memory of the engine's context in place, any other memory
/// on the host.
bool FramePath::map_frame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                          std::optional<MappedFrame>* mapped) const {
  mapped->emplace(buffer, info, flags, backend_->reaches(buffer) ? ccl::Memory::kDevice : ccl::Memory::kHost);
  return (*mapped)->mapped();
}

/// A buffer for the frame's output, with the metadata of the input. For passthrough it is the input itself,
/// or a copy that shares the input's memory. Null if *flow is not GST_FLOW_OK.
GstBuffer* FramePath::acquire_output(GstBuffer* in, GstFlowReturn* flow) {
  *flow = GST_FLOW_OK;
  if (negotiation_->output() == ccl::Output::kNone) {
    GstBuffer* const out = gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
    if (out == nullptr) {
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("A buffer of the input cannot be copied"),
                        ("its memory cannot be shared, and its allocator does not copy it"));
      *flow = GST_FLOW_ERROR;
    }
    return out;
  }
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(element_);
  GstBuffer* out = nullptr;
  if (pool != nullptr && activate_pool(pool)) {
    *flow = acquire_from_pool(pool, &out);
  } else {
    GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("Not enough memory for the buffers of the output"),
                      ("the buffer pool cannot be activated"));
    *flow = GST_FLOW_ERROR;
  }
  gst_clear_object(&pool);
  if (out != nullptr) {
    GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(element_, in, out);
  }
  return out;
}

/// Sends frames in flight downstream for as long as the pool is empty, because it may wait for their buffers.
GstFlowReturn FramePath::acquire_from_pool(GstBufferPool* pool, GstBuffer** out) {
  GstBufferPoolAcquireParams params{};
  while (true) {
    const bool may_wait = in_flight_.size() == 0;
    params.flags = may_wait ? GST_BUFFER_POOL_ACQUIRE_FLAG_NONE : GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT;
    const GstFlowReturn acquired = gst_buffer_pool_acquire_buffer(pool, out, &params);
    if (acquired == GST_FLOW_ERROR) {
      GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("Not enough memory for a buffer of the output"),
                        ("the buffer pool cannot allocate one"));
    }
    const bool is_empty = acquired == GST_FLOW_EOS && !may_wait;
    if (!is_empty) {
      return acquired;
    }
    if (const GstFlowReturn sent = send_oldest(); sent != GST_FLOW_OK) {
      return sent;
    }
  }
}

/// The job of a frame whose input is mapped, less its output.
ccl::FrameJob FramePath::make_job(const FrameInFlight& frame) {
  const Properties& properties = frame.properties;
  const GstVideoInfo& info = negotiation_->caps().in;
  ccl::FrameJob job;
  job.input = frame.input->luma();
  job.settings = frame_settings(properties, info, negotiation_->caps().out);
  job.segmentation = frame_segmentation(properties, info);
  job.tracking = properties.tracking;
  if (reads_chroma(properties, negotiation_->output())) {
    job.input.chroma = frame.input->chroma();
  }
  job.time = running_time(element_->segment, frame.in);
  return job;
}

/// Warns of a polygon that no pixel or track can be in. The text of the regions may have been doubted
/// already.
void FramePath::warn_of_outside(const RegionSetting& setting, uint32_t width, uint32_t height) const {
  const std::string place = outside_of_frame(setting.regions, width, height);
  if (!place.empty() && setting.doubt.empty()) {
    GST_ELEMENT_WARNING(
        element_, RESOURCE, SETTINGS,
        ("regions: %s is outside the frame of %ux%u pixels; its coordinates are %s", place.c_str(), width,
         height, setting.regions.is_relative ? "from 0 to 1 in the frame" : "pixels"),
        (nullptr));
  }
}

/// Gives the regions of the frame to the stream.
GstFlowReturn FramePath::follow_regions(const Properties& properties) {
  const RegionSetting* setting = properties.regions.get();
  const auto width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&negotiation_->caps().in));
  const auto height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&negotiation_->caps().in));
  const auto met = std::make_tuple(properties.regions, width, height);
  if (std::exchange(regions_, met) != met && setting != nullptr) {
    warn_of_outside(*setting, width, height);
  }
  const ccl::Status status = backend_->stream().set_regions(
      setting != nullptr ? std::shared_ptr<const ccl::Regions>(properties.regions, &setting->regions)
                         : nullptr);
  return status.ok() ? GST_FLOW_OK : fail(status);
}

/// Pushes a frame into the engine. A reset of the background or of tracks waits for the first frame that has
/// them.
GstFlowReturn FramePath::push_job(const ccl::FrameJob& job, const Properties& properties) {
  ccl::FrameJob pushed = job;
  pushed.resets_tracks = properties.track && resets_tracks_.exchange(false);
  pushed.resets_background =
      job.settings.rule.foreground == ccl::Foreground::kMotion && resets_background_.exchange(false);
  const ccl::Status status = backend_->stream().push(
      pushed, {.event_hold_ns = static_cast<int64_t>(properties.event_hold_ms * GST_MSECOND),
               .needs_labels = has_mask(properties)});
  if (!status.ok()) {
    if (pushed.resets_background) {
      resets_background_ = true;
    }
    if (pushed.resets_tracks) {
      resets_tracks_ = true;
    }
  }
  if (status.ok() && std::exchange(drew_all_outlines_, backend_->stream().draws_all_outlines()) &&
      !drew_all_outlines_) {
    GST_ELEMENT_WARNING(
        element_, STREAM, FAILED,
        ("regions: the outlines are too long in all for this size of frames; the last ones are not drawn"),
        (nullptr));
  }
  return status.ok() ? GST_FLOW_OK : fail(status);
}

/* Out of the engine */

/// Whether the oldest frame must leave: more are in flight than may stay, or frames are missing behind it and
/// a sink waits for it by now. Timestamps vary, hence half a frame of tolerance.
bool FramePath::is_oldest_due() const {
  if (in_flight_.size() == 0 || in_flight_.size() > depth_) {
    return in_flight_.size() > 0;
  }
  const GstClockTime time = GST_BUFFER_PTS(in_flight_.oldest().in);
  return frame_duration_ > 0 && GST_CLOCK_TIME_IS_VALID(time) && GST_CLOCK_TIME_IS_VALID(newest_) &&
         newest_ > time && newest_ - time > depth_ * frame_duration_ - frame_duration_ / 2;
}

GstFlowReturn FramePath::pop(GstBuffer** out) {
  return guarded([&] {
    held_events_.send_due();
    return has_failed_ ? GST_FLOW_ERROR : is_oldest_due() ? finish_oldest(out) : GST_FLOW_OK;
  });
}

GstFlowReturn FramePath::finish_oldest(GstBuffer** out) {
  const ccl::StreamResult* result = nullptr;
  if (const ccl::Status status = backend_->stream().pop(&result); !status.ok()) {
    return fail(status);
  }
  const Properties properties = in_flight_.oldest().properties;
  ccl::Objects objects;
  if (has_polygons(properties) || has_objects(properties)) {
    if (const ccl::Status status = backend_->stream().list_objects(properties.max_objects, &objects);
        !status.ok()) {
      return fail(status);
    }
  }
  const LeavingFrame frame{.properties = properties,
                           .time = in_flight_.oldest().time,
                           .info = negotiation_->caps().in,
                           .result = *result,
                           .objects = objects,
                           .backend = ccl::backend_name(backend_->engine()->backend())};
  GstBuffer* label_map = nullptr;
  Owned<GstBuffer> leaving(in_flight_.remove_oldest(&label_map));
  held_events_.count_frame();
  leaves_after_gap_ = GST_BUFFER_IS_DISCONT(leaving.get());
  if (const ccl::Status status = reporter_.report(frame, leaving.get(), label_map); !status.ok()) {
    return fail(status);
  }
  statistics_->count_frame(*result);
  *out = leaving.release();
  return GST_FLOW_OK;
}

GstFlowReturn FramePath::send_oldest() {
  held_events_.send_due();
  GstBuffer* out = nullptr;
  const GstFlowReturn flow = finish_oldest(&out);
  if (flow != GST_FLOW_OK) {
    return flow;
  }
  const GstFlowReturn pushed = gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(element_), out);
  downstream_failed_ = pushed == GST_FLOW_ERROR;
  return pushed;
}

GstFlowReturn FramePath::drain() {
  return guarded([this] {
    while (in_flight_.size() > 0 && !has_failed_) {
      if (const GstFlowReturn flow = send_oldest(); flow != GST_FLOW_OK) {
        discard_frames();
        return flow;
      }
    }
    held_events_.send_due();
    return has_failed_ ? GST_FLOW_ERROR : GST_FLOW_OK;
  });
}

bool FramePath::hold_or_drain(GstEvent* event) {
  const bool waits = in_flight_.size() > 0 && !held_events_.is_full() && may_wait(event);
  if (waits) {
    held_events_.add(event, in_flight_.size());
  } else if (const GstFlowReturn flow = drain();
             GST_EVENT_TYPE(event) == GST_EVENT_EOS &&
             (flow == GST_FLOW_NOT_LINKED || flow == GST_FLOW_NOT_NEGOTIATED)) {
    GST_ELEMENT_FLOW_ERROR(element_, flow);  // no buffer follows, whose flow would say it
  }
  return waits;
}

/* Frames that do not leave */

void FramePath::flush() {
  has_failed_ = false;
  discard_frames();
}

void FramePath::discard_frames() {
  backend_->stream().flush();
  after_gap_ = after_gap_ || in_flight_.size() > 0;
  in_flight_.clear();
  held_events_.discard();
}

void FramePath::drop_late(GstClockTime time) {
  statistics_->count_late();
  after_gap_ = true;
  newest_ = time;
}

/// Drops a frame that cannot be read; the stream goes on with the next one.
GstFlowReturn FramePath::drop_corrupt_frame(GstBuffer* buffer) {
  statistics_->count_corrupt();
  after_gap_ = true;
  corrupt_frames_.warn(buffer, negotiation_->caps().in);
  return GST_BASE_TRANSFORM_FLOW_DROPPED;
}

/// After a gap the base class marks the next buffer that it pushes. With frames in flight that is an older
/// frame, which loses the mark here; push() marks the right one.
GstPadProbeReturn FramePath::mark_gap(GstPad*, GstPadProbeInfo* info, gpointer self) {
  GstBuffer* buffer = GST_PAD_PROBE_INFO_BUFFER(info);
  if (GST_BUFFER_IS_DISCONT(buffer) && !static_cast<FramePath*>(self)->leaves_after_gap_) {
    buffer = gst_buffer_make_writable(buffer);
    GST_BUFFER_FLAG_UNSET(buffer, GST_BUFFER_FLAG_DISCONT);
    info->data = buffer;
  }
  return GST_PAD_PROBE_OK;
}

/// After a failure of the engine no frame is in flight, and none follows.
GstFlowReturn FramePath::fail(const ccl::Status& status) {
  const bool is_first = !has_failed_.exchange(true);
  discard_frames();
  backend_->stream().forget_configuration();
  if (is_first) {
    post_error(GST_ELEMENT(element_), status);
  }
  return GST_FLOW_ERROR;
}

/// Calls `function`, of which an exception is a failure, too. After a failure no frame is in flight.
template <typename Function>
GstFlowReturn FramePath::guarded(Function function) noexcept {
  const auto flow = unless_thrown(std::optional<GstFlowReturn>(), [&] { return std::optional(function()); });
  if (!flow) {
    return fail({ccl::StatusCode::kOutOfMemory, "out of memory"});  // so short that it takes none
  }
  if (*flow == GST_FLOW_ERROR) {
    if (const bool is_ours = !std::exchange(downstream_failed_, false); is_ours) {
      has_failed_ = true;
    }
    discard_frames();
  }
  return *flow;
}

}  // namespace cudaccl
