// SPDX-License-Identifier: LGPL-2.1-or-later
/// The library's engine with the track stage, frame by frame.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "ccl/engine.h"
#include "options.h"

namespace ccl::bench {

class Follower {
 public:
  /// Ends the program if there is no such engine.
  Follower(const Options& options, Size size);

  /// What holds for every frame: rule, filter, morphology.
  FrameJob& job() { return job_; }

  /// Follows the frame that job().input has, taken at `time` seconds.
  const FrameResult& follow(double time);

  /// The record's index at each pixel, or kNone.
  static constexpr uint32_t kNone = 0xffffffff;
  const std::vector<uint32_t>& record_map() const { return map_; }

  /// RGBA, a colour for each identity.
  const std::vector<uint8_t>& pixels() const { return pixels_; }
  Size size() const { return size_; }

 private:
  Size size_;
  std::unique_ptr<Engine> engine_;
  FrameJob job_;
  FrameResult result_;
  std::vector<uint32_t> map_;
  std::vector<uint32_t> record_of_label_;
  std::vector<uint8_t> pixels_;
};

}  // namespace ccl::bench
