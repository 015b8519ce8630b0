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
 * This is the element as GStreamer sees it; frame_path.h has a frame's way through it: before_transform()
 * applies controlled properties, submit_input_buffer() renegotiates and drops late frames,
 * generate_output() starts the frame on its path and, once more frames are in flight than are to stay,
 * takes the oldest one from its end. Serialized events and queries first drain the path.
 */
#include "gstcudaccl.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <mutex>
#include <utility>

#include "allocation.h"
#include "backend.h"
#include "caps.h"
#include "ccl/engine.h"
#include "cuda_memory.h"
#include "frame.h"
#include "frame_duration.h"
#include "frame_path.h"
#include "metadata.h"
#include "properties.h"
#include "statistics.h"

GST_DEBUG_CATEGORY(gst_cuda_ccl_debug);

using cudaccl::BackendChoice;
using cudaccl::FrameCaps;
using cudaccl::FramePath;
using cudaccl::Properties;

namespace {

/// The C++ side of the element.
struct Private {
  explicit Private(GstBaseTransform* element) : path(element, &backend, &statistics) {}

  std::mutex lock;  // for the one below, which any thread may ask for
  Properties properties;
  cudaccl::FrameDuration frame_duration;

  cudaccl::Statistics statistics;
  cudaccl::Backend backend;  // its context() and processor() are any thread's, the rest is the path's
  FramePath path;

  Properties snapshot() {
    const std::lock_guard guard(lock);
    return properties;
  }

