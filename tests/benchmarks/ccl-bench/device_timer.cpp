// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device_timer.h"

#include "device/check.h"

namespace ccl::bench {

using device::check;
using device::Event;

Status StageEvents::mark(Stage stage, cudaStream_t) {
  if (!is_made_[stage]) {
    CCL_RETURN_IF_ERROR(events_[stage].create());
    is_made_[stage] = true;
  }
  is_marked_[stage] = true;
  return events_[stage].record(*stream_);
}

void StageEvents::clear() {
  is_marked_ = {};
}

Status StageEvents::add_times(const Event& start, Times* times) const {
  const Event* previous = &start;
  for (uint32_t stage = kLabel; stage < kStageCount; ++stage) {
    if (is_marked_[stage]) {
      float us = 0;
      CCL_RETURN_IF_ERROR(events_[stage].elapsed_since(*previous, &us));
      // Pipelines leave out kTrack.
      times->stages[stage == kPaint ? uint32_t{bench::kPaint} : stage - kLabel].push_back(us);
      previous = &events_[stage];
    }
  }
  return {};
}

Status DeviceTimer::make_points(size_t n) {
  while (points_.size() < n) {
    Point& point = points_.emplace_back(Point{.start = {}, .stages = StageEvents(stream_), .end = {}});
    CCL_RETURN_IF_ERROR(point.start.create());
    CCL_RETURN_IF_ERROR(point.end.create());
  }
  return {};
}

Status DeviceTimer::run_once(Point* point, const std::function<Status(StageEvents*)>& enqueue) {
  point->stages.clear();
  CCL_RETURN_IF_ERROR(point->start.record(stream_));
  CCL_RETURN_IF_ERROR(enqueue(&point->stages));
  return point->end.record(stream_);
}

Status DeviceTimer::run(const Repetitions& repetitions, const std::function<Status(StageEvents*)>& enqueue,
                        Times* times) {
  constexpr int kWarmUps = 4;
  // The first frame loads code and fills caches; its time decides how many more there are,
  // and it is warm-up enough for a slow labeler.
  CCL_RETURN_IF_ERROR(make_points(1));
  const Point& first = points_.front();
  CCL_RETURN_IF_ERROR(run_once(&points_.front(), enqueue));
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  float first_us = 0;
  CCL_RETURN_IF_ERROR(first.end.elapsed_since(first.start, &first_us));
  const int n = repetitions.of(first_us);
  CCL_RETURN_IF_ERROR(make_points(static_cast<size_t>(n)));
  for (int i = 0; i < (n > Repetitions::kFewest ? kWarmUps : 0); ++i) {
    CCL_RETURN_IF_ERROR(enqueue(nullptr));
  }
  for (int i = 0; i < n; ++i) {
    CCL_RETURN_IF_ERROR(run_once(&points_[static_cast<size_t>(i)], enqueue));
  }
  CCL_RETURN_IF_ERROR(stream_.synchronize());
  for (int i = 0; i < n; ++i) {
    const Point& point = points_[static_cast<size_t>(i)];
    float us = 0;
    CCL_RETURN_IF_ERROR(point.end.elapsed_since(point.start, &us));
    times->total.push_back(us);
    CCL_RETURN_IF_ERROR(point.stages.add_times(point.start, times));
  }
  return {};
}

}  // namespace ccl::bench
