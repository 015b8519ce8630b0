// SPDX-License-Identifier: LGPL-2.1-or-later
#include "frame/in_flight.h"

#include <utility>

namespace cudaccl {

GstBuffer* InFlight::release(FrameInFlight* frame, GstBuffer** label_map) {
  frame->input.reset();
  frame->output.reset();
  frame->label_plane.reset();
  *label_map = std::exchange(frame->label_map, nullptr);
  GstBuffer* in = std::exchange(frame->in, nullptr);
  GstBuffer* out = std::exchange(frame->out, nullptr);
  if (in != out) {
    gst_clear_buffer(&in);
  }
  return out;
}

void InFlight::discard(FrameInFlight* frame) {
  GstBuffer* label_map = nullptr;
  GstBuffer* out = release(frame, &label_map);
  gst_clear_buffer(&out);
  gst_clear_buffer(&label_map);
}

void InFlight::resize(guint places) {
  if (places != frames_.size()) {
    frames_ = std::vector<FrameInFlight>(places);
    oldest_ = 0;
  }
}

GstBuffer* InFlight::remove_oldest(GstBuffer** label_map) {
  GstBuffer* out = release(&frames_[oldest_], label_map);
  oldest_ = (oldest_ + 1) % frames_.size();
  --size_;
  return out;
}

void InFlight::clear() {
  while (size_ > 0) {
    --size_;
    discard(&next());
  }
}

}  // namespace cudaccl
