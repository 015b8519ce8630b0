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
 * and drops late frames, prepare_output_buffer() takes the frame's copy of the properties and a buffer
 * for its output, and transform() runs the engine and attaches what it found.
 */
#include "gstcudaccl.h"

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <cmath>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "allocation.h"
#include "backend.h"
#include "caps.h"
#include "ccl/engine.h"
#include "cuda_context.h"
#include "frame.h"
#include "metadata.h"
#include "properties.h"
#include "statistics.h"

GST_DEBUG_CATEGORY_STATIC(gst_cuda_ccl_debug);
#define GST_CAT_DEFAULT gst_cuda_ccl_debug

using cudaccl::BackendChoice;
using cudaccl::Properties;

namespace {

/// The C++ side of the element.
struct Private {
  std::mutex lock;  // for the four below, which any thread may ask for
  Properties properties;
  cudaccl::Statistics statistics;
  BackendChoice active_backend = BackendChoice::kAuto;  // kAuto: none yet
  std::string device;                                   // the processor in use

  cudaccl::CudaContext cuda_context;

  // The streaming thread's, or a state change's while that thread does not run.
  std::unique_ptr<ccl::Engine> engine;
  std::optional<ccl::Config> config;  // what the engine is configured for
  GstVideoInfo in_info;
  GstVideoInfo out_info;
  ccl::Output output = ccl::Output::kColorized;  // what the negotiated source caps are for
  Properties frame;                              // the copy that the frame in hand goes by

  Properties snapshot() {
    const std::lock_guard guard(lock);
    return properties;
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

/* The engine: made in NULL→READY, configured when the wanted configuration changes */

static bool open_engine(GstCudaCcl* self) {
  Private* priv = self->priv;
  const Properties properties = priv->snapshot();
  priv->cuda_context.recall(GST_ELEMENT(self), properties.cuda_device_id);
  ccl::Status status = cudaccl::make_engine(GST_ELEMENT(self), properties, priv->cuda_context, &priv->engine);
  ccl::Algorithm algorithm;
  if (status.ok()) {
    status = ccl::resolve_algorithm(properties.algorithm, priv->engine->backend(), &algorithm);
  }
  if (!status.ok()) {
    priv->engine.reset();
    cudaccl::post_error(GST_ELEMENT(self), status);
    return false;
  }
  GST_INFO_OBJECT(self, "backend %s: %s", ccl::backend_name(priv->engine->backend()),
                  priv->engine->description().c_str());
  {
    const std::lock_guard guard(priv->lock);
    priv->active_backend =
        priv->engine->backend() == ccl::Backend::kCuda ? BackendChoice::kCuda : BackendChoice::kCpu;
    priv->device = priv->engine->description();
  }
  g_object_notify(G_OBJECT(self), "active-backend");
  return true;
}

static void close_engine(GstCudaCcl* self) {
  Private* priv = self->priv;
  priv->engine.reset();
  priv->config.reset();
  priv->cuda_context.release();
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

/// Configures the engine if the properties or the caps ask for another configuration than it has.
static bool ensure_configured(GstCudaCcl* self, const Properties& properties) {
  Private* priv = self->priv;
  const ccl::Config wanted{.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&priv->in_info)),
                           .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&priv->in_info)),
                           .algorithm = properties.algorithm,
                           .output = choose_output(priv, properties.output),
                           .layout = cudaccl::pixel_layout(priv->out_info),
                           .max_components = properties.max_components,
                           .threads = properties.threads};
  if (priv->config == wanted) {
    return true;
  }
  priv->config.reset();
  if (const ccl::Status status = priv->engine->configure(wanted); !status.ok()) {
    cudaccl::post_error(GST_ELEMENT(self), status);
    return false;
  }
  priv->config = wanted;
  return true;
}

static GstStateChangeReturn gst_cuda_ccl_change_state(GstElement* element, GstStateChange transition) {
  GstCudaCcl* self = GST_CUDA_CCL(element);
  if (transition == GST_STATE_CHANGE_NULL_TO_READY && !open_engine(self)) {
    return GST_STATE_CHANGE_FAILURE;
  }
  const GstStateChangeReturn result =
      GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->change_state(element, transition);
  const bool failed_to_open =
      transition == GST_STATE_CHANGE_NULL_TO_READY && result == GST_STATE_CHANGE_FAILURE;
  if (transition == GST_STATE_CHANGE_READY_TO_NULL || failed_to_open) {
    close_engine(self);
  }
  return result;
}

