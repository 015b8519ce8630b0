// SPDX-License-Identifier: LGPL-2.1-or-later
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <opencv2/core.hpp>

#include "method.h"

namespace ccl::bench {

struct Options {
  cv::Size size;
  uint32_t seed = 1;
  std::vector<std::string> methods;     ///< empty: default_methods()
  std::vector<std::string> categories;  ///< empty: all
  MethodOptions method_options;
  std::string pictures;  ///< the folder
  std::string csv;       ///< file; empty: none
  std::string dump;      ///< folder; empty: none
  int dump_every = 25;   ///< frames
  bool is_speed = false;
  int rounds = 40;
};

/// Ends the program if the arguments are wrong.
Options parse_options(int argc, char** argv);

}  // namespace ccl::bench
