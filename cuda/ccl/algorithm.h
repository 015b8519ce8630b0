// SPDX-License-Identifier: LGPL-2.1-or-later
/// The labelers by name: which exist, where they run, and where they come from.
#pragma once

#include <span>
#include <string>

#include "ccl/status.h"

namespace ccl {

enum class Backend {
  kCpu,
  kCuda,
};

/// "cpu" or "cuda".
const char* backend_name(Backend backend);

/// The values are part of the element's ABI: never renumber, only append.
enum class Algorithm {
  kAuto = 0,
  kDlp = 1,
  kUnionFind = 2,
  kStefanoBulgarelli = 3,
  kSauf = 4,
  kRuns = 5,
  kBlockEquivalence = 6,
  kLabelEquivalence = 7,
  kRowColUnify = 8,
  kLabelEquivalence2 = 9,
  kNeighborPropagation = 10,
  kTileMerge = 11,
  kHcs2Aremsp = 12,
};

struct AlgorithmInfo {
  Algorithm algorithm;
  const char* nick;    ///< as in `algorithm=` on a launch line
  const char* source;  ///< the paper it follows
  bool on_cpu;
  bool on_cuda;
};

/// Every algorithm of this build, kAuto first.
std::span<const AlgorithmInfo> algorithms();

/// The labeler that `algorithm` means on `backend`: kAuto becomes the backend's default. kUnsupported,
/// with a message that names the labelers the backend has, when it has not this one.
Status resolve_algorithm(Algorithm algorithm, Backend backend, Algorithm* resolved);

}  // namespace ccl
