// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaccl
 *
 * Labels the connected components of binarized frames on the GPU, or on the CPU where there is none.
 * Colours, labels or a mask come out; the component records travel as metadata.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! cudaccl ! videoconvert ! autovideosink
 * ]|
 *
 * A frame's way: before_transform() applies controlled properties, submit_input_buffer() renegotiates
 * and drops late frames, generate_output() starts the frame on the engine (start_frame()) and, once more
 * frames are in flight than pipeline-depth, finishes the oldest one and attaches what was found
 * (finish_frame()). Serialized events and queries first send on what is in flight (drain()).
 */
#include "gstcudaccl.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <algorithm>
#include <cmath>
#include <mutex>
#include <string>
#include <utility>

#include "allocation.h"
#include "backend.h"
#include "caps.h"
#include "ccl/engine.h"
#include "cuda_memory.h"
#include "frame.h"
#include "in_flight.h"
#include "metadata.h"
#include "properties.h"
#include "statistics.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

using cudaccl::BackendChoice;
using cudaccl::FrameInFlight;
using cudaccl::InFlight;
using cudaccl::Properties;

namespace {

/// The C++ side of the element.
struct Private {
  std::mutex lock;  // for the five below, which any thread may ask for
  Properties properties;
  cudaccl::Statistics statistics;
  BackendChoice active_backend = BackendChoice::kAuto;  // kAuto: none yet
  std::string device;                                   // the processor in use
  GstVideoInfo latency_info;                            // of the negotiated frames

  cudaccl::Backend backend;  // its context() is any thread's, the rest belongs to those below

  // The streaming thread's, or a state change's while that thread does not run.
  GstVideoInfo in_info;
  GstVideoInfo out_info;
  bool in_is_cuda = false;  // what memory the negotiated caps are for
  bool out_is_cuda = false;
  ccl::Output output = ccl::Output::kColorized;  // what the negotiated source caps are for
  InFlight in_flight;
  guint depth = 0;                   // frames that stay in flight
  bool follows_context = false;      // the next CUDA memory may bring another context than ours
  GstBufferPool* in_pool = nullptr;  // where the last input came from, to compare with only
  guint in_pool_frames = 0;          // how many frames it can give, 0: any number

  Properties snapshot() {
    const std::lock_guard guard(lock);
    return properties;
  }

  /// The backend in use or, until it is decided, the one asked for.
  BackendChoice chosen_backend() {
    const std::lock_guard guard(lock);
    return active_backend != BackendChoice::kAuto ? active_backend : properties.backend;
  }
};

}  // namespace

struct GstCudaCcl {
  GstBaseTransform parent;
  Private* priv;
};

struct GstCudaCclClass {
  GstBaseTransformClass parent_class;
};

#define GST_CUDA_CCL(obj) (reinterpret_cast<GstCudaCcl*>(obj))

static GstFlowReturn drain(GstCudaCcl* self);
static GstFlowReturn send_oldest(GstCudaCcl* self);
static GstFlowReturn count_dropped(GstCudaCcl* self);

G_DEFINE_TYPE(GstCudaCcl, gst_cuda_ccl, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaccl, "cudaccl", GST_RANK_NONE, gst_cuda_ccl_get_type())

/* The backend: opened in NULL→READY, its engine configured when the wanted configuration changes */

static bool open_backend(GstCudaCcl* self) {
  Private* priv = self->priv;
  if (!priv->backend.open(GST_ELEMENT(self), priv->snapshot())) {
    return false;
  }
  const ccl::Engine& engine = *priv->backend.engine();
  GST_INFO_OBJECT(self, "backend %s: %s", ccl::backend_name(engine.backend()), engine.description().c_str());
  {
    const std::lock_guard guard(priv->lock);
    priv->active_backend = priv->backend.is_cuda() ? BackendChoice::kCuda : BackendChoice::kCpu;
    priv->device = engine.description();
  }
  g_object_notify(G_OBJECT(self), "active-backend");
  return true;
}

static void close_backend(GstCudaCcl* self) {
  Private* priv = self->priv;
  priv->backend.close();
  {
    const std::lock_guard guard(priv->lock);
    priv->active_backend = BackendChoice::kAuto;
    priv->device.clear();
  }
  g_object_notify(G_OBJECT(self), "active-backend");
}

