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
  FrameDuration() { gst_video_info_init(&info_); }

  /// 0: not known.
  GstClockTime get() const;

  void reset();
  void take_caps(const GstVideoInfo& info);
  void take_frame(GstBuffer* frame);

 private:
  void set(GstClockTime duration);

  GstVideoInfo info_;
  GstClockTime last_time_ = GST_CLOCK_TIME_NONE;  ///< of the frame before
  mutable std::mutex lock_;                       ///< for the one below
  GstClockTime duration_ = 0;
};

}  // namespace cudaccl
