// SPDX-License-Identifier: LGPL-2.1-or-later
#include "negotiation.h"

#include "caps.h"
#include "gstcudaccl.h"

namespace cudaccl {

Negotiation::Negotiation(GstBaseTransform* element, Backend* backend) : element_(element), backend_(backend) {
  gst_video_info_init(&caps_.in);
  gst_video_info_init(&caps_.out);
}

bool Negotiation::set_caps(GstCaps* in_caps, GstCaps* out_caps) {
  FrameCaps caps;
  if (!gst_video_info_from_caps(&caps.in, in_caps) || !gst_video_info_from_caps(&caps.out, out_caps)) {
    GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("Not caps of video frames"),
                      ("%" GST_PTR_FORMAT " to %" GST_PTR_FORMAT, in_caps, out_caps));
    return false;
  }
  if (GST_VIDEO_INFO_MULTIVIEW_MODE(&caps.in) == GST_VIDEO_MULTIVIEW_MODE_SEPARATED) {
    GST_ELEMENT_ERROR(element_, STREAM, FORMAT, ("A buffer of several separate views cannot be labelled"),
                      ("%" GST_PTR_FORMAT, in_caps));
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

bool Negotiation::must_delay_passthrough(ccl::Output wanted) const {
  if (wanted != ccl::Output::kNone || output_ == ccl::Output::kNone) {
    return false;
  }
  GstCaps* caps = gst_pad_get_current_caps(GST_BASE_TRANSFORM_SINK_PAD(element_));
  if (caps == nullptr) {
    return false;
  }
  const bool is_accepted = gst_pad_peer_query_accept_caps(GST_BASE_TRANSFORM_SRC_PAD(element_), caps);
  gst_caps_unref(caps);
  if (!is_accepted) {
    GST_ELEMENT_WARNING(element_, STREAM, FORMAT, ("output=passthrough waits for another format"),
                        ("downstream does not accept %s", GST_VIDEO_INFO_NAME(&caps_.in)));
  }
  return !is_accepted;
}

ccl::Memory Negotiation::memory(bool is_cuda) const {
  return is_cuda && backend_->is_cuda() ? ccl::Memory::kDevice : ccl::Memory::kHost;
}

ccl::Config Negotiation::engine_config(const Properties& properties) const {
  return {.width = static_cast<uint32_t>(GST_VIDEO_INFO_WIDTH(&caps_.in)),
          .height = static_cast<uint32_t>(GST_VIDEO_INFO_HEIGHT(&caps_.in)),
          .algorithm = properties.algorithm,
          .output = output_,
          .layout = pixel_layout(caps_.out),
          .max_components = properties.max_components,
          .slots = properties.pipeline_depth + 1,
          .input_memory = memory(caps_.in_is_cuda),
          .output_memory = memory(caps_.out_is_cuda),
          .threads = properties.threads};
}

bool Negotiation::configure_engine(const Properties& properties) {
  const bool needs_context = caps_.in_is_cuda || caps_.out_is_cuda;
  if (needs_context && !backend_->share_context(GST_ELEMENT(element_))) {
    return false;
  }
  choose_output(properties.output);
  return backend_->configure(GST_ELEMENT(element_), engine_config(properties));
}

}  // namespace cudaccl