static void gst_cuda_ccl_set_context(GstElement* element, GstContext* context) {
  Private* priv = GST_CUDA_CCL(element)->priv;
  priv->cuda_context.set_context(element, context, priv->snapshot().cuda_device_id);
  GST_ELEMENT_CLASS(gst_cuda_ccl_parent_class)->set_context(element, context);
}

static gboolean gst_cuda_ccl_query(GstBaseTransform* transform, GstPadDirection direction, GstQuery* query) {
  if (GST_QUERY_TYPE(query) == GST_QUERY_CONTEXT &&
      GST_CUDA_CCL(transform)->priv->cuda_context.answer(GST_ELEMENT(transform), query)) {
    return TRUE;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->query(transform, direction, query);
}

static gboolean gst_cuda_ccl_start(GstBaseTransform* transform) {
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const std::lock_guard guard(priv->lock);
  priv->statistics = {};
  return TRUE;
}

/* Negotiation */

static GstCaps* gst_cuda_ccl_transform_caps(GstBaseTransform* transform, GstPadDirection direction,
                                            GstCaps* caps, GstCaps* filter) {
  GstCaps* result =
      cudaccl::transform_caps(direction, caps, GST_CUDA_CCL(transform)->priv->snapshot().output);
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
  return ensure_configured(self, priv->snapshot());
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
  if (choose_output(priv, priv->snapshot().output) == ccl::Output::kNone) {
    cudaccl::decide_no_allocation(query);
    return TRUE;
  }
  return cudaccl::decide_allocation(query);
}

static gboolean gst_cuda_ccl_propose_allocation(GstBaseTransform* transform, GstQuery* decide_query,
                                                GstQuery* query) {
  if (GST_CUDA_CCL(transform)->priv->output == ccl::Output::kNone) {
    return gst_pad_peer_query(transform->srcpad, query);
  }
  cudaccl::propose_allocation(query);
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
  Private* priv = GST_CUDA_CCL(transform)->priv;
  const GstFlowReturn flow =
      GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->submit_input_buffer(transform, is_discont, buffer);
  if (flow == GST_BASE_TRANSFORM_FLOW_DROPPED) {
    const std::lock_guard guard(priv->lock);
    priv->statistics.count_dropped();
  }
  return flow;
}

static GstFlowReturn gst_cuda_ccl_prepare_output_buffer(GstBaseTransform* transform, GstBuffer* in,
                                                        GstBuffer** out) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  priv->frame = priv->snapshot();
  if (!ensure_configured(self, priv->frame)) {
    return GST_FLOW_ERROR;
  }
  if (priv->output == ccl::Output::kNone) {
    // Only metadata is added: a copy shares the memory.
    *out = gst_buffer_is_writable(in) ? in : gst_buffer_copy(in);
    return GST_FLOW_OK;
  }
  return GST_BASE_TRANSFORM_CLASS(gst_cuda_ccl_parent_class)->prepare_output_buffer(transform, in, out);
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

/// The settings of the frame in hand, with what follows from the sink format filled in.
static ccl::Settings frame_settings(const Private& priv) {
  ccl::Settings settings = priv.frame.settings;
  settings.rule.threshold = priv.frame.threshold != 0 ? static_cast<uint8_t>(priv.frame.threshold)
                                                      : cudaccl::automatic_threshold(priv.in_info);
  settings.overlay_alpha = static_cast<uint8_t>(std::lround(priv.frame.overlay_alpha * 255));
  settings.limited_range = cudaccl::is_limited_range(priv.in_info);
  return settings;
}

/// Warns of a frame that cannot be read, and goes on with the next one.
static GstFlowReturn drop_corrupt_frame(GstCudaCcl* self, GstBuffer* buffer) {
  {
    const std::lock_guard guard(self->priv->lock);
    self->priv->statistics.count_dropped();
  }
  const GstVideoInfo& info = self->priv->in_info;
  GST_ELEMENT_WARNING(
      self, STREAM, FORMAT, ("Dropped a corrupt frame"),
      ("a buffer of %" G_GSIZE_FORMAT " bytes cannot hold %s %dx%d", gst_buffer_get_size(buffer),
       GST_VIDEO_INFO_NAME(&info), GST_VIDEO_INFO_WIDTH(&info), GST_VIDEO_INFO_HEIGHT(&info)));
  return GST_BASE_TRANSFORM_FLOW_DROPPED;
}

/// Runs the engine. After a failure it must be configured again.
static GstFlowReturn run_engine(GstCudaCcl* self, const ccl::FrameJob& job, ccl::FrameResult* result) {
  Private* priv = self->priv;
  ccl::Status status = priv->engine->push(job);
  if (status.ok()) {
    status = priv->engine->pop(result);
  }
  if (status.ok()) {
    return GST_FLOW_OK;
  }
  priv->engine->flush();
  priv->config.reset();
  cudaccl::post_error(GST_ELEMENT(self), status);
  return GST_FLOW_ERROR;
}

/// Maps the buffers and runs the engine.
static GstFlowReturn label_frame(GstCudaCcl* self, GstBuffer* in, GstBuffer* out, ccl::FrameResult* result) {
  Private* priv = self->priv;
  const cudaccl::MappedFrame input(in, priv->in_info, GST_MAP_READ);
  if (!input.mapped()) {
    return drop_corrupt_frame(self, in);
  }
  ccl::FrameJob job{.input = input.luma(), .output = {}, .settings = frame_settings(*priv)};
  if (priv->output == ccl::Output::kNone) {
    return run_engine(self, job, result);
  }
  const cudaccl::MappedFrame output(out, priv->out_info, GST_MAP_WRITE);
  if (!output.mapped()) {
    GST_ELEMENT_ERROR(self, RESOURCE, WRITE, ("The buffer for the output cannot be written"),
                      ("%" G_GSIZE_FORMAT " bytes for %s %dx%d", gst_buffer_get_size(out),
                       GST_VIDEO_INFO_NAME(&priv->out_info), GST_VIDEO_INFO_WIDTH(&priv->out_info),
                       GST_VIDEO_INFO_HEIGHT(&priv->out_info)));
    return GST_FLOW_ERROR;
  }
  job.output = output.pixels();
  return run_engine(self, job, result);
}

static GstFlowReturn gst_cuda_ccl_transform(GstBaseTransform* transform, GstBuffer* in, GstBuffer* out) {
  GstCudaCcl* self = GST_CUDA_CCL(transform);
  Private* priv = self->priv;
  ccl::FrameResult result;
  if (const GstFlowReturn flow = label_frame(self, in, out, &result); flow != GST_FLOW_OK) {
    return flow;
  }
  if (priv->frame.metadata & cudaccl::kMetadataComponents) {
    cudaccl::attach_components(out, result, priv->in_info);
  }
  if (priv->frame.metadata & cudaccl::kMetadataRoi) {
    cudaccl::attach_regions_of_interest(out, result, priv->frame.max_objects);
  }
#ifdef HAVE_GST_ANALYTICS
  if (priv->frame.metadata & cudaccl::kMetadataAnalytics) {
    cudaccl::attach_analytics(out, result, priv->frame.max_objects);
  }
#endif
  if (priv->frame.post_messages) {
    cudaccl::post_frame_message(transform, out, result);
  }
  const std::lock_guard guard(priv->lock);
  priv->statistics.count_frame(result);
  return GST_FLOW_OK;
}

/* GObject */

static void gst_cuda_ccl_set_property(GObject* object, guint id, const GValue* value, GParamSpec* pspec) {
  Private* priv = GST_CUDA_CCL(object)->priv;
  ccl::Output before, after;
  {
    const std::lock_guard guard(priv->lock);
    before = priv->properties.output;
    if (!cudaccl::set_property(&priv->properties, id, value)) {
      G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, pspec);
    }
    after = priv->properties.output;
  }
  if (before != after) {
    gst_base_transform_reconfigure_src(GST_BASE_TRANSFORM(object));
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
  transform_class->query = gst_cuda_ccl_query;
  transform_class->transform_caps = gst_cuda_ccl_transform_caps;
  transform_class->set_caps = gst_cuda_ccl_set_caps;
  transform_class->transform_size = gst_cuda_ccl_transform_size;
  transform_class->decide_allocation = gst_cuda_ccl_decide_allocation;
  transform_class->propose_allocation = gst_cuda_ccl_propose_allocation;
  transform_class->before_transform = gst_cuda_ccl_before_transform;
  transform_class->submit_input_buffer = gst_cuda_ccl_submit_input_buffer;
  transform_class->prepare_output_buffer = gst_cuda_ccl_prepare_output_buffer;
  transform_class->transform_meta = gst_cuda_ccl_transform_meta;
  transform_class->transform = gst_cuda_ccl_transform;
}
