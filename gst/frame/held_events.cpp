// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/held_events.h"

#include <gst/video/video.h>

#include <algorithm>

#include "element/events.h"

namespace cudaccl {

bool may_wait(GstEvent* event) {
  switch (GST_EVENT_TYPE(event)) {
    case GST_EVENT_TAG:
    case GST_EVENT_CUSTOM_DOWNSTREAM_STICKY:
    case GST_EVENT_CUSTOM_BOTH:
      return true;
    case GST_EVENT_CUSTOM_DOWNSTREAM:
      return !gst_video_event_parse_still_frame(event, nullptr);  // no frame follows it soon
    default:
      return false;
  }
}

HeldEvents::~HeldEvents() {
  for (const Held& held : held()) {
    gst_event_unref(held.event);
  }
}

void HeldEvents::send_due() {
  const auto is_waiting = [this](const Held& held) { return held.after_frames > sent_frames_; };
  const std::span<Held> all = held();
  const auto end = std::find_if(all.begin(), all.end(), is_waiting);
  std::for_each(all.begin(), end, [this](const Held& held) { gst_pad_push_event(pad_, held.event); });
  std::copy(end, all.end(), all.begin());
  n_events_ -= static_cast<size_t>(end - all.begin());
}

void HeldEvents::discard() {
  for (const Held& held : held()) {
    if (is_sticky(held.event)) {
      gst_pad_store_sticky_event(pad_, held.event);
    }
    gst_event_unref(held.event);
  }
  n_events_ = 0;
}

}  // namespace cudaccl
