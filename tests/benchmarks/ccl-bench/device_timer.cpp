// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_timer.h"

namespace ccl::bench {

Status DeviceTimer::make_points(size_t n) {
  while (points_.size() < n) {
    Point& point = points_.emplace_back();
    CCL_RETURN_IF_ERROR(point.start.create());
    CCL_RETURN_IF_ERROR(point.end.create());
  }
  return {};
}

Status DeviceTimer::run_once(const Point& point, const std::function<Status()>& enqueue) {
  CCL_RETURN_IF_ERROR(point.start.record(stream_));
  CCL_RETURN_IF_ERROR(enqueue());
  return point.end.record(stream_);
}

Status DeviceTimer::run(const Repetitions& repetitions, const std::function<Status()>& enqueue,
                        Times* times) {
  constexpr int kWarmUps = 4;
  // The first frame loads code and fills caches; its time decides how many more there are,
  // and it is warm-up enough for a slow labeler.
  CCL_RETURN_IF_ERROR(make_points(1));
  const Point& first = points_.front();
  CCL_RETURN_IF_ERROR(run_once(first, enqueue));
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  float first_us = 0;
  CCL_RETURN_IF_ERROR(first.end.elapsed_since(first.start, &first_us));
  const int n = repetitions.of(first_us);
  CCL_RETURN_IF_ERROR(make_points(static_cast<size_t>(n)));
  for (int i = 0; i < (n > Repetitions::kFewest ? kWarmUps : 0); ++i) {
    CCL_RETURN_IF_ERROR(enqueue());
  }
  for (int i = 0; i < n; ++i) {
    CCL_RETURN_IF_ERROR(run_once(points_[static_cast<size_t>(i)], enqueue));
  }
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  for (int i = 0; i < n; ++i) {
    const Point& point = points_[static_cast<size_t>(i)];
    float us = 0;
    CCL_RETURN_IF_ERROR(point.end.elapsed_since(point.start, &us));
    times->push_back(us);
  }
  return {};
}

}  // namespace ccl::bench