/// What to write into frames: what is wanted if the source caps are for it, else what they are for. The
/// property may have changed since they were negotiated, and will be negotiated anew then.
static ccl::Output choose_output(Private* priv, ccl::Output wanted) {
  const bool fits = cudaccl::is_output_format(wanted, priv->in_info, priv->out_info);
  if (fits || !cudaccl::is_output_format(priv->output, priv->in_info, priv->out_info)) {
    priv->output = fits ? wanted : cudaccl::output_of_format(priv->in_info, priv->out_info);
  }
  return priv->output;
}

static ccl::Config wanted_config(Private* priv, const Properties& properties) {
  const auto memory = [priv](bool is_cuda) {
    return is_cuda && priv->backend.is_cuda() ? ccl::Memory::kDevice : ccl::Memory::kHost;
  };
  return {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&priv->in_info)),
          .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&priv->in_info)),
          .algorithm = properties.algorithm,
          .output = choose_output(priv, properties.output),
          .layout = cudaccl::pixel_layout(priv->out_info),
          .max_components = properties.max_components,
          .slots = properties.pipeline_depth + 1,
          .input_memory = memory(priv->in_is_cuda),
          .output_memory = memory(priv->out_is_cuda),
          .threads = properties.threads};
}

static GstStateChangeReturn gst_cuda_ccl_change_state(GstElement* element, GstStateChange transition) {
  GstCudaCcl* self = GST_CUDA_CCL(element);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open_backend(self)) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->change_state(element, transition);
  const bool failed_to_open =
      transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_NULL || failed_to_open) {
    close_backend(self);
  }
  return result;
}

static void gst_cuda_ccl_set_context(GstElement* element, GstContext* context) {
  Private* priv = GST_CUDA_CCL(element)->priv;
  priv->backend.context().set_context(element, context, priv->snapshot().cuda_device_id);
  GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->set_context(element, context);
}

/// How much later than it came a frame leaves.
static GstClockTime latency_of(GstCudaCcl* self) {
  Private* priv = self->priv;
  GstVideoInfo info;
  {
    const std::lock_guard guard(priv->lock);
    info = priv->latency_info;
  }
  const int fps_n = GST_VIDEO_INFO_FPS_N(&info);
  return fps_n > 0 ? gst_util_uint64_scale(priv->snapshot().pipeline_depth * GST_SECOND,
                                           GST_VIDEO_INFO_FPS_D(&info), fps_n)
                   : 0;
}

/// Adds our latency to upstream's.
static gboolean answer_latency(GstCudaCcl* self, GstQuery* query) {
  if (!gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(self), query)) {
    return FALSE;
  }
  gboolean is_live = FALSE;
  GstClockTime min = 0;
  GstClockTime max = 0;
  gst_query_parse_latency(query, &is_live, &min, &max);
  const GstClockTime ours = latency_of(self);
  gst_query_set_latency(query, is_live, min + ours, GST_CLOCK_TIME_IS_VALID(max) ? max + ours : max);
  return TRUE;
}

// GStreamer's macros for these mix enumerations, which C++20 frowns upon.

static bool is_serialized(GstQuery* query) {
  return (static_cast<int>(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) != 0;
}

static bool is_serialized(GstEvent* event) {
  return (static_cast<int>(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) != 0;
}

static gboolean gst_cuda_ccl_query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      self->priv->backend.context().answer(GST_ELEMENT(self), query)) {
    return TRUE;
  }
  if (GST_QUERY_TYPE(query) == GST_QUERY_LATENCY && direction == GST_PAD_SRC) {
    return answer_latency(self, query);
  }
  if (direction == GST_PAD_SINK && is_serialized(query)) {
    drain(self);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->query(transform, direction, query);
}

/// Lets go of the frames in flight.
static void discard(Private* priv) {
  if (priv->backend.engine() != nullptr) {
    priv->backend.engine()->flush();
  }
  priv->in_flight.clear();
}

static gboolean gst_cuda_ccl_sink_event(GstBaseTransform* transform, GstEvent* event) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    discard(self->priv);
  } else if (is_serialized(event)) {
    drain(self);
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->sink_event(transform, event);
}

