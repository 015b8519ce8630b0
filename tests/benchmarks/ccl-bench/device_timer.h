// SPDX-License-Identifier: LGPL-2.1-or-later
/// Device time by events on a stream.
#pragma once

#include <functional>
#include <vector>

#include "ccl/status.h"
#include "device/memory.h"
#include "measurement.h"

namespace ccl::bench {

/// Times `enqueue` on a stream that nothing else uses. All repetitions are enqueued before any is waited
/// for, so that the device does not wait for the host.
class DeviceTimer {
 public:
  explicit DeviceTimer(const device::Stream& stream) : stream_(stream) {}

  Status run(const Repetitions& repetitions, const std::function<Status()>& enqueue, Times* times);

 private:
  struct Point {
    device::Event start;
    device::Event end;
  };

  /// Makes events for `n` repetitions; those made before are kept.
  Status make_points(size_t n);
  Status run_once(const Point& point, const std::function<Status()>& enqueue);

  const device::Stream& stream_;
  std::vector<Point> points_;
};

}  // namespace ccl::bench
