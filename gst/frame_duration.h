// SPDX-License-Identifier: LGPL-2.1-or-later
/// How long frames last, from which the element's latency follows.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <mutex>

namespace cudaccl {

/// What caps tell or, where they tell no frame rate, as those of many network cameras do not, what the first
/// frames do. Any thread may ask; the rest is the streaming thread's, or a state change's.
class FrameDuration {
 public:
  /// 0: not known.
  GstClockTime get() const;

  void reset();
  /// What frames told stays true of caps like those `before`.
  void take_caps(const GstVideoInfo& before, const GstVideoInfo& info);
  /// To be called while it is not known.
  void take_frame(GstBuffer* frame);

 private:
  void set(GstClockTime duration);

  GstClockTime last_time_ = GST_CLOCK_TIME_NONE;  ///< of the frame before
  mutable std::mutex lock_;                       ///< for the one below
  GstClockTime duration_ = 0;
};

}  // namespace cudaccl
