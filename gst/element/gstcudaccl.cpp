// SPDX-License-Identifier: LGPL-2.1-or-later
/**
 * SECTION:element-cudaccl
 *
 * Labels the connected components of binarized frames on the GPU, or on the CPU where there is none.
 * The source pad produces colours, labels or a mask; the component records travel as metadata.
 *
 * ## Example launch line
 * |[
 * gst-launch-1.0 videotestsrc pattern=ball ! cudaccl ! videoconvert ! autovideosink
 * ]|
 *
 * Since: 0.1
 */
// The element as GStreamer sees it. Caps are in caps.h, what was negotiated in negotiation.h, and the way of
// a frame in frame_path.h: submit_input_buffer() drains what must leave first, generate_output() pushes the
// frame and pops the oldest one if more are in flight than may stay. Serialized queries and most events
// drain.
#include "element/gstcudaccl.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <new>
#include <optional>
#include <utility>

#include "element/debug.h"
#include "element/events.h"
#include "element/guard.h"
#include "element/private.h"
#include "element/queries.h"
#include "element/signals.h"
#include "frame/frame.h"
#include "metadata/metadata.h"
#include "metadata/upstream_metas.h"
#include "negotiation/allocation.h"
#include "negotiation/caps.h"
#include "properties/presets.h"
#include "properties/properties.h"

GST_DEBUG_CATEGORY(gst_cuda_ccl_debug);

using cudaccl::BackendChoice;
using cudaccl::Private;
using cudaccl::Properties;
using cudaccl::unless_thrown;

struct GstCudaCclClass {
  GstBaseTransformClass parent_class;
};

#define GST_CUDA_CCL(obj) (reinterpret_cast<GstCudaCcl*>(obj))

static void gst_cuda_ccl_set_property(GObject*, guint, const GValue*, GParamSpec*);
static void gst_cuda_ccl_get_property(GObject*, guint, GValue*, GParamSpec*);
static void gst_cuda_ccl_finalize(GObject*);
static GstStateChangeReturn gst_cuda_ccl_change_state(GstElement*, GstStateChange);
static void gst_cuda_ccl_set_context(GstElement*, GstContext*);
static gboolean gst_cuda_ccl_start(GstBaseTransform*);
static gboolean gst_cuda_ccl_stop(GstBaseTransform*);
static gboolean gst_cuda_ccl_query(GstBaseTransform*, GstPadDirection, GstQuery*);
static gboolean gst_cuda_ccl_sink_event(GstBaseTransform*, GstEvent*);
static GstCaps* gst_cuda_ccl_transform_caps(GstBaseTransform*, GstPadDirection, GstCaps*, GstCaps*);
static GstCaps* gst_cuda_ccl_fixate_caps(GstBaseTransform*, GstPadDirection, GstCaps*, GstCaps*);
static gboolean gst_cuda_ccl_set_caps(GstBaseTransform*, GstCaps*, GstCaps*);
static gboolean gst_cuda_ccl_transform_size(GstBaseTransform*, GstPadDirection, GstCaps*, gsize, GstCaps*,
                                            gsize*);
static gboolean gst_cuda_ccl_decide_allocation(GstBaseTransform*, GstQuery*);
static gboolean gst_cuda_ccl_propose_allocation(GstBaseTransform*, GstQuery*, GstQuery*);
static void gst_cuda_ccl_before_transform(GstBaseTransform*, GstBuffer*);
static GstFlowReturn gst_cuda_ccl_submit_input_buffer(GstBaseTransform*, gboolean, GstBuffer*);
static GstFlowReturn gst_cuda_ccl_generate_output(GstBaseTransform*, GstBuffer**);
static GstFlowReturn gst_cuda_ccl_transform(GstBaseTransform*, GstBuffer*, GstBuffer*);
static gboolean gst_cuda_ccl_transform_meta(GstBaseTransform*, GstBuffer*, GstMeta*, GstBuffer*);

static void gst_cuda_ccl_preset_init(gpointer presets, gpointer) {
  cudaccl::init_presets(static_cast<GstPresetInterface*>(presets));
}

G_DEFINE_TYPE_WITH_CODE(GstCudaCcl, gst_cuda_ccl, GST_TYPE_BASE_TRANSFORM,
                        G_IMPLEMENT_INTERFACE(GST_TYPE_PRESET, gst_cuda_ccl_preset_init))
