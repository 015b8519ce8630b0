// SPDX-License-Identifier: LGPL-2.1-or-later
/// The frames between the sink pad and the source pad, in the order in which they arrived.
#pragma once

#include <gst/gst.h>

#include <array>
#include <cstdint>
#include <optional>

#include "frame.h"
#include "label_memory.h"
#include "properties.h"

namespace cudaccl {

/// A frame in the engine: its buffers, mapped, and its properties.
struct FrameInFlight {
  Properties properties;
  int64_t time = ccl::kNoTime;  ///< FrameJob::time
  GstBuffer* in = nullptr;      ///< owned
  GstBuffer* out = nullptr;     ///< owned, unless it is `in`
  std::optional<MappedFrame> input;
  std::optional<MappedFrame> output;
  GstBuffer* label_map = nullptr;  ///< owned; null without `label-map`
  std::optional<MappedFrame> label_plane;
  LabelMemory labels;  ///< of the frame, if reads_labels(); kept when the frame has left
};

/// A ring of kMaxPipelineDepth + 1 frames.
class InFlight {
 public:
  InFlight() = default;
  ~InFlight() { clear(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  guint size() const { return size_; }

  /// The place of the next frame; one must be free. add() puts the frame in flight.
  FrameInFlight& next() { return frames_[(oldest_ + size_) % frames_.size()]; }
  void add() { ++size_; }

  /// Removes the oldest frame, as release() does.
  GstBuffer* remove_oldest(GstBuffer** label_map);
  const FrameInFlight& oldest() const { return frames_[oldest_]; }

  /// Removes all frames. The engine must have discarded them before.
  void clear();

  /// Unmaps a frame and releases its input. The caller owns the output that is returned, and *label_map; both
  /// may be null.
  static GstBuffer* release(FrameInFlight* frame, GstBuffer** label_map);
  /// The same, of a frame that does not leave.
  static void discard(FrameInFlight* frame);

 private:
  std::array<FrameInFlight, kMaxPipelineDepth + 1> frames_;
  guint oldest_ = 0;
  guint size_ = 0;
};

}  // namespace cudaccl
