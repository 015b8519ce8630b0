// SPDX-License-Identifier: LGPL-2.1-or-later
#include "score.h"

#include <algorithm>

#include <opencv2/imgproc.hpp>

namespace ccl::bench {

namespace {

double share(uint64_t part, uint64_t rest) {
  return part + rest == 0 ? 0 : static_cast<double>(part) / static_cast<double>(part + rest);
}

uint64_t count(const cv::Mat& mask) {
  return static_cast<uint64_t>(cv::countNonZero(mask));
}

/// A component is false if most of its pixels are background.
bool has_false_component(const Frame& frame, const cv::Mat& mask) {
  cv::Mat labels;
  const int n_labels = cv::connectedComponents(mask, labels, 8, CV_32S);
  std::vector<int> balance(static_cast<size_t>(n_labels), 0);
  for (int y = 0; y < labels.rows; ++y) {
    for (int x = 0; x < labels.cols; ++x) {
      const bool is_background = frame.truth.at<uint8_t>(y, x) == 0 && frame.counted.at<uint8_t>(y, x) != 0;
      balance[static_cast<size_t>(labels.at<int>(y, x))] += is_background ? 1 : -1;
    }
  }
  return std::any_of(balance.begin() + 1, balance.end(), [](int sum) { return sum > 0; });
}

}  // namespace

double Score::precision() const {
  return share(true_positives, false_positives);
}
double Score::recall() const {
  return share(true_positives, false_negatives);
}
double Score::f1() const {
  return share(2 * true_positives, false_positives + false_negatives);
}

void Judge::add(const Frame& frame, const cv::Mat& mask) {
  if (!sequence_.switches.empty()) {
    has_false_component_.push_back(has_false_component(frame, mask));
  }
  if (frame.number < kWarmUp) {
    return;
  }
  const cv::Mat found = mask & frame.counted;
  const cv::Mat truth = frame.truth & frame.counted;
  const uint64_t n_true = count(truth);
  const uint64_t n_found = count(found);
  const uint64_t n_both = count(found & truth);
  score_.true_positives += n_both;
  score_.false_positives += n_found - n_both;
  score_.false_negatives += n_true - n_both;
  score_.true_negatives += count(frame.counted) + n_both - n_found - n_true;
}

std::optional<int> Judge::settled_after() const {
  std::optional<int> longest;
  for (size_t i = 0; i < sequence_.switches.size(); ++i) {
    const int begin = sequence_.switches[i];
    const int end = i + 1 < sequence_.switches.size() ? sequence_.switches[i + 1]
                                                      : static_cast<int>(has_false_component_.size());
    int calm_from = begin;
    int frame = begin;
    for (; frame < end && frame < calm_from + kCalmFrames; ++frame) {
      if (has_false_component_[static_cast<size_t>(frame)]) {
        calm_from = frame + 1;
      }
    }
    const int settled = frame == calm_from + kCalmFrames ? calm_from - begin : end - begin;
    longest = std::max(longest.value_or(0), settled);
  }
  return longest;
}

}  // namespace ccl::bench
