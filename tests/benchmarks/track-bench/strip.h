// SPDX-License-Identifier: LGPL-2.1-or-later
/// Where things were and which colour they had, over time: a line for each frame.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "follower.h"

namespace ccl::bench {

class Strip {
 public:
  /// Of each column of the frame the colour of the lowest component: of the nearest object, as a camera
  /// usually stands.
  void add(const Follower& follower);

  /// PPM, as wide as the frame, a line for each frame.
  void write(const std::string& file) const;

 private:
  uint32_t width_ = 0;
  uint32_t n_frames_ = 0;
  std::vector<uint8_t> rgba_;
};

}  // namespace ccl::bench
