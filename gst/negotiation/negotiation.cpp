// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation/negotiation.h"

#include <algorithm>

#include "ccl/setting_names.h"
#include "element/debug.h"
#include "memory/owned.h"
#include "negotiation/caps.h"

namespace cudaccl {

namespace {

bool can_intersect(GstCaps* a, GstCaps* b) {
  return a != nullptr && b != nullptr && gst_caps_can_intersect(a, b);
}

const gchar* field_of(GstCaps* caps, const char* name) {
  return gst_structure_get_string(gst_caps_get_structure(caps, 0), name);
}

/// Whether buffers have one field each, but the caps lack the feature that GStreamer demands for these.
bool lacks_interlaced_feature(GstCaps* caps) {
  return g_strcmp0(field_of(caps, "interlace-mode"), "alternate") == 0 &&
         !gst_caps_features_contains(gst_caps_get_features(caps, 0), GST_CAPS_FEATURE_FORMAT_INTERLACED);
}

/// Why frames of these caps cannot be labelled. Empty if they can be; then *caps says what they are.
std::string why_refused(GstCaps* in_caps, GstCaps* out_caps, ccl::Output output, FrameCaps* caps) {
  if (lacks_interlaced_feature(in_caps)) {
    return "Caps with interlace-mode=alternate need the feature format:Interlaced. If each buffer has one "
           "field, upstream must add it, and deinterlace must come before this element. If each buffer has a "
           "frame, upstream must set interlace-mode=progressive or interleaved";
  }
  const bool is_video = gst_video_info_from_caps(&caps->in, in_caps);
  if (is_video && is_too_large(output, caps->in)) {
    const std::string format = field_of(out_caps, "format");
    const char* article = format[0] == 'B' || format[0] == 'G' ? "a " : "an ";
    return "GStreamer cannot allocate " + (article + format) + " frame of 4 GiB or more";
  }
  if (!is_video || !gst_video_info_from_caps(&caps->out, out_caps)) {
    return "Not caps of video frames";
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&caps->in) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED) {
    return "A buffer of several separate views cannot be labelled";
  }
  return "";
}

}  // namespace

Negotiation::Negotiation(GstBaseTransform* element, Backend* backend, LiveProperties* live)
    : element_(element), backend_(backend), live_(live) {
  gst_video_info_init(&caps_.in);
  gst_video_info_init(&caps_.out);
}

bool Negotiation::set_caps(GstCaps* in_caps, GstCaps* out_caps) {
  FrameCaps caps;
  const std::string reason = why_refused(in_caps, out_caps, live_->snapshot().output, &caps);
  if (!reason.empty()) {
    GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("%s", reason.c_str()),
                      ("%" GST_PTR_FORMAT " to %" GST_PTR_FORMAT, in_caps, out_caps));
    return false;
  }
  caps.in_is_cuda = is_cuda_caps(in_caps);
  caps.out_is_cuda = is_cuda_caps(out_caps);
  caps_ = caps;
  return true;
}

ccl::Output Negotiation::choose_output(ccl::Output wanted) {
  const bool fits = is_output_format(wanted, caps_.in, caps_.out);
  if (fits || !is_output_format(output_, caps_.in, caps_.out)) {
    output_ = fits ? wanted : output_of_format(caps_.in, caps_.out);
  }
  return output_;
}

void Negotiation::follow_output(ccl::Output wanted) {
  if ((wanted == ccl::Output::kNone) == (output_ == ccl::Output::kNone)) {
    choose_output(wanted);
  }
}

/// The caps, or if they are null those of the sink pad, if it has any.
Owned<GstCaps> Negotiation::sink_caps(GstCaps* in_caps) const {
  return Owned<GstCaps>(in_caps != nullptr ? gst_caps_ref(in_caps)
                                           : gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_)));
}

/// Empty if downstream can take the output for frames of these sink caps, or if upstream may send frames with
/// which it can.
std::string Negotiation::why_impossible(ccl::Output output, GstCaps* in_caps) const {
  GstVideoInfo info;
  if (!gst_video_info_from_caps(&info, in_caps)) {
    return "";
  }
  if (is_too_large(output, info)) {
    return "frames of " + output_formats(output) + " would have 4 GiB or more";
  }
  const CapsRule rule{.output = output, .has_cuda = backend_->is_cuda()};
  GstCaps* possible = transform_caps(GST_PAD_SINK, in_caps, nullptr, rule);
  GstCaps* accepted = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), nullptr);
  bool is_possible = can_intersect(possible, accepted);
  if (!is_possible && output == ccl::Output::kNone) {
    GstCaps* wanted = transform_caps(GST_PAD_SRC, accepted, nullptr, rule);
    GstCaps* offered = gst_pad_peer_query_caps(GST_BASE_TRANSFORM_SINK_PAD(element_), nullptr);
    is_possible = can_intersect(wanted, offered);
    gst_clear_caps(&offered);
    gst_clear_caps(&wanted);
  }
  gst_clear_caps(&accepted);
  gst_clear_caps(&possible);
  if (is_possible) {
    return "";
  }
  return output == ccl::Output::kNone
             ? std::string("downstream does not accept ") + GST_VIDEO_INFO_NAME(&info) +
                   ", and upstream has no format that it accepts"
             : "downstream does not accept " + output_formats(output);
}