GST_ELEMENT_REGISTER_DEFINE(cudaccl, "cudaccl", GST_RANK_NONE, gst_cuda_ccl_get_type())

static void gst_cuda_ccl_class_init(GstCudaCclClass* klass) {
  GObjectClass* object_class = G_OBJECT_CLASS(klass);
  GstElementClass* element_class = GST_ELEMENT_CLASS(klass);
  GstBaseTransformClass* transform_class = GST_BASE_TRANSFORM_CLASS(klass);
  GST_DEBUG_CATEGORY_INIT(gst_cuda_ccl_debug, "cudaccl", 0, "connected component labeling");

  object_class->set_property = GST_DEBUG_FUNCPTR(gst_cuda_ccl_set_property);
  object_class->get_property = GST_DEBUG_FUNCPTR(gst_cuda_ccl_get_property);
  object_class->finalize = GST_DEBUG_FUNCPTR(gst_cuda_ccl_finalize);
  cudaccl::install_properties(object_class);
  cudaccl::install_signals(G_TYPE_FROM_CLASS(klass),
                           G_CALLBACK(+[](GstCudaCcl* self) { self->priv->path.reset_background(); }));

  gst_element_class_add_pad_template(element_class, cudaccl::sink_template());
  gst_element_class_add_pad_template(element_class, cudaccl::src_template());
  gst_element_class_set_static_metadata(
      element_class, "Connected components", "Filter/Analyzer/Video/Hardware",
      "Labels, colours and measures the connected components of binarized video", "the cudaccl authors");
  element_class->change_state = GST_DEBUG_FUNCPTR(gst_cuda_ccl_change_state);
  element_class->set_context = GST_DEBUG_FUNCPTR(gst_cuda_ccl_set_context);

  transform_class->start = GST_DEBUG_FUNCPTR(gst_cuda_ccl_start);
  transform_class->stop = GST_DEBUG_FUNCPTR(gst_cuda_ccl_stop);
  transform_class->query = GST_DEBUG_FUNCPTR(gst_cuda_ccl_query);
  transform_class->sink_event = GST_DEBUG_FUNCPTR(gst_cuda_ccl_sink_event);

  transform_class->transform_caps = GST_DEBUG_FUNCPTR(gst_cuda_ccl_transform_caps);
  transform_class->fixate_caps = GST_DEBUG_FUNCPTR(gst_cuda_ccl_fixate_caps);
  transform_class->set_caps = GST_DEBUG_FUNCPTR(gst_cuda_ccl_set_caps);
  transform_class->transform_size = GST_DEBUG_FUNCPTR(gst_cuda_ccl_transform_size);
  transform_class->decide_allocation = GST_DEBUG_FUNCPTR(gst_cuda_ccl_decide_allocation);
  transform_class->propose_allocation = GST_DEBUG_FUNCPTR(gst_cuda_ccl_propose_allocation);

  transform_class->before_transform = GST_DEBUG_FUNCPTR(gst_cuda_ccl_before_transform);
  transform_class->submit_input_buffer = GST_DEBUG_FUNCPTR(gst_cuda_ccl_submit_input_buffer);
  transform_class->generate_output = GST_DEBUG_FUNCPTR(gst_cuda_ccl_generate_output);
  transform_class->transform = GST_DEBUG_FUNCPTR(gst_cuda_ccl_transform);
  transform_class->transform_meta = GST_DEBUG_FUNCPTR(gst_cuda_ccl_transform_meta);
}

static void gst_cuda_ccl_init(GstCudaCcl* self) {
  // GLib's memory, because an object cannot fail to be made. The constructor takes no other one.
  self->priv = new (g_malloc(sizeof(Private))) Private(GST_BASE_TRANSFORM(self));
  gst_base_transform_set_qos_enabled(GST_BASE_TRANSFORM(self), TRUE);
}

static void gst_cuda_ccl_finalize(GObject* object) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  priv->~Private();
  g_free(priv);
  G_OBJECT_CLASS(gst_cuda_ccl_parent_class)->finalize(object);
}

/* Properties */

static void gst_cuda_ccl_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  if (!priv->properties.set(pspec, value)) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
  // In the state NULL nobody could receive an error: it is posted at the start.
  if (!priv->properties.has_all_values() && GST_STATE(object) != GST_STATE_NULL) {
    priv->path.fail_for_memory();
  }
}

