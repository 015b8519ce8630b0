// SPDX-License-Identifier: LGPL-2.1-or-later
#include "in_flight.h"

#include <utility>

namespace cudaccl {

GstBuffer* InFlight::release(FrameInFlight* frame) {
  frame->input.reset();
  frame->output.reset();
  GstBuffer* in = std::exchange(frame->in, nullptr);
  GstBuffer* out = std::exchange(frame->out, nullptr);
  if (in != out) {
    gst_clear_buffer(&in);
  }
  return out;
}

GstBuffer* InFlight::remove_oldest() {
  GstBuffer* out = release(&frames_[oldest_]);
  oldest_ = (oldest_ + 1) % frames_.size();
  --size_;
  return out;
}

void InFlight::clear() {
  while (size_ > 0) {
    GstBuffer* out = remove_oldest();
    gst_clear_buffer(&out);
  }
}

}  // namespace cudaccl
