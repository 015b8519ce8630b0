// SPDX-License-Identifier: LGPL-2.1-or-later
/// What ccl-bench is asked for on its command line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ccl/config.h"
#include "ccl/status.h"
#include "common.h"
#include "measurement.h"

namespace ccl::bench {

/// How a frame is run while it is timed.
enum class Mode {
  kGraph,   ///< kernels captured in a CUDA graph, which is replayed
  kEngine,  ///< push() and pop() of the public engine, transfers included, by the host's clock
  kLabel,   ///< the labelling stage alone in a graph, which is what others time; `runs` has no such stage
};

const char* mode_name(Mode mode);

struct Options {
  Backend backend = Backend::kCpu;
  std::vector<Size> sizes;
  std::vector<AlgorithmInfo> algorithms;
  std::vector<Mode> modes;
  std::vector<Output> outputs;
  std::vector<uint32_t> features;  ///< each a set of Feature bits
  Connectivity connectivity = Connectivity::k8;
  Separation separation;
  std::vector<std::string> images;  ///< names of sets or of single images
  int repetitions = 30;
  float budget_us = 20000;  ///< for the timed repetitions of one row
  bool with_floor = true;
  bool with_peers = true;
  std::string csv;          ///< a file; empty: standard output
  std::string dump_images;  ///< a folder; not empty: write images there, time nothing
  std::string commit;       ///< of the sources; empty: what the build found

  bool has(Mode mode) const { return std::find(modes.begin(), modes.end(), mode) != modes.end(); }
};

/// Fails with a message for the user. `--help` ends the program.
Status parse_options(int argc, char** argv, Options* options);

/// "colorized"
const char* output_name(Output output);
/// "basic" without feature bits, "all" with all.
const char* features_name(uint32_t features);

/// Of `runs`.
Config config_of(const Size& size, Output output);
/// Of a frame with this configuration, 8-connectivity and all features. It has no times yet.
Row row_of(const Config& config, const std::string& backend, const std::string& algorithm,
           const std::string& mode, const std::string& image);

}  // namespace ccl::bench