  /// The backend in use or, until it is decided, the one asked for.
  BackendChoice chosen_backend() {
    const BackendChoice active = backend.processor().backend;
    return active != BackendChoice::kAuto ? active : snapshot().backend;
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

G_DEFINE_TYPE(GstCudaCcl, gst_cuda_ccl, GST_TYPE_BASE_TRANSFORM)
GST_ELEMENT_REGISTER_DEFINE(cudaccl, "cudaccl", GST_RANK_NONE, gst_cuda_ccl_get_type())

/* States: the backend is open from NULL→READY to READY→NULL */

static bool open_backend(GstCudaCcl* self) {
  Private* priv = self->priv;
  if (!priv->backend.open(GST_ELEMENT(self), priv->snapshot())) {
    return false;
  }
  const ccl::Engine& engine = *priv->backend.engine();
  GST_INFO_OBJECT(self, "backend %s: %s", ccl::backend_name(engine.backend()), engine.description().c_str());
  g_object_notify(G_OBJECT(self), "active-backend");
  return true;
}

static void close_backend(GstCudaCcl* self) {
  self->priv->backend.close();
  g_object_notify(G_OBJECT(self), "active-backend");
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

static gboolean gst_cuda_ccl_start(GstBaseTransform* transform) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  priv->statistics.reset();
  priv->frame_duration.reset();
  return TRUE;
}

static gboolean gst_cuda_ccl_stop(GstBaseTransform* transform) {
  GST_CUDA_CCL(transform)->priv->path.stop();
  return TRUE;
}

static void gst_cuda_ccl_set_context(GstElement* element, GstContext* context) {
  Private* priv = GST_CUDA_CCL(element)->priv;
  priv->backend.context().set_context(element, context, priv->snapshot().cuda_device_id);
  GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->set_context(element, context);
}

/* Queries and events */

// GStreamer's macros for these mix enumerations, which C++20 frowns upon.

static bool is_serialized(GstQuery* query) {
  return (static_cast<int>(GST_QUERY_TYPE(query)) & GST_QUERY_TYPE_SERIALIZED) != 0;
}

static bool is_serialized(GstEvent* event) {
  return (static_cast<int>(GST_EVENT_TYPE(event)) & GST_EVENT_TYPE_SERIALIZED) != 0;
}

/// How much later than it came a frame leaves.
static GstClockTime latency_of(GstCudaCcl* self) {
  Private* priv = self->priv;
  return priv->snapshot().pipeline_depth * priv->frame_duration.get();
}

/// Tells the pipeline if `change` makes it another.
template <typename Change>
static void change_latency(GstCudaCcl* self, Change change) {
  const GstClockTime before = latency_of(self);
  change();
  if (latency_of(self) != before) {
    gst_element_post_message(GST_ELEMENT(self), gst_message_new_latency(GST_OBJECT(self)));
  }
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

/// The output that an element's caps are transformed for by this thread.
struct CapsOutput {
  const GstCudaCcl* element;
  ccl::Output output;
};
static thread_local CapsOutput caps_output{};

/// Calls call() with caps transformed for this output, whatever is set meanwhile.
template <typename Call>
static auto with_caps_output(const GstCudaCcl* self, ccl::Output output, Call call) {
  // Downstream may have another element like this one, which is asked on the way.
  const CapsOutput outer = std::exchange(caps_output, {self, output});
  const auto result = call();
  caps_output = outer;
  return result;
}

/// GstBaseTransform takes caps to the other side and back for this. Were it not for the same output both
/// ways, no caps would be left.
static gboolean answer_caps(GstCudaCcl* self, GstPadDirection direction, GstQuery* query) {
  return with_caps_output(self, self->priv->snapshot().output, [&] {
    return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)
        ->query(GST_BASE_TRANSFORM(self), direction, query);
  });
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
  if (GST_QUERY_TYPE(query) == GST_QUERY_CAPS) {
    return answer_caps(self, direction, query);
  }
  if (direction == GST_PAD_SINK && is_serialized(query)) {
    self->priv->path.drain();
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->query(transform, direction, query);
}

static gboolean gst_cuda_ccl_sink_event(GstBaseTransform* transform, GstEvent* event) {
  FramePath& path = GST_CUDA_CCL(transform)->priv->path;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    path.discard();
  } else if (is_serialized(event)) {
    path.drain();
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->sink_event(transform, event);
}

/* Negotiation */

static GstCaps* gst_cuda_ccl_transform_caps(GstBaseTransform* transform, GstPadDirection direction,
                                            GstCaps* caps, GstCaps* filter) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  const ccl::Output output = caps_output.element == self ? caps_output.output : self->priv->snapshot().output;
  const bool has_cuda = self->priv->chosen_backend() != BackendChoice::kCpu;
  GstCaps* result = cudaccl::transform_caps(direction, caps, output, has_cuda);
  if (filter != nullptr) {
    GstCaps* filtered = gst_caps_intersect_full(filter, result, GST_CAPS_INTERSECT_FIRST);
    gst_caps_unref(result);
    result = filtered;
  }
  return result;
}

static bool read_caps(GstCudaCcl* self, GstCaps* in_caps, GstCaps* out_caps, FrameCaps* caps) {
  if (!gst_video_info_from_caps(&caps->in, in_caps) || !gst_video_info_from_caps(&caps->out, out_caps)) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("Not caps of video frames"),
                      ("%" GST_PTR_FORMAT " to %" GST_PTR_FORMAT, in_caps, out_caps));
    return false;
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&caps->in) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED) {
    GST_ELEMENT_ERROR(self, STREAM, FORMAT, ("A buffer of several separate views cannot be labelled"),
                      ("%" GST_PTR_FORMAT, in_caps));
    return false;
  }
  caps->in_is_cuda = cudaccl::is_cuda_caps(in_caps);
  caps->out_is_cuda = cudaccl::is_cuda_caps(out_caps);
  return true;
}

static gboolean gst_cuda_ccl_set_caps(GstBaseTransform* transform, GstCaps* in_caps, GstCaps* out_caps) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  priv->path.drain();  // what came before goes by the caps and in the context of before
  FrameCaps caps;
  if (!read_caps(self, in_caps, out_caps, &caps)) {
    return FALSE;
  }
  change_latency(self, [&] { priv->frame_duration.take_caps(priv->path.caps().in, caps.in); });
  priv->path.set_caps(caps);
  const Properties properties = priv->snapshot();
  if ((caps.in_is_cuda || caps.out_is_cuda) && !priv->backend.share_context(GST_ELEMENT(self))) {
    return FALSE;
  }
  return priv->path.configure(properties);
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
  if (priv->path.choose_output(properties.output) == ccl::Output::kNone) {
    cudaccl::decide_no_allocation(query);
    return TRUE;
  }
  return cudaccl::decide_allocation(query, &priv->backend, properties.pipeline_depth);
}

