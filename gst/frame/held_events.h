// SPDX-License-Identifier: LGPL-2.1-or-later
/// Events that wait behind frames in flight, so that they leave between the same two buffers.
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cudaccl {

/// Whether an event may wait while frames are in flight: tags and custom events, of which a stream may have
/// one per frame. All other serialized events must not wait: the stream changes with them, or no frame may
/// follow for a while.
bool may_wait(GstEvent* event);

/// A queue of such events. Only the streaming thread uses it.
class HeldEvents {
 public:
  /// The source pad, which must exist when events are sent or discarded.
  explicit HeldEvents(GstPad* pad) : pad_(pad) {}
  ~HeldEvents();
  HeldEvents(const HeldEvents&) = delete;
  HeldEvents& operator=(const HeldEvents&) = delete;

  /// Whether no other event may be added. Without this limit, events that no frame follows would pile up.
  bool is_full() const { return n_events_ == kMostEvents; }
  /// Takes the event, which is due when `n_frames` more frames have left. There must be place for it.
  void add(GstEvent* event, guint n_frames) { events_[n_events_++] = {event, sent_frames_ + n_frames}; }
  /// A frame leaves.
  void count_frame() { ++sent_frames_; }
  /// Sends the events that are due. The frames that were before them must have been pushed.
  void send_due();
  /// Discards all events. As in GStreamer's queues, the pad keeps those that are sticky, and sends them
  /// before the next frame.
  void discard();

 private:
  static constexpr size_t kMostEvents = 64;

  struct Held {
    GstEvent* event = nullptr;  ///< owned
    uint64_t after_frames = 0;  ///< the value of sent_frames_ with which it is due
  };

  std::span<Held> held() { return {events_.data(), n_events_}; }

  GstPad* const pad_;
  std::array<Held, kMostEvents> events_;  ///< no memory is taken for an event, which would be lost without
  size_t n_events_ = 0;
  uint64_t sent_frames_ = 0;  ///< that the caller counted, ever
};

}  // namespace cudaccl
