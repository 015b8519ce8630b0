// SPDX-License-Identifier: LGPL-2.1-or-later
#include "ccl/algorithm.h"

#include <array>

namespace ccl {

// Each factory is defined in the file of its labeler or pipeline, and is called only through the table.

namespace host {
HostFactory::MakePipeline make_runs_pipeline;
HostFactory::MakeLabeler make_dlp, make_hcs2_aremsp, make_neighbor_propagation, make_sauf,
    make_stefano_bulgarelli;
}  // namespace host

namespace device {
DeviceFactory::MakePipeline make_runs_pipeline;
DeviceFactory::MakeLabeler make_block_equivalence, make_dlp, make_label_equivalence, make_label_equivalence_2,
    make_neighbor_propagation, make_row_col_unify, make_tile_merge, make_union_find;
}  // namespace device

namespace {

#ifdef CCL_HAVE_DEVICE
constexpr bool kHasDevice = true;
#else
constexpr bool kHasDevice = false;
#endif

/// Names the factory only in builds that have it.
template <auto make>
constexpr DeviceFactory on_device() {
  if constexpr (!kHasDevice) {
    return {};
  } else if constexpr (std::is_same_v<decltype(make), DeviceFactory::MakePipeline*>) {
    return {.make_pipeline = make};
  } else {
    return {.make_labeler = make};
  }
}

constexpr HostFactory on_host(HostFactory::MakeLabeler* make) {
  return {.make_labeler = make};
}

constexpr HostFactory kNotOnHost;
constexpr DeviceFactory kNotOnDevice;

constexpr HostFactory kHostRuns{.make_pipeline = host::make_runs_pipeline};
constexpr DeviceFactory kDeviceRuns = on_device<device::make_runs_pipeline>();

constexpr std::array kAlgorithms = {
    AlgorithmInfo{Algorithm::kAuto, "auto", "the fastest labeler of the backend", kHostRuns, kDeviceRuns},
    AlgorithmInfo{Algorithm::kRuns, "runs", "ours: runs of pixels as nodes", kHostRuns, kDeviceRuns},
    AlgorithmInfo{Algorithm::kDlp, "dlp", "Cabaret, Lacassagne, Etiemble 2017", on_host(host::make_dlp),
                  on_device<device::make_dlp>()},
    AlgorithmInfo{Algorithm::kUnionFind, "union-find", "Oliveira, Lotufo 2010", kNotOnHost,
                  on_device<device::make_union_find>()},
    AlgorithmInfo{Algorithm::kLabelEquivalence, "label-equivalence", "Kalentev, Rai, Kemnitz, Schneider 2011",
                  kNotOnHost, on_device<device::make_label_equivalence>()},
    AlgorithmInfo{Algorithm::kLabelEquivalence2, "label-equivalence-2", "Hawick, Leist, Playne 2010",
                  kNotOnHost, on_device<device::make_label_equivalence_2>()},
    AlgorithmInfo{Algorithm::kBlockEquivalence, "block-equivalence", "Allegretti, Bolelli, Grana 2020",
                  kNotOnHost, on_device<device::make_block_equivalence>()},
    AlgorithmInfo{Algorithm::kTileMerge, "tile-merge", "Šťava, Beneš 2011", kNotOnHost,
                  on_device<device::make_tile_merge>()},
    AlgorithmInfo{Algorithm::kRowColUnify, "row-col-unify", "Kalentev, Rai, Kemnitz, Schneider 2011",
                  kNotOnHost, on_device<device::make_row_col_unify>()},
    AlgorithmInfo{Algorithm::kNeighborPropagation, "neighbor-propagation", "Oliveira, Lotufo 2010",
                  on_host(host::make_neighbor_propagation), on_device<device::make_neighbor_propagation>()},
    AlgorithmInfo{Algorithm::kHcs2Aremsp, "hcs2-aremsp", "Gupta, Palsetia, Patwary, Agrawal, Choudhary 2014",
                  on_host(host::make_hcs2_aremsp), kNotOnDevice},
    AlgorithmInfo{Algorithm::kStefanoBulgarelli, "stefano-bulgarelli", "Di Stefano, Bulgarelli 1999",
                  on_host(host::make_stefano_bulgarelli), kNotOnDevice},
    AlgorithmInfo{Algorithm::kSauf, "sauf", "Wu, Otoo, Suzuki 2009", on_host(host::make_sauf), kNotOnDevice},
};

}  // namespace

const char* backend_name(Backend backend) {
  return backend == Backend::kCpu ? "cpu" : "cuda";
}

bool AlgorithmInfo::runs_on(Backend backend) const {
  return backend == Backend::kCpu ? host.make_labeler != nullptr || host.make_pipeline != nullptr
                                  : device.make_labeler != nullptr || device.make_pipeline != nullptr;
}

std::span<const AlgorithmInfo> algorithms() {
  return kAlgorithms;
}

Status resolve_algorithm(Algorithm algorithm, Backend backend, const AlgorithmInfo** resolved) {
  std::string nick = "unknown";
  std::string available;
  for (const AlgorithmInfo& info : std::span(kAlgorithms).subspan(1)) {
    const bool is_meant = algorithm == Algorithm::kAuto || algorithm == info.algorithm;
    if (is_meant && info.runs_on(backend)) {
      *resolved = &info;
      return {};
    }
    if (is_meant) {
      nick = info.nick;
    }
    if (info.runs_on(backend)) {
      available += (available.empty() ? "" : ", ") + std::string(info.nick);
    }
  }
  return {StatusCode::kUnsupported, "algorithm '" + nick + "' does not exist on backend '" +
                                        backend_name(backend) + "', which has: " + available};
}

}  // namespace ccl
