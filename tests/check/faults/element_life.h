// SPDX-License-Identifier: LGPL-2.1-or-later
/// The life of an element: frames in flight, held events, new caps and outputs, a drain, a flush, the end.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sweep.h"

namespace faults {

/// Memory of buffers from the default allocator fails as every other one, and is counted.
void install_failing_allocator();

using PropertyTexts = std::vector<std::pair<std::string, std::string>>;

/// Frames in flight, with all that is attached to them.
PropertyTexts with_all_attached(const char* backend);
/// The input itself leaves, of a background model that takes its memory with the first frame.
PropertyTexts with_passed_on_picture(const char* backend);

/// Plays the life, of which sweep() lets one request after another fail. All is pushed in any case, also
/// behind an error. The second half begins with a flush, and follows if there was no error. After one the
/// element must play the first half again, from the state NULL on, as if nothing had been; else there is a
/// second error.
class ElementLife {
 public:
  /// With these properties from the state NULL on.
  explicit ElementLife(PropertyTexts properties) : properties_(std::move(properties)) {}

  Story live();

 private:
  void make();
  void play_first_half();
  void play_second_half();
  void check_restart();
  void end();
  void set_all();
  void set(const char* property, const char* value);
  void set_state(GstState state);
  void send(GstEvent* event);
  void send_segment();
  void send_caps(const std::string& format, uint32_t width, uint32_t height);
  void send_tag(const char* title);
  void push(const char* format, uint32_t width, uint32_t height);
  void drain();
  void read();
  /// Notes what has left, and the errors.
  void note();

  static GstFlowReturn take_buffer(GstPad* pad, GstObject* self, GstBuffer* buffer);
  static GstBusSyncReply take_message(GstBus* bus, GstMessage* message, gpointer self);

  const PropertyTexts properties_;
  GstElement* element_ = nullptr;
  GstPad* src_ = nullptr;   ///< before the element
  GstPad* sink_ = nullptr;  ///< behind it
  GQueue left_ = G_QUEUE_INIT;
  GQueue errors_ = G_QUEUE_INIT;
  uint32_t n_frames_ = 0;
  Story story_;
  std::vector<uint64_t> first_half_;  ///< what it gives, found in the first life
};

}  // namespace faults