static gboolean gst_cuda_ccl_start(GstBaseTransform* transform) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const std::lock_guard guard(priv->lock);
  priv->statistics = {};
  return TRUE;
}

static gboolean gst_cuda_ccl_stop(GstBaseTransform* transform) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  discard(priv);
  priv->in_pool = nullptr;
  return TRUE;
}

/* Negotiation */

static GstCaps* gst_cuda_ccl_transform_caps(GstBaseTransform* transform, GstPadDirection direction,
                                            GstCaps* caps, GstCaps* filter) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const Properties properties = priv->snapshot();
  const bool has_cuda = priv->chosen_backend() != BackendChoice::kCpu;
  GstCaps* result = cudaccl::transform_caps(direction, caps, properties.output, has_cuda);
  if (filter != nullptr) {
    GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  return result;
}

static gboolean gst_cuda_ccl_set_caps(GstBaseTransform* transform, GstCaps* in_caps, GstCaps* out_caps) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  drain(self);  // what came before goes by the caps and in the context of before
  priv->in_pool = nullptr;
  if (!gst_video_info_from_caps(&priv->in_info, in_caps) ||
      !gst_video_info_from_caps(&priv->out_info, out_caps)) {
    GST_ERROR_OBJECT(self, "not video caps: %" GST_PTR_FORMAT " to %" GST_PTR_FORMAT, in_caps, out_caps);
    return FALSE;
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&priv->in_info) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED) {
    GST_ERROR_OBJECT(self, "a buffer of several separate views cannot be labelled: %" GST_PTR_FORMAT,
                     in_caps);
    return FALSE;
  }
  priv->in_is_cuda = cudaccl::is_cuda_caps(in_caps);
  priv->out_is_cuda = cudaccl::is_cuda_caps(out_caps);
  const Properties properties = priv->snapshot();
  if ((priv->in_is_cuda || priv->out_is_cuda) &&
      !priv->backend.share_context(GST_ELEMENT(self), properties.cuda_device_id)) {
    return FALSE;
  }
  priv->follows_context = priv->in_is_cuda;
  const GstClockTime latency_before = latency_of(self);
  {
    const std::lock_guard guard(priv->lock);
    priv->latency_info = priv->in_info;
  }
  if (latency_of(self) != latency_before) {
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  }
  return priv->backend.configure(GST_ELEMENT(self), wanted_config(priv, properties));
}

static gboolean gst_cuda_ccl_transform_size(GstBaseTransform*, GstPadDirection, GstCaps*, gsize,
                                            GstCaps* other_caps, gsize* other_size) {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, other_caps)) {
    return FALSE;
  }
  *other_size = GST_VIDEO_INFO_SIZE(&info);
  return TRUE;
}

static gboolean gst_cuda_ccl_decide_allocation(GstBaseTransform* transform, GstQuery* query) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const Properties properties = priv->snapshot();
  if (choose_output(priv, properties.output) == ccl::Output::kNone) {
    cudaccl::decide_no_allocation(query);
    return TRUE;
  }
  return cudaccl::decide_allocation(query, &priv->backend, properties.pipeline_depth);
}

static gboolean gst_cuda_ccl_propose_allocation(GstBaseTransform* transform, GstQuery* decide_query,
                                                GstQuery* query) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const guint depth = priv->snapshot().pipeline_depth;
  if (priv->output == ccl::Output::kNone) {
    // Upstream's buffers go to downstream, who says what they may be like.
    const gboolean is_answered = gst_pad_peer_query(transform->srcpad, query);
    if (gst_query_get_n_allocation_pools(query) > 0) {
      cudaccl::propose_downstreams_allocation(query, depth);
      return is_answered;
    }
    return cudaccl::propose_pool(query, &priv->backend, depth) || is_answered;
  }
  cudaccl::propose_allocation(query, &priv->backend, depth);
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)
      ->propose_allocation(transform, decide_query, query);
}

/* A frame, from the sink pad to the source pad */

