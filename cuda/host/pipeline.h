// SPDX-License-Identifier: LGPL-2.1-or-later
/// From a frame to its records and pixels: what the CPU engine runs when a frame is pushed.
#pragma once

#include <chrono>
#include <memory>

#include "ccl/component.h"
#include "ccl/engine.h"

namespace ccl::host {

class ThreadPool;

/// A pipeline is made for one configuration and takes all its memory then.
class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// Runs all stages of a frame and fills `result`. Its records are written to `records`, which has room
  /// for Config::max_components or one for each pixel, whichever is less.
  virtual void run(const FrameJob& job, CclComponent* records, FrameResult* result) = 0;
};

/// A labeler, then the stages that all labelers share (stages/pipeline.cpp). `pool` must outlive the
/// pipeline.
std::unique_ptr<Pipeline> make_staged_pipeline(const Config& config, Algorithm algorithm, ThreadPool& pool);

/// Runs of pixels as nodes from the first stage to the last (runs/pipeline.cpp). `pool` must outlive the
/// pipeline.
std::unique_ptr<Pipeline> make_runs_pipeline(const Config& config, ThreadPool& pool);

/// Tells how long each stage took.
class StageClock {
 public:
  /// Microseconds since the last call, or since the clock was made.
  float lap() {
    const auto now = std::chrono::steady_clock::now();
    const std::chrono::duration<float, std::micro> elapsed = now - last_;
    last_ = now;
    return elapsed.count();
  }

 private:
  std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace ccl::host
