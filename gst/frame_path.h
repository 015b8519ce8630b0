// SPDX-License-Identifier: LGPL-2.1-or-later
/// A frame's way through the element, from a buffer of the sink pad to one for the source pad.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <optional>
#include <vector>

#include "backend.h"
#include "in_flight.h"
#include "properties.h"
#include "statistics.h"

namespace cudaccl {

/// What the negotiated caps say of frames.
struct FrameCaps {
  GstVideoInfo in;
  GstVideoInfo out;
  bool in_is_cuda = false;  ///< what memory they are for
  bool out_is_cuda = false;
};

/// Frames go start() → in flight in the engine → finish_oldest(), in the order they came. All calls are
/// the streaming thread's, or a state change's while that thread does not run. When a call fails an error
/// has been posted on the element, but for the flow returns of others, which are passed on.
class FramePath {
 public:
  /// The three must outlive this.
  FramePath(GstBaseTransform* element, Backend* backend, Statistics* statistics);

  /// Nothing may be in flight when caps change: drain() first, and configure() after.
  void set_caps(const FrameCaps& caps);
  const FrameCaps& caps() const { return caps_; }
  /// What frames are written as: what is wanted if the source caps are for it, else what they are for.
  /// The property may have changed since they were negotiated, and will be negotiated anew then.
  ccl::Output choose_output(ccl::Output wanted);
  ccl::Output output() const { return output_; }
  /// Whether passthrough is wanted, but cannot be negotiated yet: frames that were on their way may have a
  /// format that downstream does not take. Upstream was asked for another, and until that comes all stays as
  /// it is.
  bool waits_for_passthrough(ccl::Output wanted) const;
  /// Makes the engine ready for frames of the caps, so that the first one need not.
  bool configure(const Properties& properties);

  /// Before each frame is submitted: sends on those in flight if it comes after a gap or will be negotiated
  /// for, since they belong to the caps and come before the gap. `after_gap` is what GstBaseTransform tells.
  GstFlowReturn make_way(bool after_gap);
  /// Puts a frame in flight; those before it go on first where it wants another engine configuration, or
  /// where the output's pool has no buffer left.
  /// Takes the buffer. GST_BASE_TRANSFORM_FLOW_DROPPED if it cannot be read.
  GstFlowReturn start(GstBuffer* in, const Properties& properties);
  /// Whether more frames are in flight than are to stay.
  bool is_oldest_due() const { return in_flight_.size() > depth_; }
  /// Waits for the oldest frame in flight and attaches what was found. The buffer is the caller's.
  GstFlowReturn finish_oldest(GstBuffer** out);

  /// Finishes all frames in flight and pushes them downstream; after a failure those left are let go.
  GstFlowReturn drain();
  /// Lets go of the frames in flight.
  void discard();
  /// The end of the stream: lets go of all that came with it.
  void stop();
  /// Counts a frame that goes no further, and drains, since those in flight come before the gap.
  /// GST_BASE_TRANSFORM_FLOW_DROPPED if that works.
  GstFlowReturn count_dropped();

 private:
  ccl::Config wanted_config(const Properties& properties);
  GstFlowReturn prepare_engine(GstBuffer* in, const Properties& properties);
  GstFlowReturn push_frame(FrameInFlight* frame);
  bool map_frame(GstBuffer* buffer, const GstVideoInfo& info, GstMapFlags flags,
                 std::optional<MappedFrame>* mapped) const;
  GstBuffer* acquire_output(GstBuffer* in, GstFlowReturn* flow);
  ccl::Settings frame_settings(const Properties& properties) const;
  guint choose_depth(GstBuffer* in, guint wanted);
  GstFlowReturn send_oldest();
  GstFlowReturn drop_corrupt_frame(GstBuffer* buffer);
  GstFlowReturn fail(const ccl::Status& status);

  GstBaseTransform* const element_;
  Backend* const backend_;
  Statistics* const statistics_;

  FrameCaps caps_;
  ccl::Output output_ = ccl::Output::kColorized;  ///< what the negotiated source caps are for
  InFlight in_flight_;
  std::vector<CclComponent> largest_;  ///< those of the frame at hand that are told as objects
  bool after_gap_ = false;             ///< the frame at hand
  guint depth_ = 0;                    ///< frames that stay in flight
  bool follows_context_ = false;       ///< the next CUDA memory may bring another context than ours
  GstBufferPool* in_pool_ = nullptr;   ///< where the last input came from, to compare with only
  guint in_pool_frames_ = 0;           ///< how many frames it can give, 0: any number
};

}  // namespace cudaccl