/// False if there is no such property.
static bool read_property(Private* priv, guint id, GValue* value) {
  if (id == cudaccl::property_id::active_backend) {
    g_value_set_enum(value, static_cast<gint>(priv->backend.processor().backend));
  } else if (id == cudaccl::property_id::stats) {
    g_value_take_boxed(value, priv->statistics.to_structure(priv->backend.processor()));
  } else {
    return priv->properties.get(id, value);
  }
  return true;
}

static void gst_cuda_ccl_get_property(GObject* object, guint id, GValue* value, GParamSpec* pspec) {
  // Without memory for it, the value is that which GValue has at first.
  if (!unless_thrown(true, [&] { return read_property(GST_CUDA_CCL(object)->priv, id, value); })) {
    G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
  }
}

/* States: the backend is open from NULL→READY to READY→NULL, and follows the properties at READY→PAUSED */

static bool open_backend(GstCudaCcl* self) {
  Private* priv = self->priv;
  const BackendChoice before = priv->backend.processor().backend;
  const bool is_open = priv->backend.open(GST_ELEMENT(self), priv->snapshot());
  if (is_open) {
    const ccl::Engine& engine = *priv->backend.engine();
    GST_INFO_OBJECT(self, "backend %s: %s", ccl::backend_name(engine.backend()),
                    engine.description().c_str());
  }
  if (priv->backend.processor().backend != before) {
    g_object_notify(G_OBJECT(self), "active-backend");
  }
  return is_open;
}

static void close_backend(GstCudaCcl* self) {
  self->priv->backend.close();
  g_object_notify(G_OBJECT(self), "active-backend");
}

/// Before the base class changes the state. False after an element error.
static bool prepare_state(GstCudaCcl* self, GstStateChange transition) {
  if (transition == GST_STATE_CHANGE_NULL_TO_READY) {
    self->priv->path.forget_failure();
  }
  if (transition == GST_STATE_CHANGE_READY_TO_PAUSED) {
    self->priv->properties.report_doubts();
  }
  const bool is_start =
      transition == GST_STATE_CHANGE_NULL_TO_READY || transition == GST_STATE_CHANGE_READY_TO_PAUSED;
  return !is_start || (self->priv->properties.report_refusals(/*begins_stream=*/false) && open_backend(self));
}

static GstStateChangeReturn gst_cuda_ccl_change_state(GstElement* element, GstStateChange transition) {
  GstCudaCcl* self = GST_CUDA_CCL(element);
  if (!self->priv->guarded(false, [=] { return prepare_state(self, transition); })) {
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
  return priv->guarded(FALSE, [priv] {
    priv->statistics.reset();
    priv->frame_duration.reset();
    priv->stream.reset();
    priv->path.begin_stream(priv->properties.source(), priv->properties.object_type());
    return TRUE;
  });
}

static gboolean gst_cuda_ccl_stop(GstBaseTransform* transform) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  priv->path.end_stream();
  priv->properties.end_stream();
  return TRUE;
}

static void gst_cuda_ccl_set_context(GstElement* element, GstContext* context) {
  Private* priv = GST_CUDA_CCL(element)->priv;
  priv->guarded(false, [=] {
    priv->backend.context().set_context(element, context, priv->snapshot().cuda_device_id);
    return true;
  });
  GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->set_context(element, context);
}

/* Queries and events */

static gboolean gst_cuda_ccl_query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const std::optional<gboolean> answered = priv->guarded(
      std::optional(FALSE), [=] { return cudaccl::answer(GST_CUDA_CCL(transform), direction, query); });
  return answered ? *answered
                  : GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->query(transform, direction, query);
}

static gboolean handle_event(GstBaseTransform* transform, GstEvent* event) {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->sink_event(transform, event);
}

/// Discards what is in flight. The source pad takes the sticky events of it when the flush has passed.
static gboolean stop_flush(GstBaseTransform* transform, GstEvent* event) {
  cudaccl::FramePath& path = GST_CUDA_CCL(transform)->priv->path;
  if (cudaccl::resets_time(event)) {
    path.reset_time();
  }
  const gboolean is_sent = handle_event(transform, event);
  path.flush();
  return is_sent;
}

