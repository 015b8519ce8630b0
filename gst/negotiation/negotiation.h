// SPDX-License-Identifier: LGPL-2.1-or-later
/// What the two pads have agreed on, and what follows from it for the engine.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <string>

#include "element/backend.h"
#include "memory/owned.h"
#include "properties/live_properties.h"
#include "properties/properties.h"

namespace cudaccl {

/// What the negotiated caps say about frames.
struct FrameCaps {
  GstVideoInfo in;
  GstVideoInfo out;
  bool in_is_cuda = false;  ///< frames come in CUDA memory
  bool out_is_cuda = false;
};

/// The negotiated caps and the output that is written in them. Only the streaming thread uses it, or a state
/// change while that thread does not run.
class Negotiation {
 public:
  /// All three must outlive this.
  Negotiation(GstBaseTransform* element, Backend* backend, LiveProperties* live);

  /// Takes new caps. False after an element error; the old caps are then kept.
  bool set_caps(GstCaps* in_caps, GstCaps* out_caps);
  const FrameCaps& caps() const { return caps_; }

  /// Chooses the output that frames are written as: the wanted one if the source caps can hold it, else one
  /// that they can hold. The two differ if the property changes during the negotiation, which is then
  /// repeated.
  ccl::Output choose_output(ccl::Output wanted);
  /// The same between negotiations. Passthrough does not begin or end there, because its buffers come from
  /// elsewhere.
  void follow_output(ccl::Output wanted);
  ccl::Output output() const { return output_; }

  /// Takes the wanted output back if another one is in force and the neighbours cannot take frames of
  /// `in_caps` (null: the caps of the sink pad) with the wanted one. For passthrough upstream may have to
  /// send another format; see must_delay_passthrough().
  void refuse_impossible_output(const Properties& wanted, GstCaps* in_caps);
  /// True if passthrough is wanted but must wait, because another output is in force: downstream does not
  /// take `in_caps` (as above), the format of frames that are already on their way. Upstream was asked for
  /// another format, and until that arrives the old output stays.
  bool must_delay_passthrough(ccl::Output wanted, GstCaps* in_caps) const;

  /// The engine configuration for the caps and the output.
  ccl::Config engine_config(const Properties& properties) const;
  /// Lets engine and pipeline share a context and configures the engine, so that the first frame finds it
  /// ready. False after an element error, as of a threshold that no pixel can reach when a stream begins.
  bool prepare_engine(Properties properties);
  /// Configures the engine for the properties. If it fails because of one that changed, the property is taken
  /// back, and *properties gets what is in force. False after an element error.
  bool configure_engine(Properties* properties);
  /// Takes thresholds back that no pixel of the sink format can reach; *properties gets those in force.
  void refuse_large_thresholds(Properties* properties);

 private:
  ccl::Memory memory(bool is_cuda) const;
  Owned<GstCaps> sink_caps(GstCaps* in_caps) const;
  std::string why_impossible(ccl::Output output, GstCaps* in_caps) const;
  bool accepts_thresholds(const Properties& properties) const;
  bool restore_configuration(Properties* properties, const std::string& reason);
  std::string largest_value_text() const;

  GstBaseTransform* const element_;
  Backend* const backend_;
  LiveProperties* const live_;
  FrameCaps caps_;
  ccl::Output output_ = ccl::Output::kColorized;
  guint threshold_ = 0;  ///< of the last frame
  uint16_t threshold_low_ = 0;
};

}  // namespace cudaccl
