// SPDX-License-Identifier: LGPL-2.1-or-later
#include "progress.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace ccl::bench {

namespace {

// To draw oftener than anyone looks would cost more than some measurements.
constexpr std::chrono::milliseconds kRedraw{100};
constexpr size_t kBarWidth = 24;
constexpr const char* kWipe = "\r\033[K";

}  // namespace

Progress::Progress(size_t total)
    : total_(std::max<size_t>(total, 1)), is_shown_(isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_shown_) {
    std::fputs(kWipe, stderr);
  }
}

void Progress::start(const std::string& what) {
  const size_t done = std::min(done_++, total_);
  const Clock::time_point now = Clock::now();
  if (!is_shown_ || now - drawn_ < kRedraw) {
    return;
  }
  drawn_ = now;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const double left = done > 0 ? seconds / static_cast<double>(done) * static_cast<double>(total_ - done) : 0;
  const size_t filled = kBarWidth * done / total_;
  const std::string bar = std::string(filled, '#') + std::string(kBarWidth - filled, '.');
  std::fprintf(stderr, "%s[%s] %zu/%zu, %.0f s left: %s", kWipe, bar.c_str(), done, total_, left,
               what.c_str());
  std::fflush(stderr);
}

}  // namespace ccl::bench
