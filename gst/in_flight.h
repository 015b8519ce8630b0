// SPDX-License-Identifier: LGPL-2.1-or-later
/// The frames between the sink pad and the source pad, in the order they came.
#pragma once

#include <gst/gst.h>

#include <array>
#include <optional>

#include "frame.h"
#include "properties.h"

namespace cudaccl {

/// A frame that the engine works on: its buffers, mapped, and the properties it goes by.
struct FrameInFlight {
  Properties properties;
  GstBuffer* in = nullptr;   ///< with a reference
  GstBuffer* out = nullptr;  ///< with a reference of its own unless it is `in`
  std::optional<MappedFrame> input;
  std::optional<MappedFrame> output;
};

/// A ring of kMaxPipelineDepth + 1 frames.
class InFlight {
 public:
  InFlight() = default;
  ~InFlight() { clear(); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

  guint size() const { return size_; }

  /// A place at the end; there must be one free. The frame is in flight once added.
  FrameInFlight& next() { return frames_[(oldest_ + size_) % frames_.size()]; }
  void add() { ++size_; }

  /// Takes the oldest frame out: unmaps it, lets go of its input, and gives its output to the caller.
  GstBuffer* remove_oldest();
  const FrameInFlight& oldest() const { return frames_[oldest_]; }

  /// Lets go of all frames; the engine must have done so before.
  void clear();

  /// Unmaps a frame and lets go of its buffers, but of the output if it is to be kept.
  static GstBuffer* release(FrameInFlight* frame);

 private:
  std::array<FrameInFlight, kMaxPipelineDepth + 1> frames_;
  guint oldest_ = 0;
  guint size_ = 0;
};

}  // namespace cudaccl