/// Before GstBaseTransform negotiates for frames of these sink caps; null: those in force. If passthrough is
/// wanted but must wait, it negotiates for the old output. False after an element error.
static bool begin_negotiation(GstCudaCcl* self, GstCaps* sink_caps) {
  Private* priv = self->priv;
  return priv->guarded(false, [=] {
    priv->negotiation.refuse_impossible_output(priv->snapshot(), sink_caps);
    if (priv->negotiation.must_delay_passthrough(priv->snapshot().output, sink_caps)) {
      priv->keep_output(priv->negotiation.output());
    }
    return true;
  });
}

static void end_negotiation(GstCudaCcl* self) {
  Private* priv = self->priv;
  if (priv->keep_output(std::nullopt) && priv->snapshot().output != ccl::Output::kNone) {
    gst_base_transform_reconfigure_src(&self->parent);  // the property changed during the negotiation
  }
}

static gboolean take_caps_event(GstCudaCcl* self, GstEvent* event) {
  GstCaps* caps = nullptr;
  gst_event_parse_caps(event, &caps);
  if (self->priv->path.has_failed() || !begin_negotiation(self, caps)) {
    gst_event_unref(event);
    return FALSE;
  }
  const gboolean is_taken = handle_event(&self->parent, event);
  end_negotiation(self);
  return is_taken;
}

static gboolean gst_cuda_ccl_sink_event(GstBaseTransform* transform, GstEvent* event) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  if (GST_EVENT_TYPE(event) == GST_EVENT_FLUSH_STOP) {
    return stop_flush(transform, event);
  }
  if (cudaccl::is_serialized(event) && priv->path.hold_or_drain(event)) {
    return TRUE;
  }
  if (GST_EVENT_TYPE(event) == GST_EVENT_STREAM_START && priv->is_another_stream(event)) {
    priv->path.follow_source();
  }
  return GST_EVENT_TYPE(event) == GST_EVENT_CAPS ? take_caps_event(GST_CUDA_CCL(transform), event)
                                                 : handle_event(transform, event);
}

/* Negotiation */

static GstCaps* gst_cuda_ccl_transform_caps(GstBaseTransform* transform, GstPadDirection direction,
                                            GstCaps* caps, GstCaps* filter) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  GstCaps* possible = priv->guarded(static_cast<GstCaps*>(nullptr), [=] {
    return cudaccl::transform_caps(direction, caps, filter, priv->caps_rule());
  });
  return possible != nullptr ? possible : gst_caps_new_empty();
}

static GstCaps* gst_cuda_ccl_fixate_caps(GstBaseTransform*, GstPadDirection, GstCaps*, GstCaps* other_caps) {
  return cudaccl::fixate_caps(other_caps);
}

/// Takes new caps. False after an element error.
static bool take_caps(GstCudaCcl* self, GstCaps* in_caps, GstCaps* out_caps) {
  Private* priv = self->priv;
  if (priv->path.drain() != GST_FLOW_OK) {  // the frames in flight have the old caps
    return false;
  }
  const GstVideoInfo old_info = priv->negotiation.caps().in;
  if (!priv->properties.report_refusals(/*begins_stream=*/false)) {
    priv->path.keep_failure();
    return false;
  }
  if (!priv->negotiation.set_caps(in_caps, out_caps)) {
    return false;
  }
  const GstClockTime old_latency = cudaccl::latency_of(*priv);
  priv->frame_duration.take_caps(old_info, priv->negotiation.caps().in);
  cudaccl::report_latency_change(self, old_latency);
  priv->path.start();
  if (!cudaccl::have_same_pixels(old_info, priv->negotiation.caps().in)) {
    priv->path.reset_background();
  }
  if (!priv->negotiation.prepare_engine(priv->snapshot())) {
    priv->path.keep_failure();
    return false;
  }
  return true;
}

static gboolean gst_cuda_ccl_set_caps(GstBaseTransform* transform, GstCaps* in_caps, GstCaps* out_caps) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  return self->priv->guarded(false, [=] { return take_caps(self, in_caps, out_caps); });
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
  return priv->guarded(FALSE, [=]() -> gboolean {
    const Properties properties = priv->snapshot();
    if (priv->negotiation.choose_output(properties.output) == ccl::Output::kNone) {
      cudaccl::decide_no_allocation(query);
      return TRUE;
    }
    return cudaccl::decide_allocation(query, &priv->backend, properties.pipeline_depth);
  });
}