static void gst_cuda_ccl_before_transform(GstBaseTransform* transform, GstBuffer* buffer) {
  if (transform->segment.format != GST_FORMAT_TIME) {
    return;
  }
  const GstClockTime time =
      gst_segment_to_stream_time(&transform->segment, GST_FORMAT_TIME, GST_BUFFER_TIMESTAMP(buffer));
  if (GST_CLOCK_TIME_IS_VALID(time)) {
    gst_object_sync_values(GST_OBJECT(transform), time);
  }
}

static GstFlowReturn gst_cuda_ccl_submit_input_buffer(GstBaseTransform* transform, gboolean is_discont,
                                                      GstBuffer* buffer) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  // What is in flight belongs to the caps and comes before the gap.
  if (GST_PAD_NEEDS_RECONFIGURE(transform->srcpad) || GST_BUFFER_IS_DISCONT(buffer)) {
    if (const GstFlowReturn flow = drain(self); flow != GST_FLOW_OK) {
      gst_buffer_unref(buffer);
      return flow;
    }
  }
  GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->submit_input_buffer(transform, is_discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    flow = count_dropped(self);
  }
  return flow;
}

/// For outputs of their own: geometry stays, so whatever describes it stays true.
static gboolean gst_cuda_ccl_transform_meta(GstBaseTransform* transform, GstBuffer*, GstMeta* meta,
                                            GstBuffer* in) {
  const GType api = meta->info->api;
  if (api == GST_VIDEO_CROP_META_API_TYPE) {
    return !cudaccl::is_cropped(in, GST_CUDA_CCL(transform)->priv->in_info);
  }
  if (api == GST_PARENT_BUFFER_META_API_TYPE) {
    return FALSE;  // it keeps the input's memory alive, which the output does not use
  }
  if (gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_COLORSPACE_STR))) {
    return FALSE;  // the output's colours are others
  }
  return !cudaccl::is_component_meta(meta);
}

/// A buffer for the frame's output, with what describes it copied from the input; for passthrough the input
/// itself, or a copy that shares its memory. Null with a flow other than OK.
static GstBuffer* acquire_output(GstCudaCcl* self, GstBuffer* in, GstFlowReturn* flow) {
  GstBaseTransform* transform = GST_BASE_TRANSFORM(self);
  Private* priv = self->priv;
  *flow = GST_FLOW_OK;
  if (priv->output == ccl::Output::kNone) {
    return gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
  }
  GstBufferPool* pool = gst_base_transform_get_buffer_pool(transform);
  if (pool == nullptr || !gst_buffer_pool_set_active(pool, TRUE)) {
    gst_clear_object(&pool);
    GST_ELEMENT_ERROR(self, RESOURCE, SETTINGS, ("No buffers for the output"),
                      ("the buffer pool cannot be activated"));
    *flow = GST_FLOW_ERROR;
    return nullptr;
  }
  // A pool that runs dry may wait for the frames in flight.
  GstBufferPoolAcquireParams params{};
  GstBuffer* out = nullptr;
  do {
    params.flags = priv->in_flight.size() > 0 ? GST_BUFFER_POOL_ACQUIRE_FLAG_DONTWAIT
                                              : GST_BUFFER_POOL_ACQUIRE_FLAG_NONE;
    *flow = gst_buffer_pool_acquire_buffer(pool, &out, &params);
  } while (*flow == GST_FLOW_EOS && priv->in_flight.size() > 0 && (*flow = send_oldest(self)) == GST_FLOW_OK);
  gst_object_unref(pool);
  if (out != nullptr) {
    GST_BASE_TRANSFORM_GET_CLASS(transform)->copy_metadata(transform, in, out);
  }
  return out;
}

/// The settings of a frame, with what follows from the sink format filled in.
static ccl::Settings frame_settings(const Private& priv, const Properties& properties) {
  ccl::Settings settings = properties.settings;
  settings.rule.threshold = properties.threshold != 0 ? static_cast<uint8_t>(properties.threshold)
                                                      : cudaccl::automatic_threshold(priv.in_info);
  settings.overlay_alpha = static_cast<uint8_t>(std::lround(properties.overlay_alpha * 255));
  settings.limited_range = cudaccl::is_limited_range(priv.in_info);
  return settings;
}

