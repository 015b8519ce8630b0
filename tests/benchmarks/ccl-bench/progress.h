// SPDX-License-Identifier: LGPL-2.1-or-later
/// A progress bar on standard error, only where that is a terminal.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace ccl::bench {

class Progress {
 public:
  explicit Progress(size_t total);
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  /// Wipes the bar.
  ~Progress();

  /// One more of the total is about to start.
  void start(const std::string& what);

 private:
  using Clock = std::chrono::steady_clock;

  size_t total_;
  size_t done_ = 0;
  bool is_shown_;
  Clock::time_point started_ = Clock::now();
  Clock::time_point drawn_{};
};

}  // namespace ccl::bench
