// SPDX-License-Identifier: LGPL-2.1-or-later
/// The work of the CPU engine for each frame, which becomes records and pixels.
#pragma once

#include <chrono>
#include <memory>

#include "ccl/component.h"
#include "ccl/engine.h"
#include "host/stages/grey.h"
#include "host/stages/segment/bit_image.h"

namespace ccl::host {

class StreamTracks;
class ThreadPool;

/// Where the tables of a frame are written.
struct ResultTables {
  CclComponent* records;  ///< room for Config::max_components or for one per pixel, whichever is less
  CclTrack* tracks;       ///< room for Config::max_tracks
  GreyJob grey;
};

/// A pipeline is made for one configuration and takes all its memory when it is made.
class Pipeline {
 public:
  virtual ~Pipeline() = default;

  /// Runs all stages of a frame from labelling on and fills `result`, which has nothing but what the segment
  /// stage wrote. A frame with bits is labelled from them.
  virtual void run(const FrameJob& job, const FrameBits& bits, const ResultTables& tables,
                   FrameResult* result) = 0;
};

/// The pipeline of an algorithm that runs on the CPU (stages/pipeline.cpp): the algorithm's own (`runs`,
/// which hands frames that it cannot work on to another algorithm's), or its labeler followed by the stages
/// that all labelers share. `pool` and `tracks` must outlive it. `tracks` is null if Config::max_tracks is 0.
std::unique_ptr<Pipeline> make_pipeline(const Config& config, const AlgorithmInfo& algorithm,
                                        ThreadPool& pool, StreamTracks* tracks);

/// Measures the time of each stage.
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
