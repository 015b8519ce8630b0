// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipelines that pipeline-bench times against each other.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>

namespace ccl::bench {

/// What a pipeline is to do.
struct Task {
  uint32_t width = 0;
  uint32_t height = 0;
  bool is_colorized = true;  ///< else records only, the frame goes on as it came
  std::string backend = "cpu";
  uint32_t threads = 1;
};

/// Takes GRAY8 frames, labels and measures their components, and gives RGBA or the frames themselves to a
/// sink that does nothing.
class Contestant {
 public:
  /// Is told the timestamp of every frame that reaches the sink, on the thread that brings it.
  using Arrived = std::function<void(GstClockTime)>;

  virtual ~Contestant() = default;
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  /// Waits while the pipeline has more frames than it needs to go on. Takes the buffer.
  virtual void push(GstBuffer* frame) = 0;

  /// Returns when all frames have reached the sink.
  virtual void drain() = 0;
};

/// appsrc ! cudaccl ! fakesink
std::unique_ptr<Contestant> make_element_pipeline(const Task& task, Contestant::Arrived arrived);

/// What applications do without the element: appsrc ! appsink, then connectedComponentsWithStats() and a
/// look-up of colours, then appsrc ! fakesink. Only where OpenCvPeer::exists().
std::unique_ptr<Contestant> make_opencv_pipeline(const Task& task, Contestant::Arrived arrived);

}  // namespace ccl::bench
