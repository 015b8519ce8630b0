// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/algorithm.h"

#include <array>

namespace ccl {

namespace {

constexpr std::array kAlgorithms = {
    AlgorithmInfo{Algorithm::kAuto, "auto", "the fastest labeler of the backend", true, true},
    AlgorithmInfo{Algorithm::kRuns, "runs", "ours: runs of pixels as nodes", true, true},
    AlgorithmInfo{Algorithm::kDlp, "dlp", "Cabaret, Lacassagne, Etiemble 2017", true, true},
    AlgorithmInfo{Algorithm::kUnionFind, "union-find", "Oliveira, Lotufo 2010", false, true},
    AlgorithmInfo{Algorithm::kLabelEquivalence, "label-equivalence", "Kalentev, Rai, Kemnitz, Schneider 2011",
                  false, true},
    AlgorithmInfo{Algorithm::kLabelEquivalence2, "label-equivalence-2", "Hawick, Leist, Playne 2010", false,
                  true},
    AlgorithmInfo{Algorithm::kBlockEquivalence, "block-equivalence", "Allegretti, Bolelli, Grana 2020", false,
                  true},
    AlgorithmInfo{Algorithm::kTileMerge, "tile-merge", "Šťava, Beneš 2011", false, true},
    AlgorithmInfo{Algorithm::kRowColUnify, "row-col-unify", "Kalentev, Rai, Kemnitz, Schneider 2011", false,
                  true},
    AlgorithmInfo{Algorithm::kNeighborPropagation, "neighbor-propagation", "Oliveira, Lotufo 2010", true,
                  true},
    AlgorithmInfo{Algorithm::kHcs2Aremsp, "hcs2-aremsp", "Gupta, Palsetia, Patwary, Agrawal, Choudhary 2014",
                  true, false},
    AlgorithmInfo{Algorithm::kStefanoBulgarelli, "stefano-bulgarelli", "Di Stefano, Bulgarelli 1999", true,
                  false},
    AlgorithmInfo{Algorithm::kSauf, "sauf", "Wu, Otoo, Suzuki 2009", true, false},
};

bool runs_on(const AlgorithmInfo& info, Backend backend) {
  return backend == Backend::kCpu ? info.on_cpu : info.on_cuda;
}

}  // namespace

const char* backend_name(Backend backend) {
  return backend == Backend::kCpu ? "cpu" : "cuda";
}

std::span<const AlgorithmInfo> algorithms() {
  return kAlgorithms;
}

Status resolve_algorithm(Algorithm algorithm, Backend backend, Algorithm* resolved) {
  if (algorithm == Algorithm::kAuto) {
    *resolved = Algorithm::kRuns;
    return {};
  }
  std::string nick = "unknown";
  std::string available;
  for (const AlgorithmInfo& info : kAlgorithms) {
    if (info.algorithm == algorithm && runs_on(info, backend)) {
      *resolved = algorithm;
      return {};
    }
    if (info.algorithm == algorithm) {
      nick = info.nick;
    }
    if (runs_on(info, backend)) {
      available += (available.empty() ? "" : ", ") + std::string(info.nick);
    }
  }
  return {StatusCode::kUnsupported, "algorithm '" + nick + "' does not exist on backend '" +
                                        backend_name(backend) + "', which has: " + available};
}

}  // namespace ccl
