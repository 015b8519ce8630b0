// SPDX-License-Identifier: LGPL-2.1-or-later
/// The frames between the sink pad and the source pad, in the order in which they arrived.
#pragma once

#include <gst/gst.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "frame/frame.h"
#include "properties/properties.h"
#include "report/time_of_day.h"

namespace cudaccl {

/// A frame in the engine: its buffers, mapped, and its properties.
struct FrameInFlight {
  Properties properties;
  TimeOfDay time;            ///< when it was captured: a pause moves the clock by which that is found
  GstBuffer* in = nullptr;   ///< owned
  GstBuffer* out = nullptr;  ///< owned, unless it is `in`
  std::optional<MappedFrame> input;
  std::optional<MappedFrame> output;
  GstBuffer* label_map = nullptr;  ///< owned; null without `label-map`
  std::optional<MappedFrame> label_plane;
};

/// A ring of frames.
class InFlight {
 public:
  InFlight() = default;
  ~InFlight() { clear(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  guint size() const { return size_; }

  /// Makes a ring of `places` frames. If it has another number of them, none may be in flight.
  void resize(guint places);

  /// The place of the next frame; one must be free. add() puts the frame in flight.
  FrameInFlight& next() { return frames_[(oldest_ + size_) % frames_.size()]; }
  void add() { ++size_; }

  const FrameInFlight& oldest() const { return frames_[oldest_]; }
  /// Removes the oldest frame. The caller owns its output and *label_map, which may be null.
  GstBuffer* remove_oldest(GstBuffer** label_map);

  /// Removes all frames. The engine must have discarded them before.
  void clear();

  /// Unmaps a frame that does not leave, and releases its buffers.
  static void discard(FrameInFlight* frame);

 private:
  /// Unmaps a frame and releases its input. The caller owns the output that is returned, and *label_map; both
  /// may be null.
  static GstBuffer* release(FrameInFlight* frame, GstBuffer** label_map);

  std::vector<FrameInFlight> frames_;
  guint oldest_ = 0;
  guint size_ = 0;
};

}  // namespace cudaccl
