// SPDX-License-Identifier: LGPL-2.1-or-later
#include "report/time_of_day.h"

#include "frame/frame_settings.h"

namespace cudaccl {

namespace {

/// From 1900, where NTP's time begins, to 1970.
constexpr GstClockTime kNtpToUnix = 2'208'988'800 * GST_SECOND;

/// The time of day by a clock of which caps give the name; GST_CLOCK_TIME_NONE for other clocks. What PTP's
/// clocks count has no leap seconds, and what some other clocks count begins anywhere.
GstClockTime utc_of(const GstReferenceTimestampMeta& meta) {
  const GstStructure* reference = gst_caps_get_structure(meta.reference, 0);
  if (gst_structure_has_name(reference, "timestamp/x-unix")) {
    return meta.timestamp;
  }
  const bool is_ntp = gst_structure_has_name(reference, "timestamp/x-ntp") && meta.timestamp >= kNtpToUnix;
  return is_ntp ? meta.timestamp - kNtpToUnix : GST_CLOCK_TIME_NONE;
}

GstClockTime camera_time(GstBuffer* buffer) {
  gpointer state = nullptr;
  while (GstMeta* meta =
             gst_buffer_iterate_meta_filtered(buffer, &state, GST_REFERENCE_TIMESTAMP_META_API_TYPE)) {
    const GstClockTime utc = utc_of(*reinterpret_cast<GstReferenceTimestampMeta*>(meta));
    if (GST_CLOCK_TIME_IS_VALID(utc)) {
      return utc;
    }
  }
  return GST_CLOCK_TIME_NONE;
}

/// When the pipeline's clock showed this running time, by the system's clock.
GstClockTime system_time(GstElement* element, GstClockTime running_time) {
  GstClock* clock = gst_element_get_clock(element);
  if (clock == nullptr) {
    return GST_CLOCK_TIME_NONE;
  }
  const GstClockTimeDiff now = static_cast<GstClockTimeDiff>(gst_clock_get_time(clock));
  const GstClockTimeDiff utc_now = g_get_real_time() * static_cast<GstClockTimeDiff>(GST_USECOND);
  gst_object_unref(clock);
  const GstClockTimeDiff captured =
      static_cast<GstClockTimeDiff>(gst_element_get_base_time(element) + running_time);
  const GstClockTimeDiff utc = utc_now - (now - captured);
  return utc >= 0 ? static_cast<GstClockTime>(utc) : GST_CLOCK_TIME_NONE;
}

}  // namespace

bool CaptureClock::is_live() {
  if (!is_live_) {
    GstQuery* query = gst_query_new_latency();
    if (gst_pad_peer_query(GST_BASE_TRANSFORM_SINK_PAD(element_), query)) {
      gboolean live = FALSE;
      gst_query_parse_latency(query, &live, nullptr, nullptr);
      is_live_ = live != FALSE;
    }
    gst_query_unref(query);
  }
  return is_live_.value_or(false);
}

TimeOfDay CaptureClock::time_of(GstBuffer* buffer) {
  if (const GstClockTime utc = camera_time(buffer); GST_CLOCK_TIME_IS_VALID(utc)) {
    return {utc, "camera"};
  }
  const int64_t time = running_time(element_->segment, buffer);
  if (time == ccl::kNoTime || !is_live()) {
    return {};
  }
  const GstClockTime utc = system_time(GST_ELEMENT(element_), static_cast<GstClockTime>(time));
  return GST_CLOCK_TIME_IS_VALID(utc) ? TimeOfDay{utc, "system"} : TimeOfDay{};
}

void set_time_of_day(GstStructure* structure, const TimeOfDay& time) {
  if (time.clock != nullptr) {
    gst_structure_set(structure, "utc", G_TYPE_UINT64, time.utc, "utc-clock", G_TYPE_STRING, time.clock,
                      nullptr);
  }
}

}  // namespace cudaccl
