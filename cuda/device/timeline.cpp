// SPDX-License-Identifier: LGPL-2.1-or-later
#include "device/timeline.h"

#include <bit>
#include <thread>

#include "device/check.h"
#include "device/event.h"

namespace ccl::device {

Status Timeline::create() {
  for (Event& event : events_) {
    CCL_RETURN_IF_ERROR(event.create());
  }
  CCL_RETURN_IF_ERROR(written_.create());
  return vacant_.create();
}

Status Timeline::follow(const Stream& stream, Point point, const Stream& before) const {
  CCL_RETURN_IF_ERROR(record(point, before));
  return &stream == &before
             ? Status()
             : check(cudaStreamWaitEvent(stream.get(), events_[point].get()), "cudaStreamWaitEvent");
}

Status Timeline::follow(const Stream& stream, const Event& event, void* foreign) {
  if (foreign == nullptr) {
    return {};
  }
  CCL_RETURN_IF_ERROR(
      check(cudaEventRecord(event.get(), static_cast<cudaStream_t>(foreign)), "cudaEventRecord"));
  return check(cudaStreamWaitEvent(stream.get(), event.get()), "cudaStreamWaitEvent");
}

Status Timeline::mark(Stage stage, cudaStream_t stream) {
  marks_ |= 1u << stage;
  return check(
      cudaEventRecordWithFlags(events_[kFirstStage + uint32_t{stage}].get(), stream, cudaEventRecordExternal),
      "cudaEventRecordWithFlags");
}

Status Timeline::extend_last_stage(const Stream& stream) const {
  return marks_ != 0 ? events_[kFirstStage + std::bit_width(marks_) - 1].record(stream) : Status();
}

Status Timeline::synchronize(bool is_alone) {
  const Event& downloaded = events_[kDownloaded];
  const auto begin = WaitTimes::Clock::now();
  const auto nap = is_alone ? waits_.nap(begin) : WaitTimes::Clock::duration::zero();
  bool is_late = false;
  if (nap > nap.zero() && !has_ended(downloaded)) {
    std::this_thread::sleep_for(nap);
    is_late = has_ended(downloaded);
    CCL_RETURN_IF_ERROR(device::synchronize(downloaded, WaitTimes::kPolled));
  } else {
    CCL_RETURN_IF_ERROR(downloaded.synchronize());
  }
  waits_.note(begin, WaitTimes::Clock::now(), is_late);
  return {};
}

Status Timeline::read(bool has_download, StageTimes* times) const {
  constexpr std::array kTimes = {&StageTimes::segment, &StageTimes::label, &StageTimes::number,
                                 &StageTimes::measure, &StageTimes::track, &StageTimes::paint};
  static_assert(kTimes.size() == kStageCount);
  CCL_RETURN_IF_ERROR(events_[kUploaded].elapsed_since(events_[kStarted], &times->upload));
  uint32_t last = kUploaded;
  for (uint32_t stage = 0; stage < kStageCount; ++stage) {
    if ((marks_ >> stage & 1) != 0) {
      const uint32_t point = kFirstStage + stage;
      CCL_RETURN_IF_ERROR(events_[point].elapsed_since(events_[last], &(times->*kTimes[stage])));
      last = point;
    }
  }
  // After the last stage a frame may have waited until it was popped.
  return events_[kDownloaded].elapsed_since(events_[has_download ? uint32_t{kProcessed} : last],
                                            &times->download);
}

}  // namespace ccl::device
