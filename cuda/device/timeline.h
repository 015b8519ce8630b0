// SPDX-License-Identifier: LGPL-2.1-or-later
/// The events of a frame in flight: which stream waits for which, and how long each stage took.
#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <cstdint>

#include "ccl/engine.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "device/wait_times.h"

namespace ccl::device {

class Timeline final : public StageMarks {
 public:
  /// Points in the order in which they are recorded.
  enum Point : uint32_t {
    kStarted,
    kUploaded,
    kFirstStage,
    kProcessed = kFirstStage + uint32_t{kStageCount},
    kDownloaded,
    kPointCount,
  };

  Status create();

  Status record(Point point, const Stream& stream) const { return events_[point].record(stream); }
  /// What is enqueued on `stream` from now on starts after what is on `before`, whose end is `point`.
  Status follow(const Stream& stream, Point point, const Stream& before) const;
  /// What is enqueued on `stream` from now on starts after what is on the caller's stream of the input or the
  /// output (CUstreams; null: nothing to wait for). Mostly both are one stream, which is followed once: an
  /// event and a wait take the host microseconds.
  Status follow_input(const Stream& stream, void* writer) const { return follow(stream, written_, writer); }
  Status follow_output(const Stream& stream, void* user, void* writer) const {
    return user == writer ? Status() : follow(stream, vacant_, user);
  }

  /// Called while a graph is captured: each launch of the graph will record the stage's event.
  Status mark(Stage stage, cudaStream_t stream) override;
  /// The stages marked since the last call of clear_marks() or set_marks(), a bit for each.
  uint32_t marks() const { return marks_; }
  void clear_marks() { marks_ = 0; }
  /// Takes the marks of the graph that is launched for this frame.
  void set_marks(uint32_t marks) { marks_ = marks; }

  /// After the launch of the graph: its last stage ends with what is on the stream now.
  Status extend_last_stage(const Stream& stream) const;

  /// Waits until the frame is downloaded. `is_alone`: no other frame is in flight.
  Status synchronize(bool is_alone);
  /// Reads the times of a frame that is downloaded. `has_download`: the output was copied.
  Status read(bool has_download, StageTimes* times) const;

 private:
  static Status follow(const Stream& stream, const Event& event, void* foreign);

  std::array<Event, kPointCount> events_;
  Event written_;
  Event vacant_;
  WaitTimes waits_;
  uint32_t marks_ = 0;
};

}  // namespace ccl::device
