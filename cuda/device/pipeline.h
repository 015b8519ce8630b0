// SPDX-License-Identifier: LGPL-2.1-or-later
/// What a slot enqueues for each frame in device memory, which becomes records and pixels.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ccl/component.h"
#include "ccl/config.h"
#include "ccl/counts.h"
#include "ccl/status.h"
#include "device/stages/track/frame_labels.h"

namespace ccl::device {

class Guide;
class Labeler;

/// Device memory of one frame, owned by the caller. Output, records and counts are aligned to 16 bytes.
/// Output and input must not overlap: parts of the output are painted while parts of the input are still
/// read.
struct FrameBuffers {
  const uint8_t* input;   ///< rows of 8-bit pixels
  size_t input_pitch;     ///< bytes from one row's start to the next one's
  uint8_t* output;        ///< dense rows of bytes_per_pixel(Config::output); see painted_output()
  CclComponent* records;  ///< Config::max_components
  FrameCounts* counts;    ///< one; n_iterations is written by iterating labelers only
  /// The frame's bit image (ccl/segment.h), which labelers read in place of the input; the rule is kBitRule.
  /// Null: labelers read the input. Overlays always show the input.
  const uint32_t* bits = nullptr;
  /// With hysteresis, a bit image of the strong pixels: components without one of them are not kept.
  const uint32_t* strong_bits = nullptr;
  /// The output becomes what Config says by another step, after the pipeline (stages/compose.h).
  bool is_composed = false;
  /// The track stage paints, after the pipeline, from Pipeline::labels().
  bool is_tracked = false;
  /// The pipeline leaves labels() in any case.
  bool needs_labels = false;
  /// Tracks that guide the cuts of components; null if the frame is not separated, or has none.
  Guide* guide = nullptr;
  /// Where a pipeline that can choose leaves labels(): n pixels, dense, aligned to 16 bytes. Null: in its own
  /// memory.
  uint32_t* label_map = nullptr;

  bool operator==(const FrameBuffers&) const = default;
};

/// The output before composition.
constexpr Output shown_output(const Config& config, const FrameBuffers& frame) {
  switch (config.output) {
    case Output::kForeground:
      return Output::kColorized;
    case Output::kBackground:
    case Output::kDistance:
    case Output::kDistance8:  // the pipeline writes it, tracks or not
      return Output::kNone;
    case Output::kOverlay:
      return frame.is_composed ? Output::kColorized : Output::kOverlay;
    case Output::kNone:
    case Output::kColorized:
    case Output::kLabels:
    case Output::kMask:
      break;
  }
  return config.output;
}

/// The output that a pipeline paints.
constexpr Output painted_output(const Config& config, const FrameBuffers& frame) {
  return frame.is_tracked ? Output::kNone : shown_output(config, frame);
}

/// Marks on a stream where stages end, so that they can be timed. Pipelines begin with kLabel.
class StageMarks {
 public:
  enum Stage : uint32_t { kSegment, kLabel, kNumber, kMeasure, kTrack, kPaint, kStageCount };

  virtual ~StageMarks() = default;
  virtual Status mark(Stage stage, cudaStream_t stream) = 0;
};

/// Made for one configuration, with all its scratch memory; processes one frame at a time. All calls,
/// construction and destruction included, need the context to be current.
class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// Allocates what frames with these settings and buffers need in addition. What was allocated is kept,
  /// until the foreground changes between binary and values. Must be called before enqueue(), with no frame
  /// in flight.
  virtual Status prepare(const Settings& settings, const FrameBuffers& frame) = 0;

  /// Enqueues all stages of a frame: they write `counts`, min(n_components, max_components) records by
  /// ascending label, and the output's pixels. The host does not wait and nothing is allocated, so that the
  /// work can be captured in a graph. `marks` may be null; a pipeline that fuses the stages marks the first
  /// one when all are done.
  virtual Status enqueue(const Settings& settings, const FrameBuffers& frame, cudaStream_t stream,
                         StageMarks* marks) = 0;

  /// What enqueue() leaves for later stages, of a frame with FrameBuffers::is_tracked or needs_labels.
  virtual FrameLabels labels(const Settings& settings, const FrameBuffers& frame) const = 0;

  /// Likewise after enqueue_overflow(), of a frame with FrameBuffers::needs_labels: with the records that
  /// were chosen.
  virtual FrameLabels labels_of_overflow(const Settings& settings, const FrameBuffers& frame) const = 0;

  /// Enqueues, after enqueue() of the same frame, the writing of `root_map` and `labels` to host memory, if
  /// they are not null; see FrameJob.
  virtual Status enqueue_maps(const Settings& settings, const FrameBuffers& frame, uint32_t* root_map,
                              uint32_t* labels, cudaStream_t stream) = 0;

  /// Whether enqueue() writes no records if counts->n_components > max_components. The host must call
  /// enqueue_overflow() then, once it has read the counts.
  virtual bool defers_overflow() const = 0;

  /// Enqueues the selection and the writing of the records that the table holds, and of their boxes in the
  /// output.
  virtual Status enqueue_overflow(const Settings& settings, const FrameBuffers& frame,
                                  cudaStream_t stream) = 0;
};

/// Our own method (runs/pipeline.cpp).
Status make_runs_pipeline(const Config& config, std::unique_ptr<Pipeline>* pipeline);

/// The pipeline of an algorithm that runs on the GPU (stages/pipeline.cpp).
Status make_pipeline(const Config& config, const AlgorithmInfo& algorithm,
                     std::unique_ptr<Pipeline>* pipeline);

}  // namespace ccl::device
