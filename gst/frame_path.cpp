// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame_path.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "caps.h"
#include "gstcudaccl.h"
#include "metadata.h"

namespace cudaccl {

FramePath::FramePath(GstBaseTransform* element, Backend* backend, Statistics* statistics)
    : element_(element), backend_(backend), statistics_(statistics) {
  gst_video_info_init(&caps_.in);
  gst_video_info_init(&caps_.out);
}

/* Before frames come: what they are, and an engine for them */

void FramePath::set_caps(const FrameCaps& caps) {
  caps_ = caps;
  follows_context_ = caps.in_is_cuda;
  in_pool_ = nullptr;
}

ccl::Output FramePath::choose_output(ccl::Output wanted) {
  const bool fits = is_output_format(wanted, caps_.in, caps_.out);
  if (fits || !is_output_format(output_, caps_.in, caps_.out)) {
    output_ = fits ? wanted : output_of_format(caps_.in, caps_.out);
  }
  return output_;
}

bool FramePath::waits_for_passthrough(ccl::Output wanted) const {
  const bool is_next = wanted == ccl::Output::kNone && output_ != ccl::Output::kNone;
  GstCaps* caps = is_next ? gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_)) : nullptr;
  const bool waits =
      caps != nullptr && !gst_pad_peer_query_accept_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), caps);
  gst_clear_caps(&caps);
  if (waits) {
    GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("output=passthrough waits for another format"),
                        ("downstream does not take %s", GST_VIDEO_INFO_NAME(&caps_.in)));
  }
  return waits;
}

ccl::Config FramePath::wanted_config(const Properties& properties) {
  const auto memory = [this](bool is_cuda) {
    return is_cuda && backend_->is_cuda() ? ccl::Memory::kDevice : ccl::Memory::kHost;
  };
  return {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&caps_.in)),
          .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&caps_.in)),
          .algorithm = properties.algorithm,
          .output = choose_output(properties.output),
          .layout = pixel_layout(caps_.out),
          .max_components = properties.max_components,
          .slots = properties.pipeline_depth + 1,
          .input_memory = memory(caps_.in_is_cuda),
          .output_memory = memory(caps_.out_is_cuda),
          .threads = properties.threads};
}

bool FramePath::configure(const Properties& properties) {
  return backend_->configure(GST_ELEMENT(element_), wanted_config(properties));
}

/* Into the engine */

GstFlowReturn FramePath::make_way(bool after_gap) {
  after_gap_ = after_gap;
  const bool is_negotiated_for = GST_PAD_NEEDS_RECONFIGURE(GST_BASE_TRANSFORM_SRC_PAD(element_));
  return after_gap || is_negotiated_for ? drain() : GST_FLOW_OK;
}

GstFlowReturn FramePath::start(GstBuffer* in, const Properties& properties) {
  GstFlowReturn flow = prepare_engine(in, properties);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref(in);
    return flow;
  }
  FrameInFlight& frame = in_flight_.next();
  frame.properties = properties;
  frame.in = in;
  flow = push_frame(&frame);
  if (flow == GST_FLOW_OK) {
    in_flight_.add();
    // GstBaseTransform marks the next frame that it pushes itself as discontinuous. For that to be the one
    // after the gap and no later one, it must not stay in flight, from where drain() would push it.
    depth_ = after_gap_ ? 0 : choose_depth(in, properties.pipeline_depth);
  } else {
    GstBuffer* out = InFlight::release(&frame);
    gst_clear_buffer(&out);
  }
  return flow;
}

