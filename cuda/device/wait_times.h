// SPDX-License-Identifier: LGPL-2.1-or-later
/// How long a thread waited for frames. Polling for all of that time would cost a live camera a processor, so
/// the thread sleeps for most of the time that it will wait.
#pragma once

#include <algorithm>
#include <chrono>

namespace ccl::device {

class WaitTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long to poll after a sleep. Then the thread sleeps again, and wakes up to 60 µs late: to poll longer
  /// would cost what the first sleep saved.
  static constexpr std::chrono::microseconds kPolled{100};

  /// How long to sleep in a wait that begins now, before the event is polled. Sleeps often end 60 µs late. So
  /// there is none in a short wait, and none if frames follow each other without a pause: there late means
  /// slow.
  Clock::duration nap(Clock::time_point now) const {
    const bool has_paused = now - end_ >= least_;
    return has_paused && least_ >= 2 * kPolled ? least_ - kPolled : Clock::duration::zero();
  }

  /// A wait is over. A shorter one counts at once, so that the next frame is not late; a longer one bit by
  /// bit. `is_late`: the frame was done when the sleep was over, so nobody knows how much shorter the wait
  /// would have been.
  void note(Clock::time_point begin, Clock::time_point end, bool is_late) {
    const Clock::duration wait = end - begin;
    if (is_late) {
      least_ /= 2;
    } else if (wait < least_) {
      least_ = wait;
    } else {
      least_ += std::min(wait - least_, least_ + kPolled) / 8;
    }
    end_ = end;
  }

 private:
  Clock::duration least_{};
  Clock::time_point end_{};
};

}  // namespace ccl::device
