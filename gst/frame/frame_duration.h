// SPDX-License-Identifier: LGPL-2.1-or-later
/// The duration of a frame, which decides the element's latency.
#pragma once

#include <gst/gst.h>
#include <gst/video/video.h>

#include <mutex>

namespace cudaccl {

/// The duration by the caps. Many network cameras have caps without a frame rate; then the first frames
/// decide. Any thread may call get(), only the streaming thread or a state change the rest.
class FrameDuration {
 public:
  /// 0: unknown.
  GstClockTime get() const;

  void reset();
  /// Caps equal to those `before` keep the duration that frames have given.
  void take_caps(const GstVideoInfo& before, const GstVideoInfo& info);
  /// Takes each frame while the duration is unknown.
  void take_frame(GstBuffer* frame);

 private:
  void set(GstClockTime duration);

  GstClockTime last_time_ = GST_CLOCK_TIME_NONE;  ///< of the last frame
  mutable std::mutex lock_;                       ///< for the one below
  GstClockTime duration_ = 0;
};

}  // namespace cudaccl
