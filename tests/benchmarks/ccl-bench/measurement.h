// SPDX-License-Identifier: LGPL-2.1-or-later
/// Repeated times and what they come to.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace ccl::bench {

inline constexpr float kNotTimed = std::numeric_limits<float>::quiet_NaN();

/// Microseconds of every repetition.
using Times = std::vector<float>;

/// kNotTimed without values. Of an even number of values, the upper of the two in the middle.
inline float median(Times values) {
  if (values.empty()) {
    return kNotTimed;
  }
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// How often to time what took `first_us`.
struct Repetitions {
  static constexpr int kFewest = 3;

  int most = 30;
  float budget_us = 20000;

  /// As often as the budget allows, but thrice for a median, unless once is far too long already.
  int of(float first_us) const {
    const float affordable = budget_us / std::max(first_us, 1.0F);
    const float fewest = affordable > 0.3F ? kFewest : 1;
    return std::min(most,
                    static_cast<int>(std::clamp(affordable, fewest, static_cast<float>(most) + fewest)));
  }
};

/// A line of the CSV.
struct Row {
  std::string backend;
  std::string algorithm;
  std::string mode;
  std::string output = "-";
  std::string features = "-";
  uint32_t connectivity = 0;
  std::string image = "-";
  uint32_t width = 0;
  uint32_t height = 0;
  int64_t components = -1;  ///< −1: none were counted
  uint32_t iterations = 0;  ///< 0: nothing iterates
  Times times = {};
};

}  // namespace ccl::bench
