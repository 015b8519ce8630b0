// SPDX-License-Identifier: LGPL-2.1-or-later
/// When a frame was captured, as the time of day.
#pragma once

#include <gst/base/gstbasetransform.h>

#include <optional>

namespace cudaccl {

/// A time of day, and the clock that says it.
struct TimeOfDay {
  GstClockTime utc = GST_CLOCK_TIME_NONE;  ///< nanoseconds since 1970 in UTC; GST_CLOCK_TIME_NONE: not known
  const gchar* clock = nullptr;            ///< `camera` or `system`; null: not known
};

/// The time of day of a stream's frames. A camera's own clock is preferred: a GstReferenceTimestampMeta of
/// it, as rtspsrc attaches from RTCP or RTP with `add-reference-timestamp-meta=true`. Without one, frames of
/// a live source have the time at which they were captured by this system's clock. Frames of files have none.
class CaptureClock {
 public:
  /// `element` must outlive this.
  explicit CaptureClock(GstBaseTransform* element) : element_(element) {}

  /// Frames of another source may follow.
  void start() { is_live_.reset(); }
  TimeOfDay time_of(GstBuffer* buffer);

 private:
  bool is_live();

  GstBaseTransform* const element_;
  std::optional<bool> is_live_;  ///< no value: upstream has not answered yet
};

/// Sets the fields `utc` and `utc-clock`, if the time is known.
void set_time_of_day(GstStructure* structure, const TimeOfDay& time);

}  // namespace cudaccl
