// SPDX-License-Identifier: LGPL-2.1-or-later
/// Compares masks with the truth.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sequence.h"

namespace ccl::bench {

/// Of the pixels whose truth is known, over all frames after the warm-up.
struct Score {
  uint64_t true_positives = 0;
  uint64_t false_positives = 0;
  uint64_t false_negatives = 0;
  uint64_t true_negatives = 0;

  double precision() const;
  double recall() const;
  double f1() const;
};

/// How long a method needs after the light has changed.
inline constexpr int kCalmFrames = 50;  ///< so many frames without a false component end it

class Judge {
 public:
  explicit Judge(const Sequence& sequence) : sequence_(sequence) {}

  void add(const Frame& frame, const cv::Mat& mask);

  const Score& score() const { return score_; }
  /// Frames from a switch of the light until no false component is left for kCalmFrames frames: the most of
  /// all switches. Up to the next switch if there always is one. Nothing if the light does not change at
  /// once.
  std::optional<int> settled_after() const;

 private:
  const Sequence& sequence_;
  Score score_;
  std::vector<bool> has_false_component_;  ///< by frame, where there are switches
};

}  // namespace ccl::bench