/// Warns of a frame that cannot be read, and goes on with the next one.
static GstFlowReturn drop_corrupt_frame(GstCudaCcl* self, GstBuffer* buffer) {
  const GstVideoInfo& info = self->priv->in_info;
  GST_ELEMENT_WARNING(
      self, STREAM, FORMAT, ("Dropped a corrupt frame"),
      ("a buffer of %" G_GSIZE_FORMAT " bytes cannot hold %s %dx%d", gst_buffer_get_size(buffer),
       GST_VIDEO_INFO_NAME(&info), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)));
  return count_dropped(self);
}

/// After an engine's failure: nothing is in flight any longer.
static GstFlowReturn fail(GstCudaCcl* self, const ccl::Status& status) {
  discard(self->priv);
  self->priv->backend.forget_configuration();
  cudaccl::post_error(GST_ELEMENT(self), status);
  return GST_FLOW_ERROR;
}

/// Maps a buffer where the engine can use it: CUDA memory of the engine's context as it is, all else on the
/// host.
static bool map_frame(Private* priv, GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                      std::optional<cudaccl::MappedFrame>* mapped) {
  mapped->emplace(buffer, info, flags,
                  priv->backend.reaches(buffer) ? ccl::Memory::kDevice : ccl::Memory::kHost);
  return (*mapped)->mapped();
}

/// Fills in the frame, whose input it has, and pushes it into the engine.
static GstFlowReturn push_frame(GstCudaCcl* self, FrameInFlight* frame) {
  Private* priv = self->priv;
  if (!map_frame(priv, frame->in, priv->in_info, GST_MAP_READ, &frame->input)) {
    return drop_corrupt_frame(self, frame->in);
  }
  GstFlowReturn flow = GST_FLOW_OK;
  frame->out = acquire_output(self, frame->in, &flow);
  if (frame->out == nullptr) {
    return flow;
  }
  ccl::FrameJob job{
      .input = frame->input->luma(), .output = {}, .settings = frame_settings(*priv, frame->properties)};
  if (priv->output != ccl::Output::kNone) {
    if (!map_frame(priv, frame->out, priv->out_info, GST_MAP_WRITE, &frame->output)) {
      GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("The buffer for the output cannot be written"),
                        ("%" G_GSIZE_FORMAT " bytes for %s %dx%d", gst_buffer_get_size(frame->out),
                         GST_VIDEO_INFO_NAME(&priv->out_info), GST_VIDEO_INFO_WIDTH(&priv->out_info),
                         GST_VIDEO_INFO_HEIGHT(&priv->out_info)));
      return GST_FLOW_ERROR;
    }
    job.output = frame->output->pixels();
  }
  const ccl::Status status = priv->backend.engine()->push(job);
  return status.ok() ? GST_FLOW_OK : fail(self, status);
}

/// Brings the engine to what the frame wants; frames in flight go on first if it must change.
static GstFlowReturn prepare_engine(GstCudaCcl* self, GstBuffer* in, const Properties& properties) {
  Private* priv = self->priv;
  if (std::exchange(priv->follows_context, false)) {
    const void* context = priv->backend.engine()->device().get();
    if (!priv->backend.follow(GST_ELEMENT(self), in, properties.cuda_device_id)) {
      return GST_FLOW_ERROR;
    }
    if (priv->backend.engine()->device().get() != context && priv->out_is_cuda) {
      gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(self));  // pools of that context
    }
  }
  // From passthrough to pixels and back buffers come from elsewhere, which is for the next negotiation.
  Properties possible = properties;
  if ((properties.output == ccl::Output::kNone) != (priv->output == ccl::Output::kNone)) {
    possible.output = priv->output;
  }
  const ccl::Config wanted = wanted_config(priv, possible);
  if (!priv->backend.is_configured(wanted)) {
    if (const GstFlowReturn flow = drain(self); flow != GST_FLOW_OK) {
      return flow;
    }
  }
  return priv->backend.configure(GST_ELEMENT(self), wanted) ? GST_FLOW_OK : GST_FLOW_ERROR;
}