static gboolean gst_cuda_ccl_propose_allocation(GstBaseTransform* transform, GstQuery* decide_query,
                                                GstQuery* query) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  return priv->guarded(FALSE, [=]() -> gboolean {
    const guint depth = priv->snapshot().pipeline_depth;
    priv->path.forget_pool();
    if (priv->negotiation.output() == ccl::Output::kNone) {
      return cudaccl::forward_allocation(query, transform->srcpad, &priv->backend, depth);
    }
    cudaccl::propose_allocation(query, &priv->backend, depth);
    return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)
        ->propose_allocation(transform, decide_query, query);
  });
}

/* A frame, from the sink pad to the source pad
 *
 * GstBaseTransform's chain function calls before_transform(), then submit_input_buffer(), whose default puts
 * the frame into `queued_buf`, then generate_output() until it gives no frame, and pushes each that it gives
 * to the source pad. FramePath takes a frame from push() to pop(). Where frames must leave at once,
 * FramePath::drain() pushes them to the source pad itself. */

/// Lets controllers set the properties of this frame.
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

/// GstBaseTransform drops late frames, and negotiates if the source pad needs it.
static GstFlowReturn submit(GstBaseTransform* transform, gboolean is_discont, GstBuffer* buffer) {
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)
      ->submit_input_buffer(transform, is_discont, buffer);
}

/// A frame before a negotiation. The frames in flight leave first, because they have the old caps.
static GstFlowReturn submit_after_drain(GstBaseTransform* transform, gboolean is_discont, GstBuffer* buffer) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  if (const GstFlowReturn flow = self->priv->path.drain(); flow != GST_FLOW_OK) {
    gst_buffer_unref(buffer);
    return flow;
  }
  if (!begin_negotiation(self, nullptr)) {
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  const GstFlowReturn flow = submit(transform, is_discont, buffer);
  end_negotiation(self);
  return flow;
}

static GstFlowReturn gst_cuda_ccl_submit_input_buffer(GstBaseTransform* transform, gboolean is_discont,
                                                      GstBuffer* buffer) {
  if (GST_CUDA_CCL(transform)->priv->path.has_failed()) {
    gst_buffer_unref(buffer);
    return GST_FLOW_ERROR;
  }
  const GstClockTime time = GST_BUFFER_PTS(buffer);
  const GstFlowReturn flow = GST_PAD_NEEDS_RECONFIGURE(transform->srcpad)
                                 ? submit_after_drain(transform, is_discont, buffer)
                                 : submit(transform, is_discont, buffer);
  if (flow != GST_BASE_TRANSFORM_FLOW_DROPPED) {
    return flow;
  }
  GST_CUDA_CCL(transform)->priv->path.drop_late(time);
  return GST_FLOW_OK;  // generate_output() is called for the frames that are due
}

static GstFlowReturn gst_cuda_ccl_generate_output(GstBaseTransform* transform, GstBuffer** out) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  if (GstBuffer* in = std::exchange(transform->queued_buf, nullptr)) {
    if (!priv->properties.has_all_values()) {
      return priv->path.give_up(in);
    }
    if (!priv->properties.report_refusals(/*begins_stream=*/true)) {
      gst_buffer_unref(in);
      priv->path.keep_failure();
      return GST_FLOW_ERROR;
    }
    if (priv->frame_duration.get() == 0) {
      const GstClockTime old_latency = cudaccl::latency_of(*priv);
      priv->frame_duration.take_frame(in);
      cudaccl::report_latency_change(self, old_latency);
    }
    const GstFlowReturn flow = priv->path.push(in, priv->snapshot(), priv->frame_duration.get());
    if (flow != GST_FLOW_OK && flow != GST_BASE_TRANSFORM_FLOW_DROPPED) {
      return flow;
    }
  }
  const GstFlowReturn flow = priv->path.pop(out);
  if (priv->statistics.is_report_due()) {
    g_object_notify(G_OBJECT(self), "stats");
  }
  return flow;
}

/// Never called, because frames go through generate_output(). Without it GstBaseTransform would work in
/// place, with no buffers for the output.
static GstFlowReturn gst_cuda_ccl_transform(GstBaseTransform*, GstBuffer*, GstBuffer*) {
  return GST_FLOW_NOT_SUPPORTED;
}

static gboolean gst_cuda_ccl_transform_meta(GstBaseTransform* transform, GstBuffer* out, GstMeta* meta,
                                            GstBuffer* in) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  return unless_thrown(  // metadata is right or absent
      false, [=] { return cudaccl::is_passed_on(out, meta, in, priv->negotiation.caps().in); });
}