/// Brings the engine to what the frame wants; frames in flight go on first if it must change.
GstFlowReturn FramePath::prepare_engine(GstBuffer* in, const Properties& properties) {
  if (std::exchange(follows_context_, false)) {
    const void* context = backend_->engine()->device().get();
    if (!backend_->follow(GST_ELEMENT(element_), in)) {
      return GST_FLOW_ERROR;
    }
    if (backend_->engine()->device().get() != context && caps_.out_is_cuda) {
      gst_base_transform_reconfigure_src(element_);  // pools of that context
    }
  }
  // From passthrough to pixels and back buffers come from elsewhere, which is for the next negotiation.
  Properties possible = properties;
  if ((properties.output == ccl::Output::kNone) != (output_ == ccl::Output::kNone)) {
    possible.output = output_;
  }
  const ccl::Config wanted = wanted_config(possible);
  if (!backend_->is_configured(wanted)) {
    if (const GstFlowReturn flow = drain(); flow != GST_FLOW_OK) {
      return flow;
    }
  }
  return backend_->configure(GST_ELEMENT(element_), wanted) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/// Fills in the frame, whose input it has, and pushes it into the engine.
GstFlowReturn FramePath::push_frame(FrameInFlight* frame) {
  if (!map_frame(frame->in, caps_.in, GST_MAP_READ, &frame->input)) {
    return drop_corrupt_frame(frame->in);
  }
  GstFlowReturn flow = GST_FLOW_OK;
  frame->out = acquire_output(frame->in, &flow);
  if (frame->out == nullptr) {
    return flow;
  }
  ccl::FrameJob job{
      .input = frame->input->luma(), .output = {}, .settings = frame_settings(frame->properties)};
  if (output_ != ccl::Output::kNone) {
    if (!map_frame(frame->out, caps_.out, GST_MAP_WRITE, &frame->output)) {
      GST_ELEMENT_ERROR(element_, RESOURCE, WRITE, ("The buffer for the output cannot be written"),
                        ("%" G_GSIZE_FORMAT " bytes for %s %dx%d", gst_buffer_get_size(frame->out),
                         GST_VIDEO_INFO_NAME(&caps_.out), GST_VIDEO_INFO_WIDTH(&caps_.out),
                         GST_VIDEO_INFO_HEIGHT(&caps_.out)));
      return GST_FLOW_ERROR;
    }
    job.output = frame->output->pixels();
  }
  const ccl::Status status = backend_->engine()->push(job);
  return status.ok() ? GST_FLOW_OK : fail(status);
}

/// Maps a buffer where the engine can use it: CUDA memory of the engine's context as it is, all else on the
/// host.
bool FramePath::map_frame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                          std::optional<MappedFrame>* mapped) const {
  mapped->emplace(buffer, info, flags, backend_->reaches(buffer) ? ccl::Memory::kDevice : ccl::Memory::kHost);
  return (*mapped)->mapped();
}

/// A buffer for the frame's output, with what describes it copied from the input; for passthrough the input
/// itself, or a copy that shares its memory. Null with a flow other than OK.
GstBuffer* FramePath::acquire_output(GstBuffer* in, GstFlowReturn* flow) {
  *flow = GST_FLOW_OK;
  if (output_ == ccl::Output::kNone) {
    return gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
  }
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(element_);
  if (pool == nullptr || !gst_buffer_pool_set_active(pool, TRUE)) {
    gst_clear_object(&pool);
    GST_ELEMENT_ERROR(element_, RESOURCE, SETTINGS, ("No buffers for the output"),
                      ("the buffer pool cannot be activated"));
    *flow = GST_FLOW_ERROR;
    return nullptr;
  }
  // A pool that runs dry may wait for the frames in flight.
  GstBufferPoolAcquireParams params{};
  GstBuffer* out = nullptr;
  GstFlowReturn acquired = GST_FLOW_OK;
  do {
    params.flags =
        in_flight_.size() > 0 ? GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT : GST_BUFFER_POOL_ACQUIRE_FLAG_NONE;
    *flow = acquired = gst_buffer_pool_acquire_buffer(pool, &out, &params);
  } while (acquired == GST_FLOW_EOS && in_flight_.size() > 0 && (*flow = send_oldest()) == GST_FLOW_OK);
  gst_object_unref(pool);
  if (acquired == GST_FLOW_ERROR) {
    GST_ELEMENT_ERROR(element_, RESOURCE, NO_SPACE_LEFT, ("No buffers for the output"),
                      ("the buffer pool cannot allocate one"));
  }
  if (out != nullptr) {
    GST_BASE_TRANSFORM_GET_CLASS(element_)->copy_metadata(element_, in, out);
  }
  return out;
}

