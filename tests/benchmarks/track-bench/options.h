// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "common.h"

namespace ccl::bench {

struct Options {
  std::string out;                  ///< folder
  bool is_cuda = false;             ///< else the engine of the CPU
  uint32_t seed = 1;                ///< of the scenes
  std::vector<std::string> scenes;  ///< empty: all
  uint32_t max_tracks = 1024;
  bool draws_strip = false;  ///< what had which colour when: see strip.h
  // A video from outside in place of the scenes.
  std::string video;  ///< I420, frame after frame without headers; empty: none
  Size video_size = {};
  double video_rate = 30;  ///< frames a second
};

/// Ends the program if the arguments are wrong.
Options parse_options(int argc, char** argv);

}  // namespace ccl::bench