/// How many frames may stay in flight: as many as wanted, but fewer than the input's pool has, since whoever
/// fills its frames would wait for ours.
static guint choose_depth(Private* priv, GstBuffer* in, guint wanted) {
  if (in->pool != priv->in_pool) {
    priv->in_pool = in->pool;
    priv->in_pool_frames = 0;
    if (in->pool != nullptr) {
      GstStructure* config = gst_buffer_pool_get_config(in->pool);
      gst_buffer_pool_config_get_params(config, nullptr, nullptr, nullptr, &priv->in_pool_frames);
      gst_structure_free(config);
    }
  }
  constexpr guint kElsewhere = 2;  // the one being filled, the one being shown
  const guint frames = priv->in_pool_frames;
  return frames == 0 ? wanted : std::min(wanted, frames - std::min(frames, kElsewhere));
}

/// Puts a frame in flight. Takes the buffer.
static GstFlowReturn start_frame(GstCudaCcl* self, GstBuffer* in) {
  Private* priv = self->priv;
  const Properties properties = priv->snapshot();
  GstFlowReturn flow = prepare_engine(self, in, properties);
  if (flow != GST_FLOW_OK) {
    gst_buffer_unref(in);
    return flow;
  }
  FrameInFlight& frame = priv->in_flight.next();
  frame.properties = properties;
  frame.in = in;
  flow = push_frame(self, &frame);
  if (flow == GST_FLOW_OK) {
    priv->in_flight.add();
    priv->depth = choose_depth(priv, in, properties.pipeline_depth);
  } else {
    GstBuffer* out = InFlight::release(&frame);
    gst_clear_buffer(&out);
  }
  return flow;
}

/// Waits for the oldest frame in flight and attaches what was found. The buffer is the caller's.
static GstFlowReturn finish_frame(GstCudaCcl* self, GstBuffer** out) {
  Private* priv = self->priv;
  ccl::FrameResult result;
  if (const ccl::Status status = priv->backend.engine()->pop(&result); !status.ok()) {
    return fail(self, status);
  }
  const Properties properties = priv->in_flight.oldest().properties;
  *out = priv->in_flight.remove_oldest();
  if (properties.metadata & cudaccl::kMetadataComponents) {
    cudaccl::attach_components(*out, result, priv->in_info);
  }
  if (properties.metadata & cudaccl::kMetadataRoi) {
    cudaccl::attach_regions_of_interest(*out, result, properties.max_objects);
  }
#ifdef HAVE_GST_ANALYTICS
  if (properties.metadata & cudaccl::kMetadataAnalytics) {
    cudaccl::attach_analytics(*out, result, properties.max_objects);
  }
#endif
  if (properties.post_messages) {
    cudaccl::post_frame_message(GST_BASE_TRANSFORM(self), *out, result);
  }
  const std::lock_guard guard(priv->lock);
  priv->statistics.count_frame(result);
  return GST_FLOW_OK;
}

static GstFlowReturn gst_cuda_ccl_generate_output(GstBaseTransform* transform, GstBuffer** out) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  if (GstBuffer* in = std::exchange(transform->queued_buf, nullptr)) {
    if (const GstFlowReturn flow = start_frame(self, in); flow != GST_FLOW_OK) {
      return flow;
    }
  }
  return priv->in_flight.size() > priv->depth ? finish_frame(self, out) : GST_FLOW_OK;
}

/// GstBaseTransform takes an element without this for one that works in place, which gets no buffers for its
/// output. Frames go through generate_output(), which does not call it.
static GstFlowReturn gst_cuda_ccl_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

/// Finishes the oldest frame in flight and pushes it downstream.
static GstFlowReturn send_oldest(GstCudaCcl* self) {
  GstBuffer* out = nullptr;
  const GstFlowReturn flow = finish_frame(self, &out);
  return flow == GST_FLOW_OK ? gst_pad_push(GST_BASE_TRANSFORM_SRC_PAD(self), out) : flow;
}

/// Sends on all frames in flight; after a failure those left are let go.
static GstFlowReturn drain(GstCudaCcl* self) {
  while (self->priv->in_flight.size() > 0) {
    if (const GstFlowReturn flow = send_oldest(self); flow != GST_FLOW_OK) {
      discard(self->priv);
      return flow;
    }
  }
  return GST_FLOW_OK;
}

