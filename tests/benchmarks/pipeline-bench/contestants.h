// SPDX-License-Identifier: LGPL-2.1-or-later
/// The pipelines that pipeline-bench times against each other.
#pragma once

#include <gst/gst.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace ccl::bench {

/// What a pipeline is to do.
struct Task {
  uint32_t width = 0;
  uint32_t height = 0;
  bool is_colorized = true;  ///< else records only, the frame goes on as it came
  std::string backend = "cpu";
  uint32_t threads = 1;
  uint32_t depth = 0;           ///< of the element's pipeline
  std::string from = "system";  ///< where frames are: system, pinned (page-locked) or cuda
  std::string to = "system";    ///< where pixels go: system or cuda
};

/// The format of the task's frames: GRAY8, or NV12 in CUDA memory, which has no GRAY8.
const char* source_format(const Task& task);

/// All pipelines work in this CUDA context from now on.
void share_cuda_context(GstContext* context);

/// Takes frames, labels and measures their components, and gives RGBA or the frames themselves to a
/// sink that does nothing.
class Contestant {
 public:
  /// Gets the timestamp of every frame that leaves the source, and of every frame that reaches the sink, on
  /// the streaming thread.
  struct Watch {
    std::function<void(GstClockTime)> left;
    std::function<void(GstClockTime)> arrived;
  };

  virtual ~Contestant() = default;
  Contestant() = default;
  Contestant(const Contestant&) = delete;
  Contestant& operator=(const Contestant&) = delete;

  /// Waits while the pipeline has more frames than it needs to go on. Takes the buffer.
  virtual void push(GstBuffer* frame) = 0;

  /// Returns when all frames have reached the sink.
  virtual void drain() = 0;
};

/// Buffers in CUDA memory with what these in system memory have: appsrc ! cudaupload ! appsink. Shares the
/// context of that memory.
std::vector<GstBuffer*> upload(const std::vector<GstBuffer*>& frames, const Task& task);

/// Frames a second through a launch line that ends by itself, the end included; at an element named "sink"
/// they are counted.
double time_line(const std::string& text);

/// appsrc ! cudaccl ! fakesink
std::unique_ptr<Contestant> make_element_pipeline(const Task& task, Contestant::Watch watch);

/// What applications do without the element: appsrc ! appsink, then connectedComponentsWithStats() and a
/// look-up of colours, then appsrc ! fakesink. Only where OpenCvPeer::exists().
std::unique_ptr<Contestant> make_opencv_pipeline(const Task& task, Contestant::Watch watch);

}  // namespace ccl::bench