void Negotiation::refuse_impossible_output(const Properties& wanted, GstCaps* in_caps) {
  const std::optional<Properties> in_force = live_->in_force();
  if (!in_force || wanted.output == in_force->output) {
    return;
  }
  const Owned<GstCaps> caps = sink_caps(in_caps);
  if (caps != nullptr) {
    const std::string reason = why_impossible(wanted.output, caps.get());
    if (!reason.empty() && why_impossible(in_force->output, caps.get()).empty()) {
      live_->take_back(wanted, *in_force, {"output"}, reason);
    }
  }
}

bool Negotiation::must_delay_passthrough(ccl::Output wanted, GstCaps* in_caps) const {
  if (wanted != ccl::Output::kNone || output_ == ccl::Output::kNone || !live_->in_force()) {
    return false;
  }
  const Owned<GstCaps> caps = sink_caps(in_caps);
  if (caps == nullptr || gst_pad_peer_query_accept_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), caps.get())) {
    return false;
  }
  GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("output=passthrough waits for another format"),
                      ("downstream does not accept %" GST_PTR_FORMAT, caps.get()));
  return true;
}

ccl::Memory Negotiation::memory(bool is_cuda) const {
  return is_cuda && backend_->is_cuda() ? ccl::Memory::kDevice : ccl::Memory::kHost;
}

ccl::Config Negotiation::engine_config(const Properties& properties) const {
  ccl::Config config = {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&caps_.in)),
                        .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&caps_.in)),
                        .algorithm = properties.algorithm,
                        .output = output_in_format(output_, caps_.out),
                        .layout = pixel_layout(caps_.out),
                        .planes = static_cast<uint32_t>(properties.label_map),
                        .slots = properties.pipeline_depth + 1,
                        .input_memory = memory(caps_.in_is_cuda),
                        .output_memory = memory(caps_.out_is_cuda)};
#define CCL_CONFIG(id, kind, initial, when, text) config.id = properties.id;
#include "ccl/settings.def"
  if (!properties.track) {
    config.max_tracks = 0;
  }
  return config;
}

bool Negotiation::prepare_engine(Properties properties) {
  const bool needs_context = caps_.in_is_cuda || caps_.out_is_cuda;
  if (needs_context && !backend_->share_context(GST_ELEMENT(element_))) {
    return false;
  }
  choose_output(properties.output);
  if (!live_->in_force()) {  // later there is a value that can stay
    if (!accepts_thresholds(properties)) {
      return false;
    }
    threshold_ = properties.threshold;
    threshold_low_ = properties.segmentation.threshold_low;
  }
  return configure_engine(&properties);
}

/// False after an element error.
bool Negotiation::accepts_thresholds(const Properties& properties) const {
  const uint32_t largest = largest_value(caps_.in);
  const bool is_high = properties.threshold > largest;
  const uint32_t value = is_high ? properties.threshold : properties.segmentation.threshold_low;
  if (value > largest) {
    GST_ELEMENT_ERROR(element_, RESOURCE, SETTINGS,
                      ("%s=%u cannot be used: %s", is_high ? "threshold" : "threshold-low", value,
                       largest_value_text().c_str()),
                      (nullptr));
  }
  return value <= largest;
}

std::string Negotiation::largest_value_text() const {
  return std::string("the largest value of ") + GST_VIDEO_INFO_NAME(&caps_.in) + " is " +
         std::to_string(largest_value(caps_.in));
}

void Negotiation::refuse_large_thresholds(Properties* properties) {
  const uint32_t largest = largest_value(caps_.in);
  const auto choose = [largest](auto wanted, auto last) {
    return wanted <= largest ? wanted : last <= largest ? last : decltype(wanted){0};
  };
  threshold_ = choose(properties->threshold, threshold_);
  threshold_low_ = choose(properties->segmentation.threshold_low, threshold_low_);
  Properties in_force = *properties;
  in_force.threshold = threshold_;
  in_force.segmentation.threshold_low = threshold_low_;
  if (threshold_ != properties->threshold || threshold_low_ != properties->segmentation.threshold_low) {
    live_->take_back(*properties, in_force, {"threshold", "threshold-low"}, largest_value_text());
    *properties = in_force;
  }
}

bool Negotiation::configure_engine(Properties* properties) {
  if (!backend_->is_configured(engine_config(*properties))) {
    const ccl::Status status = backend_->configure(engine_config(*properties));
    if (!status.ok() && !restore_configuration(properties, status.message())) {
      post_error(GST_ELEMENT(element_), status);
      return false;
    }
  }
  Properties in_force = *properties;
  in_force.output = output_;
  live_->set_in_force(in_force);
  return true;
}

/// Gives the property its old value back that the engine cannot be configured with or, if there is no such
/// one, all of them.
bool Negotiation::restore_configuration(Properties* properties, const std::string& reason) {
  static constexpr auto kNames = {
      "algorithm",
      "track",
      "label-map",
      "pipeline-depth",
#define CCL_CONFIG(id, kind, initial, when, text) ccl::kSettingName<#id>,
#include "ccl/settings.def"
  };
  const std::optional<Properties> in_force = live_->in_force();
  const Properties refused = *properties;
  const auto works_without = [&](std::initializer_list<const char*> names) {
    *properties = refused;
    for (const char* name : names) {
      restore_property(properties, name, refused, *in_force);
    }
    if (engine_config(*properties) == engine_config(refused) ||
        !backend_->configure(engine_config(*properties)).ok()) {
      return false;
    }
    live_->take_back(refused, *in_force, names, reason);
    return true;
  };
  return in_force && (std::any_of(kNames.begin(), kNames.end(),
                                  [&](const char* name) { return works_without({name}); }) ||
                      works_without(kNames));
}

}  // namespace cudaccl
