// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/frame_duration.h"

#include <utility>

namespace cudaccl {

GstClockTime FrameDuration::get() const {
  const std::lock_guard guard(lock_);
  return duration_;
}

void FrameDuration::set(GstClockTime duration) {
  const std::lock_guard guard(lock_);
  duration_ = duration;
}

void FrameDuration::reset() {
  last_time_ = GST_CLOCK_TIME_NONE;
  set(0);
}

void FrameDuration::take_caps(const GstVideoInfo& before, const GstVideoInfo& info) {
  const gint fps_n = GST_VIDEO_INFO_FPS_N(&info);
  if (fps_n > 0) {
    set(gst_util_uint64_scale_int_ceil(GST_SECOND, GST_VIDEO_INFO_FPS_D(&info), fps_n));
  } else if (!gst_video_info_is_equal(&before, &info)) {
    last_time_ = GST_CLOCK_TIME_NONE;
    set(0);
  }
}

void FrameDuration::take_frame(GstBuffer* frame) {
  const GstClockTime time = GST_BUFFER_PTS(frame);
  const GstClockTime before = std::exchange(last_time_, time);
  if (GST_BUFFER_DURATION_IS_VALID(frame) && GST_BUFFER_DURATION(frame) > 0) {
    set(GST_BUFFER_DURATION(frame));
  } else if (GST_CLOCK_TIME_IS_VALID(time) && GST_CLOCK_TIME_IS_VALID(before) && time > before &&
             !GST_BUFFER_IS_DISCONT(frame)) {
    set(time - before);
  }
}

}  // namespace cudaccl
