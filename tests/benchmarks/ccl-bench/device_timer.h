// SPDX-License-Identifier: LGPL-2.1-or-later
/// Device time by events on a stream.
#pragma once

#include <array>
#include <functional>
#include <vector>

#include "ccl/status.h"
#include "device/memory.h"
#include "device/pipeline.h"
#include "measurement.h"

namespace ccl::bench {

/// Records an event on the stream after each stage.
class StageEvents final : public device::StageMarks {
 public:
  explicit StageEvents(const device::Stream& stream) : stream_(&stream) {}

  /// On the stream of this object, which is the one that it is called with.
  Status mark(Stage stage, cudaStream_t stream) override;

  /// Forgets marks, keeps events.
  void clear();
  /// Adds each marked stage's time, the first one's since `start`.
  Status add_times(const device::Event& start, Times* times) const;

 private:
  const device::Stream* stream_;
  std::array<device::Event, kStageCount> events_;
  std::array<bool, kStageCount> is_made_{};
  std::array<bool, kStageCount> is_marked_{};
};

/// Times `enqueue` on a stream that nothing else uses. All repetitions are enqueued before any is waited
/// for, so that the device does not wait for the host.
class DeviceTimer {
 public:
  explicit DeviceTimer(const device::Stream& stream) : stream_(stream) {}

  /// `enqueue` gets the events to record between its stages, or null in a warm-up.
  Status run(const Repetitions& repetitions, const std::function<Status(StageEvents*)>& enqueue,
             Times* times);

 private:
  struct Point {
    device::Event start;
    StageEvents stages;
    device::Event end;
  };

  /// Makes events for `n` repetitions; those made before are kept.
  Status make_points(size_t n);
  Status run_once(Point* point, const std::function<Status(StageEvents*)>& enqueue);

  const device::Stream& stream_;
  std::vector<Point> points_;
};

}  // namespace ccl::bench
