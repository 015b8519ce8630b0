// SPDX-License-Identifier: LGPL-2.1-or-later
/// How long a thread waited for frames. It sleeps for most of the time that it will wait for the next one,
/// which a live camera would otherwise pay with its processor.
#pragma once

#include <chrono>

namespace ccl::device {

class WaitTimes {
 public:
  using Clock = std::chrono::steady_clock;

  /// How long to sleep in a wait that begins now, before the event is polled. A sleep ends up to 60 µs late,
  /// so there is none in a short wait, and none if frames follow each other without a pause: there late means
  /// slow.
  Clock::duration nap(Clock::time_point now) const {
    const bool has_paused = now - end_ >= least_;
    return has_paused && least_ >= 2 * kPolled ? least_ - kPolled : Clock::duration::zero();
  }

  /// A wait is over. A shorter one counts at once, so that the next frame is not late; a longer one bit by
  /// bit.
  void note(Clock::time_point begin, Clock::time_point end) {
    const Clock::duration wait = end - begin;
    least_ = wait < least_ ? wait : least_ + (wait - least_) / 8;
    end_ = end;
  }

 private:
  static constexpr std::chrono::microseconds kPolled{100};  ///< at the end of a wait

  Clock::duration least_{};
  Clock::time_point end_{};
};

}  // namespace ccl::device