/// Counts a frame that goes no further. Those in flight come before the gap.
static GstFlowReturn count_dropped(GstCudaCcl* self) {
  {
    const std::lock_guard guard(self->priv->lock);
    self->priv->statistics.count_dropped();
  }
  const GstFlowReturn flow = drain(self);
  return flow == GST_FLOW_OK ? GST_BASE_TRANSFORM_FLOW_DROPPED : flow;
}

/* GObject */

static void gst_cuda_ccl_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  const Properties before = priv->snapshot();
  {
    const std::lock_guard guard(priv->lock);
    if (!cudaccl::set_property(&priv->properties, id, value)) {
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    }
  }
  const Properties after = priv->snapshot();
  if (before.output != after.output || before.pipeline_depth != after.pipeline_depth) {
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
  }
  if (before.pipeline_depth != after.pipeline_depth) {
    gst_element_post_message(GST_ELEMENT(object), gst_message_new_latency(GST_OBJECT(object)));
  }
}

static void gst_cuda_ccl_get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  const std::lock_guard guard(priv->lock);
  if (id == cudaccl::next_property_id()) {
    g_value_set_enum(value, static_cast<gint>(priv->active_backend));
  } else if (id == cudaccl::next_property_id() + 1) {
    g_value_take_boxed(value, priv->statistics.to_structure(priv->device));
  } else if (!cudaccl::get_property(priv->properties, id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_cuda_ccl_finalize(GObject* object) {
  delete GST_CUDA_CCL(object)->priv;
  G_OBJECT_CLASS(gst_cuda_ccl_parent_class)->finalize(object);
}

static void gst_cuda_ccl_init(GstCudaCcl* self) {
  self->priv = new Private;
  gst_video_info_init(&self->priv->in_info);
  gst_video_info_init(&self->priv->out_info);
  gst_video_info_init(&self->priv->latency_info);
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static void install_read_only_properties(GObjectClass* object_class) {
  constexpr auto flags = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  const guint id = cudaccl::next_property_id();
  g_object_class_install_property(
      object_class, id,
      g_param_spec_enum("active-backend", "Active backend",
                        "Where frames are labelled (auto: not decided yet)", cudaccl::backend_type(),
                        static_cast<gint>(BackendChoice::kAuto), flags));
  g_object_class_install_property(
      object_class, id + 1,
      g_param_spec_boxed("stats", "Statistics",
                         "Frames, drops, components and time per stage since the start", GST_TYPE_STRUCTURE,
                         flags));
}

static void gst_cuda_ccl_class_init(GstCudaCclClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_ccl_debug, "cudaccl", 0, "connected component labeling");

  object_class->set_property = gst_cuda_ccl_set_property;
  object_class->get_property = gst_cuda_ccl_get_property;
  object_class->finalize = gst_cuda_ccl_finalize;
  cudaccl::install_properties(object_class);
  install_read_only_properties(object_class);

  gst_element_class_add_pad_template(element_class, cudaccl::sink_template());
  gst_element_class_add_pad_template(element_class, cudaccl::src_template());
  gst_element_class_set_static_metadata(
      element_class, "Connected components", "Filter/Analyzer/Video/Hardware",
      "Labels, colours and measures the connected components of binarized video", "the cudaccl authors");
  element_class->change_state = gst_cuda_ccl_change_state;
  element_class->set_context = gst_cuda_ccl_set_context;

  transform_class->start = gst_cuda_ccl_start;
  transform_class->stop = gst_cuda_ccl_stop;
  transform_class->sink_event = gst_cuda_ccl_sink_event;
  transform_class->query = gst_cuda_ccl_query;
  transform_class->transform_caps = gst_cuda_ccl_transform_caps;
  transform_class->set_caps = gst_cuda_ccl_set_caps;
  transform_class->transform_size = gst_cuda_ccl_transform_size;
  transform_class->decide_allocation = gst_cuda_ccl_decide_allocation;
  transform_class->propose_allocation = gst_cuda_ccl_propose_allocation;
  transform_class->before_transform = gst_cuda_ccl_before_transform;
  transform_class->submit_input_buffer = gst_cuda_ccl_submit_input_buffer;
  transform_class->generate_output = gst_cuda_ccl_generate_output;
  transform_class->transform_meta = gst_cuda_ccl_transform_meta;
  transform_class->transform = gst_cuda_ccl_transform;
}