/// The settings of a frame, with what follows from the sink format filled in.
ccl::Settings FramePath::frame_settings(const Properties& properties) const {
  ccl::Settings settings = properties.settings;
  settings.rule.threshold =
      properties.threshold != 0 ? static_cast<uint8_t>(properties.threshold) : automatic_threshold(caps_.in);
  settings.overlay_alpha = static_cast<uint8_t>(std::lround(properties.overlay_alpha * 255));
  settings.limited_range = is_limited_range(caps_.in);
  return settings;
}

/// How many frames may stay in flight: as many as wanted, but fewer than the input's pool has, since whoever
/// fills its frames would wait for ours.
guint FramePath::choose_depth(GstBuffer* in, guint wanted) {
  if (in->pool != in_pool_) {
    in_pool_ = in->pool;
    in_pool_frames_ = 0;
    if (in->pool != nullptr) {
      GstStructure* config = gst_buffer_pool_get_config(in->pool);
      gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &in_pool_frames_);
      gst_structure_free(config);
    }
  }
  constexpr guint kElsewhere = 2;  // the one being filled, the one being shown
  const guint frames = in_pool_frames_;
  return frames == 0 ? wanted : std::min(wanted, frames - std::min(frames, kElsewhere));
}

/* Out of the engine */

GstFlowReturn FramePath::finish_oldest(GstBuffer** out) {
  ccl::FrameResult result;
  if (const ccl::Status status = backend_->engine()->pop(&result); !status.ok()) {
    return fail(status);
  }
  const Properties properties = in_flight_.oldest().properties;
  *out = in_flight_.remove_oldest();
  if (properties.metadata & kMetadataComponents) {
    attach_components(*out, result, caps_.in);
  }
  if (properties.metadata & (kMetadataRoi | kMetadataAnalytics)) {
    find_largest(result, properties.max_objects, &largest_);
  }
  if (properties.metadata & kMetadataRoi) {
    attach_regions_of_interest(*out, largest_);
  }
#ifdef HAVE_GST_ANALYTICS
  if (properties.metadata & kMetadataAnalytics) {
    attach_analytics(*out, largest_);
  }
#endif
  if (properties.post_messages) {
    post_frame_message(element_, *out, result);
  }
  statistics_->count_frame(result);
  return GST_FLOW_OK;
}

GstFlowReturn FramePath::send_oldest() {
  GstBuffer* out = nullptr;
  const GstFlowReturn flow = finish_oldest(&out);
  return flow == GST_FLOW_OK ? gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(element_), out) : flow;
}

GstFlowReturn FramePath::drain() {
  while (in_flight_.size() > 0) {
    if (const GstFlowReturn flow = send_oldest(); flow != GST_FLOW_OK) {
      discard();
      return flow;
    }
  }
  return GST_FLOW_OK;
}

/* Off the way */

void FramePath::discard() {
  if (backend_->engine() != nullptr) {
    backend_->engine()->flush();
  }
  in_flight_.clear();
}

void FramePath::stop() {
  discard();
  in_pool_ = nullptr;
}

GstFlowReturn FramePath::count_dropped() {
  statistics_->count_dropped();
  const GstFlowReturn flow = drain();
  return flow == GST_FLOW_OK ? GST_BASE_TRANSFORM_FLOW_DROPPED : flow;
}

/// Warns of a frame that cannot be read, and goes on with the next one.
GstFlowReturn FramePath::drop_corrupt_frame(GstBuffer* buffer) {
  GST_ELEMENT_WARNING(
      element_, STREAM, FORMAT, ("Dropped a corrupt frame"),
      ("a buffer of %" G_GSIZE_FORMAT " bytes cannot hold %s %dx%d", gst_buffer_get_size(buffer),
       GST_VIDEO_INFO_NAME(&caps_.in), GST_VIDEO_INFO_WIDTH(&caps_.in), GST_VIDEO_INFO_HEIGHT(&caps_.in)));
  return count_dropped();
}

/// After an engine's failure: nothing is in flight any longer.
GstFlowReturn FramePath::fail(const ccl::Status& status) {
  discard();
  backend_->forget_configuration();
  post_error(GST_ELEMENT(element_), status);
  return GST_FLOW_ERROR;
}

}  // namespace cudaccl
