// SPDX-License-Identifier: LGPL-2.1-or-later
/// Reports about the frames that leave: metadata on their buffers, and messages.
#pragma once

#include <gst/base/gstbasetransform.h>
#include <gst/video/video.h>

#include <cstdint>
#include <string>

#include "analytics/analytics.h"
#include "ccl/stream.h"
#include "cudaccl/gstcudacclmeta.h"
#include "metadata/frame_identity.h"
#include "properties/properties.h"
#include "report/statistics.h"
#include "report/time_of_day.h"
#include "report/track_events.h"

namespace cudaccl {

/// A frame that leaves, as Reporter::report() takes it. It points to the caller's data.
struct LeavingFrame {
  const Properties& properties;
  TimeOfDay time;            ///< when it was captured
  const GstVideoInfo& info;  ///< of the input
  const ccl::StreamResult& result;
  const ccl::Objects& objects;  ///< if has_polygons() or has_objects()
  const char* backend;          ///< FrameIdentity::backend
};

/// Takes the frames in the order in which they leave. Only the streaming thread uses it, or a state change
/// while that thread does not run.
class Reporter {
 public:
  /// Both must outlive this.
  Reporter(GstBaseTransform* element, Statistics* statistics)
      : element_(element), track_events_(statistics) {}

  /// A stream begins, and knows nothing about the previous one. The texts are those of FrameIdentity.
  void begin_stream(std::string source, std::string object_type);
  /// Gives memory back.
  void end_stream() { analytics_.clear(); }

  /// Attaches what the frame's properties ask for to its buffer `out`, and posts its messages. Takes
  /// `label_map`, which may be null. kOutOfMemory.
  ccl::Status report(const LeavingFrame& frame, GstBuffer* out, GstBuffer* label_map);

 private:
  ccl::Status attach_analytics(const LeavingFrame& frame, const FrameIdentity& identity, GstBuffer* out);
  void post_messages(const LeavingFrame& frame, const FrameIdentity& identity, const GstCudaCclInfo& info,
                     GstBuffer* out);

  GstBaseTransform* const element_;
  std::string source_;          ///< FrameIdentity::source
  std::string object_type_;     ///< FrameIdentity::object_type
  guint64 n_frames_ = 0;        ///< frames that left, in this stream
  bool is_relearning_ = false;  ///< the last frame that left said that the background is being learned
  TrackEvents track_events_;
  Analytics analytics_;
  bool warned_of_detections_ = false;
};

}  // namespace cudaccl