static gboolean gst_cuda_ccl_propose_allocation(GstBaseTransform* transform, GstQuery* decide_query,
                                                GstQuery* query) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const guint depth = priv->snapshot().pipeline_depth;
  if (priv->path.output() == ccl::Output::kNone) {
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
  FramePath& path = self->priv->path;
  if (const GstFlowReturn flow = path.make_way(is_discont != FALSE); flow != GST_FLOW_OK) {
    gst_buffer_unref(buffer);
    return flow;
  }
  const auto submit = [&] {
    return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)
        ->submit_input_buffer(transform, is_discont, buffer);
  };
  const bool waits = GST_PAD_NEEDS_RECONFIGURE(transform->srcpad) &&
                     path.waits_for_passthrough(self->priv->snapshot().output);
  const GstFlowReturn flow = waits ? with_caps_output(self, path.output(), submit) : submit();
  if (waits && self->priv->snapshot().output != ccl::Output::kNone) {
    gst_base_transform_reconfigure_src(transform);  // it was set meanwhile
  }
  return flow == GST_BASE_TRANSFORM_FLOW_DROPPED ? path.count_dropped() : flow;
}

static GstFlowReturn gst_cuda_ccl_generate_output(GstBaseTransform* transform, GstBuffer** out) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  if (GstBuffer* in = std::exchange(transform->queued_buf, nullptr)) {
    if (priv->frame_duration.get() == 0) {
      change_latency(GST_CUDA_CCL(transform), [&] { priv->frame_duration.take_frame(in); });
    }
    if (const GstFlowReturn flow = priv->path.start(in, priv->snapshot()); flow != GST_FLOW_OK) {
      return flow;
    }
  }
  return priv->path.is_oldest_due() ? priv->path.finish_oldest(out) : GST_FLOW_OK;
}

/// GstBaseTransform takes an element without this for one that works in place, which gets no buffers for its
/// output. Frames go through generate_output(), which does not call it.
static GstFlowReturn gst_cuda_ccl_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

/// For outputs of their own: geometry stays, so whatever describes it stays true.
static gboolean gst_cuda_ccl_transform_meta(GstBaseTransform* transform, GstBuffer*, GstMeta* meta,
                                            GstBuffer* in) {
  const GType api = meta->info->api;
  if (api == GST_VIDEO_CROP_META_API_TYPE) {
    return !cudaccl::is_cropped(in, GST_CUDA_CCL(transform)->priv->path.caps().in);
  }
  if (api == GST_PARENT_BUFFER_META_API_TYPE) {
    return FALSE;  // it keeps the input's memory alive, which the output does not use
  }
  if (gst_meta_api_type_has_tag(api, g_quark_from_static_string(GST_META_TAG_VIDEO_COLORSPACE_STR))) {
    return FALSE;  // the output's colours are others
  }
  return !cudaccl::is_component_meta(meta);
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
  if ((before.output == ccl::Output::kNone) != (after.output == ccl::Output::kNone)) {
    // Passthrough takes the formats that downstream does, other outputs take all.
    gst_base_transform_reconfigure_sink(GST_BASE_TRANSFORM(object));
  }
  if (before.pipeline_depth != after.pipeline_depth) {
    gst_element_post_message(GST_ELEMENT(object), gst_message_new_latency(GST_OBJECT(object)));
  }
}

// Read-only properties come after those of properties.h.
static guint active_backend_id() {
  return cudaccl::next_property_id();
}
static guint stats_id() {
  return cudaccl::next_property_id() + 1;
}

static void gst_cuda_ccl_get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  const cudaccl::Processor processor = priv->backend.processor();
  if (id == active_backend_id()) {
    g_value_set_enum(value, static_cast<gint>(processor.backend));
  } else if (id == stats_id()) {
    g_value_take_boxed(value, priv->statistics.to_structure(processor));
  } else if (!cudaccl::get_property(priv->snapshot(), id, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

static void gst_cuda_ccl_finalize(GObject* object) {
  delete GST_CUDA_CCL(object)->priv;
  G_OBJECT_CLASS(gst_cuda_ccl_parent_class)->finalize(object);
}

static void gst_cuda_ccl_init(GstCudaCcl* self) {
  self->priv = new Private(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static void install_read_only_properties(GObjectClass* object_class) {
  constexpr auto flags = static_cast<GParamFlags>(G_PARAM_READABLE | G_PARAM_STATIC_STRINGS);
  g_object_class_install_property(
      object_class, active_backend_id(),
      g_param_spec_enum("active-backend", "Active backend",
                        "Where frames are labelled (auto: not decided yet)", cudaccl::backend_type(),
                        static_cast<gint>(BackendChoice::kAuto), flags));
  g_object_class_install_property(
      object_class, stats_id(),
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
